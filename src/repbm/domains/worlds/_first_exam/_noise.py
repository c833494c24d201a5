"""Noise that is not simple: uneven, bimodal, or heavy in its tails; and columns of nothing but noise."""

from __future__ import annotations

from dataclasses import replace

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
    sigmoid,
    swayed,
    wish,
)
from repbm.domains.worlds._world import World


def uneven(generator: np.random.Generator) -> World:
    """A system whose noise grows with its state, or which jumps up or down by chance, or both."""
    columns, actions = int(generator.integers(1, 6)), int(generator.integers(2, 5))
    matrix = decaying(generator, columns, 0.5, 0.85)
    push = pushes(generator, columns, actions, generator.uniform(0.7, 1.2))
    kind = int(generator.integers(3))
    growing, jumping = kind != 1, kind != 0
    slopes, base = generator.normal(0.0, 0.8, columns) / np.sqrt(columns), generator.uniform(0.15, 0.4)
    jump = generator.uniform(1.0, 2.5) * generator.choice([-1.0, 1.0])
    back, often = -jump * generator.uniform(0.3, 1.0), generator.normal(-1.5, 0.5, actions)
    lean = generator.normal(0.0, 0.7, columns) / np.sqrt(columns)
    weights, bowl = generator.normal(size=columns), generator.random() < 0.4
    unit, costs = magnitude(generator, 0.2, 100.0), generator.uniform(0.0, 0.4, actions)

    def mean(x: np.ndarray, action: np.ndarray) -> np.ndarray:
        return x @ matrix.T + push[action]

    def pay(following: np.ndarray, action: np.ndarray) -> np.ndarray:
        worth = -np.abs(following) @ np.abs(weights) if bowl else following @ weights
        return unit * (worth - costs[action])

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(size=(count, columns))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count = len(states)
        bounded = np.tanh(states / 2.0) * 2.0
        spread = base * (1.0 + growing * 4.0 * sigmoid(bounded @ slopes * 2.0))
        following = mean(states, action) + spread[:, None] * generator.normal(size=states.shape)
        happens = generator.random(count) < sigmoid(often[action] + bounded @ lean)
        upward = generator.random(count) < 0.5
        following[:, 0] += jumping * happens * np.where(upward, jump, back)
        return following, pay(following, action), np.zeros(count, dtype=bool)

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
        discount=1.0 if generator.random() < 0.6 else float(generator.uniform(0.9, 0.99)),
    )
    scores = scores_of(lambda x, action: pay(mean(x, action), action), actions)
    scores = swayed(generator, scores, columns, actions, generator.uniform(0.1, 0.5))
    if generator.random() < 0.25:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator)


def many_columns(generator: np.random.Generator) -> World:
    """Two to four columns that matter among ten to twenty-five of pure noise, in no order."""
    matter, actions = int(generator.integers(2, 5)), int(generator.integers(2, 5))
    columns = matter + int(generator.integers(10, 26))
    places = generator.permutation(columns)[:matter]
    matrix = decaying(generator, matter, 0.5, 0.9)
    push = pushes(generator, matter, actions, generator.uniform(0.5, 0.9))
    weights, slow = generator.normal(size=matter), generator.random(columns) < 0.4
    moderation, noise = generator.uniform(0.0, 0.8), generator.uniform(0.2, 0.5)
    unit, saturating = magnitude(generator, 0.2, 50.0), generator.random() < 0.5

    def mean(x: np.ndarray, action: np.ndarray) -> np.ndarray:
        core = x[:, places]
        return core @ matrix.T + push[action] * (1.0 + moderation * np.tanh(core[:, 1]))[:, None]

    def pay(following: np.ndarray) -> np.ndarray:
        worth = following @ weights
        return unit * (2.0 * np.tanh(worth) if saturating else worth)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(size=(count, columns))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        fresh = generator.normal(size=states.shape)
        following = np.where(slow, 0.9 * states + np.sqrt(0.19) * fresh, fresh)
        following[:, places] = mean(states, action) + noise * fresh[:, places]
        return following, pay(following[:, places]), np.zeros(len(states), dtype=bool)

    view = View.drawn(generator, columns)
    lean = habit(generator, matter, actions, generator.uniform(0.3, 1.0), generator.uniform(0.1, 0.3))

    def usual(x: np.ndarray) -> np.ndarray:
        return lean(x[:, places])

    world = World(
        horizon=int(generator.integers(2, 11)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
    )
    sway = swayed(generator, lambda x: (push @ weights)[None], matter, actions, generator.uniform(0.1, 0.6))

    def scores(x: np.ndarray) -> np.ndarray:
        return sway(x[:, places])

    if generator.random() < 0.3:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator)


def heavy_tails(generator: np.random.Generator) -> World:
    """Costs that are log-normal, or gains with Student's errors: a few rows weigh as much as many others."""
    columns, actions = int(generator.integers(2, 7)), int(generator.integers(2, 5))
    matrix = decaying(generator, columns, 0.4, 0.8)
    push = pushes(generator, columns, actions, generator.uniform(0.3, 0.7))
    slopes = generator.normal(0.0, 0.35, columns) / np.sqrt(columns)
    effects = generator.permutation(np.linspace(-0.5, 0.5, actions)) * generator.uniform(0.6, 1.4)
    mixing = generator.normal(0.0, 0.3, (actions, columns)) / np.sqrt(columns)
    costs, spread, freedom = generator.random() < 0.6, generator.uniform(0.7, 1.2), generator.uniform(2.5, 5.0)
    unit = magnitude(generator, 1.0, 300.0)

    def merit(x: np.ndarray, action: np.ndarray) -> np.ndarray:
        bounded = np.clip(x, -4.0, 4.0)
        return effects[action] + bounded @ slopes + (bounded * mixing[action]).sum(axis=1)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(size=(count, columns))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count, value = len(states), merit(states, action)
        if costs:
            reward = -unit * np.exp(spread * generator.normal(size=count) - value)
        else:
            reward = unit * (value + 0.6 * generator.standard_t(freedom, size=count))
        following = states @ matrix.T + push[action] + 0.5 * generator.normal(size=states.shape)
        return following, reward, np.zeros(count, dtype=bool)

    view = View.drawn(generator, columns)
    usual = habit(generator, columns, actions, generator.uniform(0.3, 1.0), generator.uniform(0.15, 0.35))
    world = World(
        horizon=int(generator.integers(1, 7)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
    )
    scores = scores_of(merit, actions)
    if world.horizon <= 3 and generator.random() < 0.4:
        return fixed(world, view, scores)
    found = reaching(world, view, usual, wish(generator, scores), generator, low=0.1)
    return replace(found, discount=1.0 if generator.random() < 0.7 else float(generator.uniform(0.9, 0.99)))
