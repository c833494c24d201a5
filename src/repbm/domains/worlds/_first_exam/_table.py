"""A finite table of states."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._first_exam._parts import View, fixed, floored, magnitude, nobody, reaching, wish
from repbm.domains.worlds._world import World


def table(generator: np.random.Generator) -> World:
    """States coded as integers in one column, with random chances of what follows which action, and noisy rewards."""
    states_, actions = int(generator.integers(10, 31)), int(generator.integers(2, 6))
    horizon = int(generator.integers(5, 16))
    ending = int(generator.integers(0, 3))
    reach = int(generator.integers(3, 7))
    order = generator.random((states_, actions, states_)).argsort(axis=2)
    chances = generator.gamma(0.8, size=(states_, actions, states_)) * (order < reach) + 1e-12
    chances /= chances.sum(axis=2, keepdims=True)
    cumulated = chances.cumsum(axis=2)
    unit = magnitude(generator, 0.1, 100.0)
    means = generator.normal(0.0, 1.0, states_)[:, None] + generator.normal(0.0, 0.5, (states_, actions))
    noise, binary = generator.uniform(0.0, 1.0), generator.random() < 0.3
    first = generator.dirichlet(np.full(states_, 0.5))

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.choice(states_, size=(count, 1), p=first).astype(np.float64)

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        code = states[:, 0].astype(np.int64)
        following = (generator.random(len(code))[:, None] > cumulated[code, action]).sum(axis=1)
        following = np.minimum(following, states_ - 1)
        mean = means[code, action]
        if binary:
            reward = (generator.random(len(code)) < 1.0 / (1.0 + np.exp(-mean))).astype(np.float64)
        else:
            reward = unit * (mean + noise * generator.normal(size=len(code)))
        return following[:, None].astype(np.float64), reward, following < ending

    view = View(np.zeros(1), np.ones(1), np.zeros(1, dtype=bool))
    rows = floored(generator.dirichlet(np.full(actions, 2.0), size=states_), generator.uniform(0.1, 0.3))
    world = World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=lambda states: rows[states[:, 0].astype(np.int64)],
        policy=nobody,
        observe=view.observe,
        discount=1.0 if generator.random() < 0.5 else float(generator.uniform(0.9, 0.99)),
    )
    going = (np.arange(states_) >= ending).astype(np.float64)
    values = np.zeros((states_, actions))
    for _ in range(horizon):
        values = means + 0.9 * chances @ (going * values.max(axis=1))

    def lookup(x: np.ndarray) -> np.ndarray:
        return values[np.clip(np.rint(x[:, 0]), 0, states_ - 1).astype(np.int64)]

    def usual(x: np.ndarray) -> np.ndarray:
        return rows[np.clip(np.rint(x[:, 0]), 0, states_ - 1).astype(np.int64)]

    if generator.random() < 0.3:
        return fixed(world, view, lookup)
    return reaching(world, view, usual, wish(generator, lookup), generator)
