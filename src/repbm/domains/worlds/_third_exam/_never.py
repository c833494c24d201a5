"""Flights that were never flown in strong wind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._third_exam._decisions import seen_whole, weighing
from repbm.domains.worlds._third_exam._parts import (
    Chances,
    Dress,
    Outcome,
    Sights,
    States,
    Taken,
    count_of,
    going_on,
    logistic,
    sign,
    within,
)
from repbm.domains.worlds._world import World


def drone_routes(generator: np.random.Generator) -> World:
    """Above a limit of wind no drone took the high route; the policy does there, mostly, and elsewhere as usual.

    What the high route does beyond the limit, well or badly, is in no row. Components: wind, battery, parcels.
    """
    actions, horizon = count_of(generator, 2, 4), count_of(generator, 3, 9)
    high = actions - 1
    holds, limit = generator.uniform(0.7, 0.95), generator.uniform(0.3, 0.9)
    pace, drains = generator.uniform(0.5, 1.5, actions), generator.uniform(0.05, 0.2, actions)
    beyond = generator.uniform(0.5, 1.5) * sign(generator)
    custom, errors = generator.normal(0.0, 0.5, (3, actions)), generator.uniform(0.2, 0.5)
    dares, tilt = generator.uniform(0.5, 1.0), generator.normal(0.0, 0.3, actions)
    dress = Dress.drawn(generator, 3)

    def initial(count: int, noise: np.random.Generator) -> States:
        return np.column_stack([noise.normal(size=count), noise.uniform(0.4, 1.0, count), noise.poisson(3.0, count)])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        wind, battery, parcels = states.T
        count, up = len(states), taken == high
        carried = pace[taken] * (0.4 + 0.2 * np.sqrt(parcels)) * logistic(6.0 * (battery - 0.2))
        rewards = carried + beyond * up * (wind > limit) + errors * noise.normal(size=count)
        battery = np.clip(battery - drains[taken] * (1.0 + 0.4 * np.maximum(wind, 0.0)) + 0.12, 0.0, 1.0)
        wind = holds * wind + np.sqrt(1.0 - holds**2) * noise.normal(size=count)
        return np.column_stack([wind, battery, noise.poisson(3.0, count)]), rewards, going_on(states)

    def scaled(sights: Sights) -> Sights:
        return np.column_stack([sights[:, 0], 3.0 * (sights[:, 1] - 0.6), 0.5 * (sights[:, 2] - 3.0)])

    free = weighing(lambda sights: within(scaled(sights) @ custom, 2.0), 0.15)
    other = weighing(lambda sights: within(scaled(sights) @ custom + tilt, 2.0), 0.15)

    def usual(sights: Sights) -> Chances:
        chances = free(sights)
        chances[sights[:, 0] > limit, high] = 0.0
        return chances / chances.sum(axis=1, keepdims=True)

    def policy(sights: Sights) -> Chances:
        flown = (1.0 - dares) * usual(sights) + dares * np.eye(actions)[high]
        return np.where(sights[:, :1] > limit, flown, other(sights))

    world = seen_whole(horizon, actions, initial, step, usual, dress)
    return replace(world, policy=lambda seen: policy(dress.off(seen)), answerable=False)
