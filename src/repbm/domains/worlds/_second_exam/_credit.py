"""Limits of credit."""

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
    sigmoid,
    softmax,
    squashed,
    whole,
)
from repbm.domains.worlds._world import World


def credit_lines(generator: np.random.Generator) -> World:
    """A bank lowers, keeps or raises limits; used credit earns interest until the borrower defaults.

    Columns: income, limit, the share of it in use, missed payments. Nobody wrote down how decisions were drawn: the log
    has no propensities, yet everything they rest on is in it.
    """
    horizon = whole(generator, 6, 12)
    factors = np.array([generator.uniform(0.6, 0.85), 1.0, generator.uniform(1.15, 1.5)])
    actions, money = 3, 10.0 ** generator.uniform(3.0, 5.0)
    interest, lost = generator.uniform(0.05, 0.12), generator.uniform(0.2, 0.6)
    risk, weigh = generator.uniform(-6.0, -4.5), generator.uniform(0.4, 1.2, 3)
    late, pays = generator.uniform(-3.0, -1.8), generator.uniform(0.2, 0.5)
    spread, restless = generator.uniform(0.3, 0.7), generator.uniform(0.2, 0.6)
    habit, bold = generator.normal(0.0, 0.4, 3), generator.uniform(-0.5, 0.5)
    brave = float(generator.choice([-1.0, 1.0])) * generator.uniform(0.6, 1.6)

    def initial(count: int, noise: np.random.Generator) -> States:
        income = money * np.exp(noise.normal(0.0, spread, count))
        limit = income * np.exp(noise.normal(-1.2, 0.5, count))
        return np.column_stack([income, limit, noise.beta(2.0, 3.0, count), noise.poisson(0.3, count)])

    def strain(states: States) -> Columns:
        income, limit, used, missed = states.T
        ratio = np.log(np.maximum(limit, 1e-9) / np.maximum(income, 1e-9)) + 1.2
        return np.column_stack([np.clip(ratio, -4.0, 4.0), 4.0 * used - 1.6, np.minimum(missed, 5.0)])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        income, limit, used, missed = states.T
        count = len(states)
        granted = np.minimum(limit * factors[taken], 5.0 * income)
        pressed = strain(np.column_stack([income, granted, used, missed]))
        owed = granted * used
        ended = noise.random(count) < sigmoid(risk + pressed @ weigh)
        rewards = np.where(ended, -lost * owed, interest * owed) / money * 100.0
        late_now = noise.random(count) < sigmoid(late + 0.8 * pressed[:, 0] + 0.5 * pressed[:, 1])
        missed = np.where(noise.random(count) < pays, np.maximum(missed - 1.0, 0.0), missed) + late_now
        wish = np.log(used / (1.0 - used)) * 0.8 - 0.2 * np.log(factors[taken]) + restless * noise.normal(size=count)
        used = np.clip(sigmoid(wish), 0.01, 0.99)
        income = income * np.exp(noise.normal(0.0, 0.05, count))
        return np.column_stack([income, granted, used, missed]), rewards, ended

    def behavior(states: States) -> Scores:
        wish = bold + strain(states) @ habit
        return floored(softmax(np.outer(squashed(wish, 1.5), np.array([-1.0, 0.0, 1.0]))), 0.2)

    def preference(states: States) -> Scores:
        pressed = strain(states)
        wish = brave + pressed[:, 1] * 0.3 - pressed[:, 0] * 0.5 - pressed[:, 2]
        return np.outer(wish, np.log(factors))

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=policy,
        discount=float(generator.choice([1.0, 0.98])),
        propensities=False,
    )
