"""A battery under a stepped tariff."""

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


def stepped_tariff(generator: np.random.Generator) -> World:
    """A battery charges, rests or discharges while power is priced in steps by hour and by load: nothing is smooth.

    Columns: charge in watt-hours, load in kilowatts, the hour, whether the grid is strained. Too high a draw trips a
    surcharge, and a battery too empty or too full does not obey.
    """
    actions, horizon, day = 3, whole(generator, 8, 16), whole(generator, 8, 24)
    flows = np.array([generator.uniform(0.2, 0.4), 0.0, -generator.uniform(0.2, 0.4)])
    hours = np.sort(generator.choice(np.arange(1, day), 2, replace=False))
    prices = generator.permutation(np.array([0.4, 1.0, 2.2]) * generator.uniform(0.7, 1.3, 3))
    limit, surcharge = generator.uniform(0.9, 1.5), generator.uniform(0.5, 2.0)
    strains, strained = generator.uniform(0.05, 0.25), generator.uniform(0.8, 2.0)
    kept, moody = generator.uniform(0.5, 0.9), generator.uniform(0.1, 0.3)
    watts, coin = 10.0 ** generator.uniform(3.0, 5.0), 10.0 ** generator.uniform(-1.0, 2.0)
    habit, obeyed = generator.normal(0.0, 0.4, actions), generator.uniform(0.2, 0.8)
    dear = generator.uniform(0.7, 1.8)
    empty, full = generator.uniform(0.05, 0.2), generator.uniform(0.8, 0.95)

    def initial(count: int, noise: np.random.Generator) -> States:
        load, hour = noise.uniform(0.3, 1.4, count), noise.integers(0, day, count)
        return np.column_stack([noise.uniform(0.0, 1.0, count), load, hour, noise.random(count) < 0.2])

    def price(states: States) -> np.ndarray:
        return prices[np.searchsorted(hours, states[:, 2], side="right")] + strained * (states[:, 3] > 0.5)

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        charge, load, hour, strain = states.T
        flow = flows[taken]
        flow = np.where((charge < empty) & (flow < 0.0) | (charge > full) & (flow > 0.0), 0.0, flow)
        bought = np.maximum(load + flow, 0.0)
        rewards = -coin * (price(states) * bought + surcharge * (bought > limit))
        charge = np.clip(charge + flow, 0.0, 1.0)
        wander = kept * (load - 0.8) + np.where(hour >= hours[1], 0.15, -0.05)
        load = np.clip(0.8 + wander + moody * noise.normal(size=len(load)), 0.1, 2.0)
        flips = noise.random(len(load))
        strain = np.where(strain > 0.5, flips < 0.6, flips < strains * (1.0 + (load > limit)))
        return np.column_stack([charge, load, (hour + 1.0) % day, strain]), rewards, unending(states)

    def behavior(states: States) -> Scores:
        wish = np.where(states[:, 0] < 0.4, 1.0, np.where(states[:, 1] > 1.0, -1.0, 0.0)) * obeyed
        return floored(softmax(np.outer(wish, np.array([1.0, 0.0, -1.0])) + habit), 0.2)

    def preference(states: States) -> Scores:
        wish = np.where(price(states) < dear, 1.0, -1.0)
        wish = np.where((wish > 0.0) & (states[:, 1] + flows[0] > limit), 0.0, wish)
        return -np.abs(wish[:, None] - np.array([1.0, 0.0, -1.0]))

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    scale = np.array([watts, 1.0, 1.0, 1.0])
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(seen / scale),
        observe=lambda states: states * scale,
        discount=float(generator.choice([1.0, 0.98])),
    )
