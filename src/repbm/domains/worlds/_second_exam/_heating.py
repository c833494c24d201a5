"""Rooms that exchange heat."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Gauge,
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


def heating_loop(generator: np.random.Generator) -> World:
    """Rooms exchange heat and lose it; a setting of the boiler warms some more than others: linear, and noisy."""
    rooms, actions, horizon = whole(generator, 3, 6), whole(generator, 2, 4), whole(generator, 6, 15)
    kept = generator.uniform(0.6, 0.92)
    exchange = kept * (0.6 * np.eye(rooms) + 0.4 * generator.dirichlet(np.ones(rooms), rooms))
    warmth = generator.normal(0.0, 0.7, (actions, rooms))
    loud, jitter = generator.uniform(0.3, 0.9), generator.uniform(0.3, 1.5)
    worth, price = generator.normal(0.0, 1.0, rooms), generator.uniform(0.0, 0.8, actions)
    suits = generator.normal(0.0, 0.4, (rooms, actions))
    habit, bias = generator.normal(0.0, 0.4, (rooms, actions)), generator.normal(0.0, 0.3, actions)
    gauge = Gauge.drawn(generator, rooms, -2.0, 3.0)
    discount = float(generator.choice([1.0, 0.97, 0.9]))

    def initial(count: int, noise: np.random.Generator) -> States:
        return noise.normal(0.0, 1.0, (count, rooms))

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        following = states @ exchange.T + warmth[taken] + noise.normal(0.0, loud, states.shape)
        rewards = states @ worth - price[taken] + (states * suits.T[taken]).sum(axis=1)
        return following, rewards + noise.normal(0.0, jitter, len(states)), unending(states)

    def behavior(states: States) -> Scores:
        return floored(softmax(states @ habit + bias), 0.1)

    later = np.linalg.solve(np.eye(rooms) - 0.95 * exchange.T, worth)

    def preference(states: States) -> Scores:
        return states @ suits + warmth @ later - price

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(gauge.read(seen)),
        observe=gauge.show,
        discount=discount,
    )
