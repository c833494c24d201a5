"""A robot on a slippery floor."""

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
    sigmoid,
    softmax,
    squashed,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def slipping_robot(generator: np.random.Generator) -> World:
    """A robot steers to a goal on a plane; its wheels grip or slip, so that every move lands in one of two places."""
    actions, horizon = whole(generator, 3, 5), whole(generator, 6, 14)
    angles = generator.uniform(0.0, 2.0 * np.pi) + 2.0 * np.pi * np.arange(actions) / actions
    moves = generator.uniform(0.4, 0.9) * np.column_stack([np.cos(angles), np.sin(angles)])
    slip, back = generator.uniform(-1.2, 0.2), generator.uniform(-1.0, 0.2)
    skid = generator.normal(0.0, 0.6, 2)
    oily, goal = generator.normal(0.0, 0.8, 2), generator.normal(0.0, 1.0, 2)
    fine, drag = generator.uniform(0.02, 0.1), generator.uniform(0.01, 0.08)
    wide, eager = generator.uniform(0.8, 2.0), generator.uniform(0.3, 1.2)
    gauge = Gauge.drawn(generator, 3, -3.0, 3.0)
    discount = float(generator.choice([1.0, 0.95]))

    def initial(count: int, noise: np.random.Generator) -> States:
        return np.column_stack([noise.normal(0.0, 1.5, (count, 2)), noise.uniform(0.5, 1.0, count)])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        place, charge = states[:, :2], states[:, 2]
        slips = (noise.random(len(states)) < sigmoid(slip + squashed(place @ oily, 2.0)))[:, None]
        moved = np.where(slips, back * moves[taken] + skid, moves[taken]) * (0.3 + 0.7 * charge[:, None])
        place = squashed(place + moved + noise.normal(0.0, fine, place.shape), 6.0)
        near = np.exp(-((place - goal) ** 2).sum(axis=1) / (2.0 * wide**2))
        return np.column_stack([place, charge * (1.0 - drag)]), near, unending(states)

    def behavior(states: States) -> Scores:
        return floored(softmax(eager * squashed(goal - states[:, :2], 2.0) @ moves.T), 0.25)

    def preference(states: States) -> Scores:
        place = states[:, :2]
        chance = sigmoid(slip + squashed(place @ oily, 2.0))[:, None, None]
        landed = place[:, None] + (1.0 - chance) * moves + chance * (back * moves + skid)
        return -((landed - goal) ** 2).sum(axis=2)

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
