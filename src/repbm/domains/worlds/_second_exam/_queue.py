"""Counters and a queue."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Scores,
    States,
    Stepped,
    alternative,
    floored,
    softmax,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def counter_queue(generator: np.random.Generator) -> World:
    """Counters are opened and closed as a queue waxes and wanes with the hour: counts, with binomial patience.

    Columns: how many wait, how many counters were open last, the hour of the day, how many gave up just now.
    """
    actions, horizon, day = whole(generator, 2, 4), whole(generator, 10, 20), whole(generator, 6, 18)
    counters = np.cumsum(generator.integers(1, 3, actions)).astype(np.float64)
    pace = generator.uniform(1.5, 4.0)
    flow = pace * counters.mean() * generator.uniform(0.8, 1.2)
    rush, peak = generator.uniform(0.2, 0.8), generator.uniform(0.0, 2.0 * np.pi)
    leaves, wage = generator.uniform(0.03, 0.2), generator.uniform(0.3, 1.2)
    waits, angry = generator.uniform(0.05, 0.3), generator.uniform(0.2, 1.0)
    opening, crowd = generator.uniform(0.0, 0.8), flow * generator.uniform(0.8, 1.5)
    sharp, ease = generator.uniform(0.3, 1.2), generator.uniform(0.5, 1.5)

    def arriving(hour: np.ndarray) -> np.ndarray:
        return flow * (1.0 + rush * np.sin(2.0 * np.pi * hour / day + peak))

    def initial(count: int, noise: np.random.Generator) -> States:
        waiting, hour = noise.poisson(noise.gamma(2.0, flow / 2.0, count)), noise.integers(0, day, count)
        return np.column_stack([waiting, noise.choice(counters, count), hour, np.zeros(count)])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        waiting, before, hour, _ = states.T
        staffed = counters[taken]
        served = np.minimum(waiting, noise.poisson(pace * staffed))
        left = (waiting - served).astype(np.int64)
        lost = noise.binomial(left, leaves)
        rewards = served - wage * pace * staffed - waits * left - angry * lost
        rewards = rewards - opening * np.maximum(staffed - before, 0.0)
        waiting = np.minimum(left - lost + noise.poisson(arriving(hour)), 500)
        return np.column_stack([waiting, staffed, (hour + 1.0) % day, lost]), rewards, unending(states)

    def behavior(states: States) -> Scores:
        pressure = np.tanh((states[:, 0] - crowd) / crowd)
        return floored(softmax(sharp * np.outer(pressure, counters - counters.mean())), 0.25)

    def preference(states: States) -> Scores:
        due = states[:, 0] + 0.5 * arriving(states[:, 2])
        short = np.maximum(due[:, None] - pace * counters, 0.0)
        switched = opening * np.maximum(counters - states[:, 1:2], 0.0)
        return -ease * (1.0 + waits) * short - wage * pace * counters - switched

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=policy,
        discount=float(generator.choice([1.0, 0.97, 0.9])),
    )
