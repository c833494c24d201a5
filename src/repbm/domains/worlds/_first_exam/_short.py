"""Short decisions: one step only, and actions that are rare where they matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._first_exam._parts import (
    View,
    decaying,
    fixed,
    floored,
    habit,
    magnitude,
    nobody,
    pushes,
    reaching,
    scores_of,
    sigmoid,
    softmax,
    wish,
)
from repbm.domains.worlds._world import World


def one_step(generator: np.random.Generator) -> World:
    """One decision per episode; its outcome, yes or no or a number, is no linear function of what is seen."""
    columns, actions = int(generator.integers(2, 9)), int(generator.integers(2, 6))
    slopes = generator.normal(size=(actions, columns)) / np.sqrt(columns)
    waves, phases = generator.normal(0.0, 1.2, (actions, columns)) / np.sqrt(columns), generator.uniform(0, 6, actions)
    products, limits = generator.normal(0.0, 0.5, actions), generator.normal(0.0, 0.5, actions)
    jumps, constants = generator.normal(0.0, 0.6, actions), generator.normal(0.0, 0.4, actions)
    shared = generator.normal(0.0, 0.8, columns) / np.sqrt(columns)
    binary, flags = generator.random() < 0.5, generator.random(columns) < 0.25
    base = generator.uniform(-2.0, 0.5) if binary else generator.normal(0.0, 2.0)
    unit, noise = (1.0, 0.0) if binary else (magnitude(generator, 0.1, 300.0), generator.uniform(0.3, 1.5))

    def merit(x: np.ndarray, action: np.ndarray) -> np.ndarray:
        wave = np.sin((x * waves[action]).sum(axis=1) + phases[action])
        product = products[action] * x[:, 0] * x[:, 1] / (1.0 + 0.3 * np.abs(x[:, 0] * x[:, 1]))
        jump = jumps[action] * (x[:, 0] > limits[action])
        return base + x @ shared + 0.4 * (x * slopes[action]).sum(axis=1) + wave + product + jump + constants[action]

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        x = generator.normal(size=(count, columns))
        return np.where(flags, (x > 0.4).astype(np.float64), x)

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        value = merit(states, action)
        if binary:
            reward = (generator.random(len(value)) < sigmoid(value)).astype(np.float64)
        else:
            reward = unit * (value + noise * generator.normal(size=len(value)))
        return states, reward, np.ones(len(states), dtype=bool)

    view = View.drawn(generator, columns)
    strength, floor = generator.uniform(0.5, 1.5), generator.uniform(0.1, 0.3)
    usual = habit(generator, columns, actions, strength, floor, curved=generator.random() < 0.5)
    world = World(
        horizon=1,
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
    )
    scores = scores_of(merit, actions)
    if generator.random() < 0.4:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator, low=0.1)


def rare(generator: np.random.Generator) -> World:
    """A rescue that helps where need is great, and that the behavior tries there in few cases out of a hundred."""
    columns, actions = int(generator.integers(2, 6)), int(generator.integers(2, 5))
    matrix = decaying(generator, columns, 0.5, 0.85)
    push = pushes(generator, columns, actions, 0.4)
    need, limit, steep = int(generator.integers(columns)), generator.uniform(0.0, 0.6), generator.uniform(2.0, 6.0)
    rescue, gain, relief = int(generator.integers(actions)), generator.uniform(1.5, 4.0), generator.uniform(0.3, 1.0)
    harm, noise = generator.uniform(0.1, 0.5), generator.uniform(0.3, 0.8)
    unit, base = magnitude(generator, 0.2, 60.0), generator.uniform(-1.0, 3.0)
    tried, wanted = generator.uniform(0.02, 0.1), generator.uniform(0.3, 0.9)
    weights = 0.5 * generator.normal(size=columns)

    def urgent(x: np.ndarray) -> np.ndarray:
        return sigmoid(steep * (x[:, need] - limit))

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(size=(count, columns))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        urgency, rescued = urgent(states), action == rescue
        following = states @ matrix.T + push[action] + 0.5 * generator.normal(size=states.shape)
        following[:, need] -= relief * rescued * urgency
        effect = np.where(rescued, gain * urgency - harm, 0.0)
        reward = base + states @ weights - urgency + effect + noise * generator.normal(size=len(states))
        return following, unit * reward, np.zeros(len(states), dtype=bool)

    view = View.drawn(generator, columns)
    lean = 0.6 * generator.normal(size=(columns, actions)) / np.sqrt(columns)

    def with_rescue(x: np.ndarray, share: np.ndarray) -> np.ndarray:
        scores = np.tanh(x) @ lean
        scores[:, rescue] = -np.inf
        others = softmax(scores)
        chances = 0.9 * others + 0.1 * (np.isfinite(scores) / (actions - 1))
        chances *= (1.0 - share)[:, None]
        chances[:, rescue] = share
        return chances

    world = World(
        horizon=int(generator.integers(1, 5)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(lambda x: with_rescue(x, np.full(len(x), tried))),
        policy=nobody,
        observe=view.observe,
    )
    policy = view.policy(lambda x: floored(with_rescue(x, tried + (wanted - tried) * urgent(x)), 0.02))
    return replace(world, policy=policy)
