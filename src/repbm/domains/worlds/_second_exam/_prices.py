"""A seller in a market of changing moods."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Scores,
    States,
    Stepped,
    alternative,
    floored,
    sigmoid,
    softmax,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def regime_prices(generator: np.random.Generator) -> World:
    """Demand, rivals and goodwill follow other laws in every regime of the market, which switches at random.

    Columns: the regime's code, the rival's price, goodwill as a share. Profit is a product of margin, goodwill and a
    saturating demand.
    """
    regimes, actions, horizon = whole(generator, 2, 3), whole(generator, 3, 5), whole(generator, 6, 15)
    prices = np.linspace(generator.uniform(0.6, 0.9), generator.uniform(1.3, 1.9), actions)
    stays = generator.uniform(0.7, 0.92)
    switch = stays * np.eye(regimes) + (1.0 - stays) * generator.dirichlet(np.ones(regimes), regimes)
    size, picky = generator.uniform(0.5, 2.0, regimes), generator.uniform(1.5, 6.0, regimes)
    level, kept = generator.uniform(0.8, 1.4, regimes), generator.uniform(0.2, 0.9, regimes)
    follows, loyal = generator.uniform(-0.3, 0.6, regimes), generator.uniform(0.2, 0.9, regimes)
    cost, loud = generator.uniform(0.3, 0.55), generator.uniform(0.05, 0.2)
    money, traffic = 10.0 ** generator.uniform(-1.0, 4.0), generator.uniform(20.0, 200.0)
    sharp, raised = generator.uniform(1.0, 3.0), generator.uniform(-0.3, 0.3)
    steep = generator.uniform(0.5, 1.5)

    def initial(count: int, noise: np.random.Generator) -> States:
        rival = np.exp(noise.normal(0.0, 0.2, count))
        return np.column_stack([noise.integers(0, regimes, count), rival, noise.beta(4.0, 3.0, count)])

    def wanted(states: States) -> Scores:
        """The share of customers who would buy at every price."""
        regime = states[:, 0].astype(np.int64)
        return sigmoid(picky[regime][:, None] * (states[:, 1:2] - prices + 0.3))

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        regime, rival, goodwill = states[:, 0].astype(np.int64), states[:, 1], states[:, 2]
        price, rows = prices[taken], np.arange(len(states))
        buyers = noise.poisson(traffic * size[regime] * goodwill * wanted(states)[rows, taken])
        rewards = money * (price - cost) * buyers / traffic
        mood = np.log(goodwill / (1.0 - goodwill))
        mood = 0.9 * mood + loyal[regime] * (rival - price) + 0.1 * noise.normal(size=len(rows))
        rival = level[regime] + kept[regime] * (rival - level[regime]) + follows[regime] * (price - rival)
        rival = np.clip(rival + loud * noise.normal(size=len(rows)), 0.3, 3.0)
        regime = (switch.cumsum(axis=1)[regime] < noise.random((len(rows), 1))).sum(axis=1)
        following = [np.minimum(regime, regimes - 1), rival, np.clip(sigmoid(mood), 0.01, 0.99)]
        return np.column_stack(following), rewards, unending(states)

    def behavior(states: States) -> Scores:
        return floored(softmax(-sharp * (prices - states[:, 1:2] - raised) ** 2), 0.2)

    def preference(states: States) -> Scores:
        return (prices - cost) * wanted(states) - 0.1 * steep * prices

    scale = np.array([1.0, money, 1.0])
    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(seen / scale),
        observe=lambda states: states * scale,
        discount=float(generator.uniform(0.9, 1.0)),
    )
