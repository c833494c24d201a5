"""Systems that are steered: a linear one, and several that are not."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._first_exam._parts import (
    View,
    decaying,
    fixed,
    habit,
    magnitude,
    nobody,
    pushes,
    reaching,
    scores_of,
    swayed,
    wish,
)
from repbm.domains.worlds._world import World


def linear(generator: np.random.Generator) -> World:
    """A linear system with noise, paid linearly or quadratically for where it comes to, less the costs of actions."""
    columns, actions = int(generator.integers(1, 7)), int(generator.integers(2, 5))
    matrix = decaying(generator, columns, 0.5, 0.9)
    push = pushes(generator, columns, actions, generator.uniform(0.5, 1.0))
    noise = generator.uniform(0.2, 0.6, columns)
    weights = generator.normal(size=columns)
    quadratic = generator.random() < 0.5
    costs = generator.uniform(0.0, 0.3, actions)
    unit, center = magnitude(generator, 0.1, 50.0), generator.normal(0.0, 1.0)

    def pay(following: np.ndarray, action: np.ndarray) -> np.ndarray:
        worth = -(following**2) @ np.abs(weights) if quadratic else following @ weights
        return unit * (center + worth - costs[action])

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(0.5, 1.0, (count, columns))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        following = states @ matrix.T + push[action] + noise * generator.normal(size=states.shape)
        return following, pay(following, action), np.zeros(len(states), dtype=bool)

    view = View.drawn(generator, columns)
    usual = habit(generator, columns, actions, generator.uniform(0.3, 1.0), generator.uniform(0.1, 0.3))
    world = World(
        horizon=int(generator.integers(8, 21)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
        discount=1.0 if generator.random() < 0.6 else float(generator.uniform(0.9, 0.99)),
    )
    scores = scores_of(lambda x, action: pay(x @ matrix.T + push[action], action), actions)
    scores = swayed(generator, scores, columns, actions, generator.uniform(0.1, 0.7))
    if generator.random() < 0.3:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator)


def nonlinear(generator: np.random.Generator) -> World:
    """A harvested population, a growing tumor under a toxic dose, or a system in which actions multiply the state."""
    kinds = (_harvest, _dose, _bilinear)
    return kinds[int(generator.integers(len(kinds)))](generator)


def _harvest(generator: np.random.Generator) -> World:
    """A population that grows logistically in changing weather, and is worth what is taken of it."""
    actions = int(generator.integers(2, 6))
    efforts = np.linspace(0.0, generator.uniform(0.5, 1.0), actions)
    growth, capacity = generator.uniform(0.4, 1.0), generator.uniform(0.8, 2.0)
    noise, weather = generator.uniform(0.05, 0.25), generator.uniform(0.1, 0.3)
    price, cost = magnitude(generator, 1.0, 200.0), generator.uniform(0.0, 0.2)
    kept, slope = generator.uniform(0.3, 0.7) * capacity, generator.uniform(0.5, 2.0)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        size = capacity * np.exp(generator.normal(-0.4, 0.4, count))
        return np.stack([size, generator.normal(0.0, 1.0, count)], axis=1)

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        size, sky = states[:, 0], states[:, 1]
        rate = growth * (1.0 - size / capacity) + weather * np.tanh(sky) - efforts[action]
        reward = price * (size * (1.0 - np.exp(-efforts[action])) - cost * efforts[action])
        size = size * np.exp(rate + noise * generator.normal(size=len(size)))
        sky = 0.7 * sky + 0.7 * generator.normal(size=len(sky))
        return np.stack([size, sky], axis=1), reward, np.zeros(len(states), dtype=bool)

    view = View.drawn(generator, 2)
    usual = habit(generator, 2, actions, generator.uniform(0.3, 1.0), generator.uniform(0.1, 0.3))
    world = World(
        horizon=int(generator.integers(5, 16)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
        discount=float(generator.uniform(0.93, 1.0)),
    )
    scores = scores_of(lambda x, action: -((efforts[action] - slope * (x[:, 0] - kept)) ** 2), actions)
    if generator.random() < 0.3:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator)


def _dose(generator: np.random.Generator) -> World:
    """A tumor that shrinks under a dose with a saturating effect, weaker in older patients, and toxicity that lasts."""
    actions = int(generator.integers(2, 5))
    doses = np.linspace(0.0, 1.0, actions)
    growth, most = generator.uniform(0.05, 0.2), generator.uniform(0.4, 0.9)
    half, aging = generator.uniform(0.15, 0.6), generator.uniform(0.1, 0.5)
    lasting, harm = generator.uniform(0.4, 0.8), generator.uniform(0.3, 1.2)
    noise, unit = generator.uniform(0.05, 0.2), magnitude(generator, 0.3, 20.0)
    base, slope, fear = generator.uniform(0.2, 0.6), generator.uniform(0.2, 0.6), generator.uniform(0.2, 0.8)
    columns = 3 + int(generator.integers(0, 3))

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        states = generator.normal(size=(count, columns))
        states[:, 0] *= 0.5
        states[:, 1] = 0.2 * np.abs(states[:, 1])
        return states

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        dose, following = doses[action], states.copy()
        effect = most * dose / (half * np.exp(aging * states[:, 2]) + dose + 1e-9)
        size = states[:, 0] + growth * (1.0 - np.exp(states[:, 0]) / 8.0) - effect
        following[:, 0] = np.clip(size + noise * generator.normal(size=len(states)), -4.0, 4.0)
        toxic = lasting * states[:, 1] + (1.0 - lasting) * 2.0 * dose**2
        following[:, 1] = toxic * np.exp(0.2 * generator.normal(size=len(states)))
        reward = -unit * (np.exp(following[:, 0]) + harm * following[:, 1])
        return following, reward, np.zeros(len(states), dtype=bool)

    view = View.drawn(generator, columns)
    usual = habit(generator, columns, actions, generator.uniform(0.3, 1.0), generator.uniform(0.1, 0.3))
    world = World(
        horizon=int(generator.integers(4, 13)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
    )
    scores = scores_of(lambda x, action: -((doses[action] - (base + slope * x[:, 0] - fear * x[:, 1])) ** 2), actions)
    if generator.random() < 0.3:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator)


def _bilinear(generator: np.random.Generator) -> World:
    """A bounded system in which the level of an action multiplies the state, paid by products and thresholds of it."""
    columns, actions = int(generator.integers(2, 6)), int(generator.integers(2, 5))
    levels = generator.permutation(np.linspace(-1.0, 1.0, actions))
    matrix, turning = decaying(generator, columns, 0.5, 0.9), decaying(generator, columns, 0.3, 0.6)
    push, noise = generator.normal(0.0, 0.4, columns), generator.uniform(0.15, 0.4)
    limit, unit, edge = generator.uniform(-0.5, 0.5), magnitude(generator, 0.2, 100.0), generator.uniform(1.0, 3.0)

    def mean(x: np.ndarray, action: np.ndarray) -> np.ndarray:
        return 2.5 * np.tanh((x @ matrix.T + levels[action][:, None] * (x @ turning.T + push)) / 2.5)

    def pay(x: np.ndarray, following: np.ndarray, action: np.ndarray) -> np.ndarray:
        return unit * (0.4 * x[:, 0] * following[:, 1] + edge * (following[:, 0] > limit) - 0.2 * levels[action] ** 2)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(0.0, 1.0, (count, columns))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        following = mean(states, action) + noise * generator.normal(size=states.shape)
        return following, pay(states, following, action), np.zeros(len(states), dtype=bool)

    view = View.drawn(generator, columns)
    usual = habit(generator, columns, actions, generator.uniform(0.3, 1.0), generator.uniform(0.1, 0.3))
    world = World(
        horizon=int(generator.integers(4, 13)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
        discount=1.0 if generator.random() < 0.5 else float(generator.uniform(0.9, 0.99)),
    )
    scores = scores_of(lambda x, action: mean(x, action)[:, 0], actions)
    if generator.random() < 0.3:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator)
