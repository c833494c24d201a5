"""Noise that a mean does not describe: it depends on the state, or has two peaks. And a table of states."""

from __future__ import annotations

import numpy as np

from repbm.core import draw
from repbm.domains.worlds._development._parts import (
    Outcome,
    Rows,
    between,
    by_chance,
    conduct,
    count,
    logistic,
    never,
    stable,
)
from repbm.domains.worlds._world import World


def noise_by_state(generator: np.random.Generator) -> World:
    """The noise is many times larger at one end of the first column than at the other, and rewards are convex."""
    horizon, actions, columns = count(generator, 3, 10), count(generator, 2, 4), count(generator, 1, 4)
    transition = stable(generator, columns, generator.uniform(0.6, 0.9))
    pushes = 0.4 * generator.normal(size=(actions, columns))
    small, large = between(generator, 0.03, 0.1), generator.uniform(0.7, 1.3)
    costs, square = generator.uniform(0, 0.3, actions), by_chance(generator, 0.5)

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return 0.8 * draws.normal(size=(number, columns))

    def spread(first: np.ndarray) -> np.ndarray:
        return small + large * logistic(3 * (first - 0.3))

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        moved = states @ transition.T + pushes[actions]
        following = moved + spread(states[:, 0])[:, None] * draws.normal(size=states.shape)
        last = following[:, -1]
        worth = last**2 if square else np.exp(0.7 * np.clip(last, -6, 6))
        rewards = worth - costs[actions] + 0.1 * draws.normal(size=len(states))
        return following, rewards, never(len(states))

    def scores(seen: Rows) -> Rows:
        return (1 + np.tanh(seen[:, :1])) * pushes[:, 0] - costs

    behavior, policy = conduct(generator, scores, initial(512, generator), horizon)
    return World(horizon, actions, initial, step, behavior, policy)


def bimodal(generator: np.random.Generator) -> World:
    """The state jumps left or right at every step; actions and the state decide how probable either side is."""
    horizon, actions, columns = count(generator, 2, 8), count(generator, 2, 4), count(generator, 1, 3)
    jump, keep = generator.uniform(0.7, 1.5), generator.uniform(0.4, 0.8)
    noise, pulls = between(generator, 0.05, 0.25), generator.uniform(-1.5, 1.5, actions)
    slope, kind = generator.uniform(-1.0, 1.0), count(generator, 0, 2)
    line = generator.uniform(-0.5, 1.0)

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return draws.normal(size=(number, columns))

    def worth(x: np.ndarray) -> np.ndarray:
        return (x**2, np.tanh(2 * (x - line)), (x > line).astype(np.float64))[kind]

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        right = draws.random(len(states)) < logistic(pulls[actions] + slope * states[:, -1])
        following = keep * states + noise * draws.normal(size=states.shape)
        following[:, 0] += np.where(right, jump, -jump)
        rewards = worth(following[:, 0]) + 0.1 * draws.normal(size=len(states))
        return following, rewards, never(len(states))

    def scores(seen: Rows) -> Rows:
        return logistic(pulls + slope * seen[:, -1:])

    behavior, policy = conduct(generator, scores, initial(512, generator), horizon)
    return World(horizon, actions, initial, step, behavior, policy, last_state=by_chance(generator, 0.7))


def table(generator: np.random.Generator) -> World:
    """10 to 20 states, coded by whole numbers in one column, in no order that means anything."""
    size, horizon, actions = count(generator, 10, 20), count(generator, 5, 12), count(generator, 2, 4)
    transitions = generator.dirichlet(np.full(size, 0.25), size=(size, actions))
    earned = generator.normal(size=(size, 1)) + 0.5 * generator.normal(size=(size, actions))
    starts, noise = generator.dirichlet(np.ones(size)), between(generator, 0.05, 1.0)
    ends = np.zeros(size, dtype=bool)
    ends[generator.integers(size)] = by_chance(generator, 0.5)
    starts = np.where(ends, 0.0, starts) / starts[~ends].sum()
    values = earned.copy()
    for _ in range(3):
        values = earned + transitions @ np.where(ends, 0.0, values.mean(axis=1))

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return draw(np.broadcast_to(starts, (number, size)), draws)[:, None].astype(np.float64)

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        now = states[:, 0].astype(np.int64)
        following = draw(transitions[now, actions], draws)
        rewards = earned[now, actions] + noise * draws.normal(size=len(states))
        return following[:, None].astype(np.float64), rewards, ends[following]

    def scores(seen: Rows) -> Rows:
        return values[np.clip(seen[:, 0].astype(np.int64), 0, size - 1)]

    behavior, policy = conduct(generator, scores, np.arange(size, dtype=np.float64)[:, None], horizon)
    return World(horizon, actions, initial, step, behavior, policy, last_state=by_chance(generator, 0.7))
