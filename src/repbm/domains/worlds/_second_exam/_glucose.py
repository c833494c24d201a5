"""Blood glucose between meals."""

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


def glucose_swings(generator: np.random.Generator) -> World:
    """Insulin lowers glucose with a lag, meals raise it, and the higher it stands the wilder it swings.

    Columns: glucose, insulin on board, carbohydrates to come, the hour as sine and cosine. The loss is a saturating
    function of how far the glucose is from its aim.
    """
    actions, horizon = whole(generator, 3, 5), whole(generator, 8, 16)
    doses = np.linspace(0.0, generator.uniform(1.5, 4.0), actions)
    power, aim = generator.uniform(8.0, 20.0), generator.uniform(105.0, 130.0)
    left, digested = generator.uniform(0.4, 0.75), generator.uniform(0.3, 0.7)
    rise, back, turn = generator.uniform(1.5, 3.5), generator.uniform(0.03, 0.12), np.pi / whole(generator, 3, 8)
    swing, exponent = generator.uniform(3.0, 9.0), generator.uniform(1.0, 2.5)
    hungry, plate = generator.uniform(-1.8, -0.8), generator.uniform(15.0, 40.0)
    metric = 1.0 / 18.0 if generator.random() < 0.5 else 1.0
    trust, goal = generator.uniform(0.01, 0.03), aim + generator.uniform(-15.0, 15.0)
    discount = float(generator.choice([1.0, 0.98, 0.95]))

    def initial(count: int, noise: np.random.Generator) -> States:
        sugar = 140.0 * np.exp(noise.normal(0.0, 0.25, count))
        rest = noise.exponential(1.0, count), noise.exponential(10.0, count), noise.uniform(-np.pi, np.pi, count)
        return np.column_stack([sugar, *rest])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        sugar, board, food, hour = states.T
        active = board + doses[taken]
        loud = swing * (np.clip(sugar, 50.0, 350.0) / 120.0) ** exponent * (1.0 + food / 60.0)
        push = rise * digested * food - power * (1.0 - left) * active + back * (aim + 40.0 - sugar)
        following = np.clip(sugar + push + loud * noise.normal(size=len(sugar)), 35.0, 450.0)
        eats = noise.random(len(sugar)) < 1.0 / (1.0 + np.exp(-hungry - np.sin(hour)))
        food = np.minimum((1.0 - digested) * food + eats * noise.gamma(4.0, plate / 4.0, len(sugar)), 150.0)
        risk = np.log(following / aim) ** 2
        rewards = -10.0 * risk / (0.1 + risk)
        return np.column_stack([following, left * active, food, hour + turn]), rewards, unending(states)

    def observe(states: States) -> Columns:
        sugar, board, food, hour = states.T
        return np.column_stack([metric * sugar, board, food, np.sin(hour), np.cos(hour)])

    def read(seen: Columns) -> States:
        return np.column_stack([seen[:, 0] / metric, seen[:, 1], seen[:, 2], np.arctan2(seen[:, 3], seen[:, 4])])

    def behavior(states: States) -> Scores:
        return floored(softmax(np.outer(trust * (states[:, 0] - 150.0), doses)), 0.2)

    def preference(states: States) -> Scores:
        sugar, board, food = states[:, :3].T
        needed = (sugar + rise * food - goal) / power - board
        return -((np.clip(needed, 0.0, doses[-1])[:, None] - doses) ** 2)

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
