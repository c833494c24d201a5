"""Patients: a ward whose patients die or leave, a rare treatment, a treatment that pays off later."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._development._parts import (
    Outcome,
    Rows,
    between,
    by_chance,
    conduct,
    count,
    habits,
    logistic,
    never,
    softmax,
)
from repbm.domains.worlds._world import World


def clinic(generator: np.random.Generator) -> World:
    """Patients who die or are discharged as their severity has it; survivors earn 1 in the last row, others nothing.

    The state is (day, severity, trend, age, others); whether the day is seen differs from world to world.
    """
    horizon, actions, others = count(generator, 5, 14), count(generator, 2, 4), count(generator, 0, 3)
    relief = np.linspace(0, generator.uniform(0.5, 1.2), actions)
    burden = np.linspace(0, generator.uniform(0.2, 0.6), actions)
    deaths, leaves = generator.uniform(3.0, 4.2), generator.uniform(2.0, 3.5)
    noise, aging = between(generator, 0.1, 0.4), generator.uniform(0.1, 0.5)
    first = 0 if by_chance(generator, 0.5) else 1

    def initial(number: int, draws: np.random.Generator) -> Rows:
        severity, trend = draws.normal(size=number), 0.3 * draws.normal(size=number)
        age = draws.uniform(30, 90, number)
        return np.column_stack([np.zeros(number), severity, trend, age, draws.normal(size=(number, others))])

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        number = len(states)
        day, severity, trend, age = states[:, :4].T
        # Treatment helps those who are ill and burdens those who are not.
        helped = relief[actions] * logistic(2 * severity) - burden[actions] * logistic(-2 * severity)
        trend = 0.6 * trend - 0.5 * helped + 0.5 * noise * draws.normal(size=number)
        severity = 0.95 * severity + trend + noise * draws.normal(size=number)
        hazard = logistic(1.5 * severity - deaths + aging * (age - 60) / 15)
        dead = draws.random(number) < hazard
        left = ~dead & (draws.random(number) < logistic(-1.5 * severity - leaves))
        last = day + 1 >= horizon
        survived = left | (last & ~dead)
        following = np.column_stack([day + 1, severity, trend, age, states[:, 4:]])
        return following, survived.astype(np.float64), dead | left | last

    def observe(states: Rows) -> Rows:
        return states[:, first:]

    def scores(seen: Rows) -> Rows:
        severity = seen[:, 1 - first, None]
        return relief * logistic(2 * severity) - burden * logistic(-2 * severity)

    behavior, policy = conduct(generator, scores, observe(initial(512, generator)), (horizon + 1) // 2)
    return World(
        horizon,
        actions,
        initial,
        step,
        lambda states: behavior(observe(states)),
        policy,
        observe,
        last_state=by_chance(generator, 0.5),
    )


def rare_action(generator: np.random.Generator) -> World:
    """Where a patient is in danger one action helps much; it was taken there once in 20 to 100 times."""
    horizon, actions, columns = count(generator, 1, 5), count(generator, 2, 4), count(generator, 1, 5)
    rare, wanted = generator.uniform(0.01, 0.05), generator.uniform(0.5, 1.0)
    wanted = 1.0 if by_chance(generator, 1 / 3) else wanted
    line, help_, noise = generator.uniform(0.5, 1.0), generator.uniform(0.8, 1.8), between(generator, 0.1, 0.5)
    pushes = 0.3 * generator.normal(size=actions)

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return draws.normal(size=(number, columns))

    sample = initial(512, generator)
    habit = habits(generator, actions, sample, 0.6)

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        danger = states[:, 0] > line
        change = pushes[actions] - help_ * (danger & (actions == 0))
        following = 0.9 * states + noise * draws.normal(size=states.shape)
        following[:, 0] += change
        rewards = -np.maximum(following[:, 0], 0) + 0.2 * draws.normal(size=len(states))
        return following, rewards, never(len(states))

    def shifted(chances: Rows, danger: np.ndarray, probability: float) -> Rows:
        """The same choice among the other actions, but action 0 with this probability where there is danger."""
        rest = chances * (np.arange(chances.shape[1]) > 0)
        rest *= (1 - probability) / rest.sum(axis=1, keepdims=True)
        rest[:, 0] = probability
        return np.where(danger[:, None], rest, chances)

    def behavior(states: Rows) -> Rows:
        return shifted(softmax(habit(states)), states[:, 0] > line, rare)

    def policy(seen: Rows) -> Rows:
        return shifted(softmax(habit(seen)), seen[:, 0] > line, wanted)

    return World(horizon, actions, initial, step, behavior, policy)


def delayed(generator: np.random.Generator) -> World:
    """Doses cost at once and add up in an observed sum, which pays off in the last steps; the step is seen."""
    horizon, actions, columns = count(generator, 6, 15), count(generator, 2, 4), count(generator, 1, 4)
    doses, costs = np.linspace(0, 1, actions), generator.uniform(0.05, 0.25)
    late, fading = count(generator, 1, 3), generator.uniform(0.9, 1.0)
    pay, enough = generator.uniform(1, 3), generator.uniform(0.4, 0.65) * (fading ** np.arange(horizon)).sum()
    noise, weights = between(generator, 0.05, 0.3), generator.normal(size=columns) / np.sqrt(columns)

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return np.column_stack([np.zeros((number, 2)), draws.normal(size=(number, columns))])

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        number = len(states)
        time, total = states[:, 0], fading * states[:, 1] + doses[actions]
        uptake = logistic(states[:, 2:] @ weights)
        benefit = pay * logistic(1.5 * (total - enough)) * (0.5 + uptake)
        rewards = np.where(time + 1 > horizon - late, benefit, 0.0) - costs * doses[actions]
        condition = 0.9 * states[:, 2:] + noise * draws.normal(size=(number, columns))
        following = np.column_stack([time + 1, total, condition])
        return following, rewards + 0.3 * noise * draws.normal(size=number), time + 1 >= horizon

    def scores(seen: Rows) -> Rows:
        return (0.3 + seen[:, 2:] @ weights)[:, None] * doses

    behavior, policy = conduct(generator, scores, initial(512, generator), horizon)
    return World(horizon, actions, initial, step, behavior, policy, last_state=by_chance(generator, 0.7))
