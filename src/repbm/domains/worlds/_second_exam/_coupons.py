"""A mailing of coupons."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Columns,
    Scores,
    States,
    Stepped,
    chosen,
    floored,
    sigmoid,
    softmax,
    whole,
)
from repbm.domains.worlds._world import World


def coupon_mailing(generator: np.random.Generator) -> World:
    """One decision a customer: which coupon, if any. Some buy, and how much they spend is skewed.

    Columns: days since the last order, orders so far, money spent so far, the share of returned goods.
    """
    actions = whole(generator, 3, 6)
    currency, days = 10.0 ** generator.uniform(0.0, 4.0), generator.uniform(10.0, 90.0)
    orders, skew = generator.uniform(2.0, 8.0), generator.uniform(0.3, 0.9)
    discounts = np.concatenate([[0.0], np.sort(generator.uniform(0.03, 0.3, actions - 1))])
    base, pull = generator.uniform(-2.0, -0.5), generator.normal(0.0, 0.7, (4, actions))
    lift = generator.uniform(0.0, 1.0, actions) + 3.0 * discounts
    habit = generator.normal(0.0, 0.5, (4, actions))
    floor, sharp, certain = generator.uniform(0.2, 0.6), generator.uniform(3.0, 12.0), generator.random() < 0.4
    missed = generator.normal(0.0, 0.3, (4, actions))

    def initial(count: int, noise: np.random.Generator) -> States:
        past = 1.0 + noise.poisson(noise.gamma(2.0, orders / 2.0, count))
        spent = currency * past * np.exp(noise.normal(0.0, skew, count))
        return np.column_stack([noise.exponential(days, count), past, spent, noise.beta(1.0, 5.0, count)])

    def standard(states: States) -> Columns:
        since, past, spent, returned = states.T
        basket = np.log(np.maximum(spent, 1e-12) / currency / np.maximum(past, 1.0))
        return np.column_stack([np.exp(-since / days) - 0.5, np.log(past) - 1.2, basket, 4.0 * returned - 0.7])

    def interest(states: States, pulls: np.ndarray) -> Scores:
        return sigmoid(base + lift + standard(states) @ pulls)

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        rows = np.arange(len(states))
        buys = noise.random(len(states)) < interest(states, pull)[rows, taken]
        basket = currency * np.exp(skew * noise.normal(size=len(states)) + 0.4 * standard(states)[:, 2])
        following = states + np.column_stack([30.0 - 0.0 * rows, 1.0 * buys, basket * buys, 0.0 * rows])
        return following, buys * basket * (1.0 - discounts[taken]), np.ones(len(states), dtype=bool)

    def behavior(states: States) -> Scores:
        return floored(softmax(standard(states) @ habit), floor)

    def policy(states: States) -> Scores:
        gain = interest(states, pull + missed) * (1.0 - discounts)
        return chosen(gain.argmax(axis=1), actions) if certain else softmax(sharp * gain)

    return World(horizon=1, actions=actions, initial=initial, step=step, behavior=behavior, policy=policy)
