"""A shop whose orders take their time."""

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


def lead_time_stock(generator: np.random.Generator) -> World:
    """What is ordered today arrives, and is paid, two to four days later: effects are delayed, all through the state.

    Columns, all counts but the last: the stock, one for every day of deliveries to come, and the demand expected.
    """
    actions, lead, horizon = whole(generator, 3, 5), whole(generator, 2, 4), whole(generator, 10, 18)
    usual = generator.uniform(4.0, 15.0)
    orders = np.rint(np.linspace(0.0, usual * generator.uniform(1.6, 2.4), actions))
    margin, holding = generator.uniform(2.0, 5.0), generator.uniform(0.05, 0.4)
    kept, moody = generator.uniform(0.5, 0.9), generator.uniform(0.1, 0.3)
    shelf, sharp = usual * generator.uniform(4.0, 8.0), generator.uniform(0.5, 2.0)
    cover, wished = generator.uniform(0.4, 0.8), generator.uniform(0.8, 1.3)
    unit = 10.0 ** generator.uniform(-1.0, 3.0)

    def initial(count: int, noise: np.random.Generator) -> States:
        coming = noise.choice(orders, (count, lead))
        demand = usual * np.exp(noise.normal(0.0, 0.3, count))
        return np.column_stack([noise.poisson(usual, count), coming, demand])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        stock, coming, demand = states[:, 0], states[:, 1:-1], states[:, -1]
        stock = np.minimum(stock + coming[:, 0], np.floor(shelf))
        sold = np.minimum(stock, noise.poisson(demand))
        rewards = unit * (margin * sold - holding * (stock - sold) - coming[:, 0])
        mood = kept * np.log(demand / usual) + moody * noise.normal(size=len(stock))
        following = [stock - sold, coming[:, 1:], orders[taken], usual * np.exp(np.clip(mood, -1.5, 1.5))]
        return np.column_stack(following), rewards, unending(states)

    def gap(states: States, days: float) -> np.ndarray:
        """Orders wanted to cover so many times the demand of the days until delivery."""
        return days * (lead + 1.0) * states[:, -1] - states[:, :-1].sum(axis=1)

    def closeness(states: States, days: float) -> Scores:
        return -np.abs(np.clip(gap(states, days), 0.0, orders[-1])[:, None] - orders) / usual

    def behavior(states: States) -> Scores:
        return floored(softmax(sharp * closeness(states, cover)), 0.25)

    policy = alternative(generator, horizon, behavior, lambda s: closeness(s, wished), initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=policy,
        discount=float(generator.choice([1.0, 0.99, 0.95])),
    )
