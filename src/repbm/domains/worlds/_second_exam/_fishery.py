"""A fish stock under harvest."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Columns,
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


def fish_stock(generator: np.random.Generator) -> World:
    """Fish grow logistically, faster in one season; a fleet's effort earns a wandering price: nonlinear and smooth.

    The log shows tonnes of fish, the price, and the season as sine and cosine.
    """
    actions, horizon = whole(generator, 3, 5), whole(generator, 7, 16)
    effort = np.sort(generator.uniform(0.0, 1.2, actions))
    growth, season = generator.uniform(0.4, 1.3), generator.uniform(0.1, 0.6)
    turn, reach = 2.0 * np.pi / generator.uniform(4.0, 12.0), generator.uniform(0.4, 0.9)
    wild, drift, kept = generator.uniform(0.03, 0.15), generator.uniform(0.05, 0.25), generator.uniform(0.6, 0.95)
    cost, unit = generator.uniform(0.02, 0.15), 10.0 ** generator.uniform(0.0, 3.0)
    tonnes, coin = 10.0 ** generator.uniform(3.0, 5.0), 10.0 ** generator.uniform(-1.0, 2.0)
    eager, sparing = generator.uniform(0.5, 2.0, 2), generator.uniform(0.4, 0.8)
    greed = generator.uniform(-1.0, 1.0)
    discount = float(generator.uniform(0.9, 1.0))

    def initial(count: int, noise: np.random.Generator) -> States:
        fish = noise.beta(4.0, 3.0, count)
        return np.column_stack([fish, noise.normal(0.0, 0.3, count), noise.uniform(-np.pi, np.pi, count)])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        fish, price, phase = states.T
        caught = fish * (1.0 - np.exp(-reach * effort[taken]))
        left = fish - caught
        grown = left + growth * left * (1.0 - left) * (1.0 + season * np.sin(phase))
        grown = np.clip(grown * np.exp(noise.normal(0.0, wild, len(fish))), 0.01, 2.0)
        following = np.column_stack(
            [grown, kept * price + noise.normal(0.0, drift, len(fish)), np.angle(np.exp(1j * (phase + turn)))]
        )
        return following, unit * (np.exp(price) * caught - cost * effort[taken] ** 2), unending(states)

    def observe(states: States) -> Columns:
        fish, price, phase = states.T
        return np.column_stack([tonnes * fish, coin * np.exp(price), np.sin(phase), np.cos(phase)])

    def read(seen: Columns) -> States:
        return np.column_stack([seen[:, 0] / tonnes, np.log(seen[:, 1] / coin), np.arctan2(seen[:, 2], seen[:, 3])])

    def behavior(states: States) -> Scores:
        wish = eager[0] * (states[:, 0] - 0.5) + eager[1] * states[:, 1]
        return floored(softmax(np.outer(wish, effort) * 1.5), 0.15)

    def preference(states: States) -> Scores:
        best = np.clip(states[:, 0] - sparing + 0.5 * greed + 0.5 * states[:, 1], 0.0, 1.2)
        return -((best[:, None] - effort) ** 2)

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(read(seen)),
        observe=observe,
        discount=discount,
    )
