"""Episodes that the world ends: a search for work that is paid at its end, and grafts that last or fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._third_exam._decisions import asked, firm, leanings, seen_whole, slip_of, weighing
from repbm.domains.worlds._third_exam._parts import (
    Chances,
    Dress,
    Outcome,
    Sights,
    States,
    Taken,
    count_of,
    either,
    logistic,
    sign,
    within,
)
from repbm.domains.worlds._world import World


def job_search(generator: np.random.Generator) -> World:
    """Each month an offer may be taken, which ends the search and pays what the job is worth; some give up, unpaid.

    Components: skill, spirit, age, vacancies nearby, months so far. The log has no propensities, nor the state after
    the last month.
    """
    actions, horizon = count_of(generator, 2, 4), count_of(generator, 6, 14)
    teaches = np.sort(generator.uniform(0.0, 1.2, actions))
    holds = np.concatenate([[0.0], generator.uniform(0.2, 1.6, actions - 1)])
    cheers = generator.normal(0.1, 0.4, actions)
    base, quits = generator.uniform(-1.8, -0.8), generator.uniform(-3.5, -2.0)
    fades, sinks = generator.uniform(0.02, 0.1), generator.uniform(0.05, 0.2)
    wage, prime = generator.uniform(0.3, 0.7), generator.uniform(-0.5, 0.5)
    custom, lean = generator.normal(0.0, 0.6, (5, actions)), generator.normal(0.0, 0.5, (5, actions))
    sense, sharp = generator.uniform(0.0, 1.5), generator.uniform(1.5, 4.0)
    spread = np.array([1.0, 1.0, 1.0, 1.0, horizon / 2.0])
    dress = Dress.drawn(generator, 5)

    def initial(count: int, noise: np.random.Generator) -> States:
        skill, spirit = noise.normal(0.0, 1.0, count), noise.normal(0.3, 0.7, count)
        return np.column_stack(
            [skill, spirit, noise.uniform(-1.5, 1.5, count), noise.normal(size=count), np.zeros(count)]
        )

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        skill, spirit, age, vacancies, month = states.T
        count = len(states)
        chance = logistic(base + 0.7 * skill + 0.4 * spirit + 0.5 * vacancies - 0.3 * age**2 - holds[taken])
        found = noise.random(count) < chance
        gone = ~found & (noise.random(count) < logistic(quits - 0.9 * spirit + 0.5 * np.maximum(age, 0.0)))
        worth = np.exp(wage * skill + prime * age * (1.0 - 0.3 * age) + 0.3 * noise.normal(size=count))
        skill = within(skill - fades + teaches[taken] * np.exp(-0.5 * np.abs(skill)), 4.0)
        spirit = within(spirit - sinks + cheers[taken] + 0.25 * noise.normal(size=count), 3.0)
        vacancies = 0.85 * vacancies + 0.5 * noise.normal(size=count)
        return np.column_stack([skill, spirit, age, vacancies, month + 1.0]), np.where(found, worth, 0.0), found | gone

    def habit(sights: Sights) -> Chances:
        return (sights / spread) @ custom + sense * wish(sights)

    def wish(sights: Sights) -> Chances:
        unready = np.tanh(-sights[:, :1])
        return 0.7 * (unready * teaches * 2.0 - holds * (1.0 - unready) * 0.5) + 0.3 * np.tanh((sights / spread) @ lean)

    usual = weighing(lambda sights: sharp * habit(sights), slip_of(generator, horizon, 0.5, 0.9))
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    world = asked(world, dress, firm(habit, wish), generator, 0.05, 0.4)
    return replace(world, propensities=False, last_state=False)


def kidney_graft(generator: np.random.Generator) -> World:
    """At every visit the dose is lowered, kept or raised; too little and the graft is rejected, too much and
    infections end it. Grafts that last to the last visit count 1, the others 0. The log has no propensities.

    Components: drug level, rejection activity, infection, age of the donor, visits so far.
    """
    actions, horizon = 3, count_of(generator, 6, 12)
    jump, clears = generator.uniform(0.5, 1.1), generator.uniform(0.6, 0.9)
    protects, opens = generator.uniform(0.4, 1.1), generator.uniform(0.2, 0.8)
    fails, infects = generator.uniform(-4.2, -2.6), generator.uniform(-5.0, -3.2)
    harsh, loud = generator.uniform(0.6, 1.4), generator.uniform(0.2, 0.5)
    aim, pull = generator.normal(0.0, 0.5), generator.uniform(0.6, 1.4)
    heed = generator.normal(0.5, 0.3, 2)
    other = generator.uniform(0.8, 1.6) * sign(generator)
    dress = Dress.drawn(generator, 5)

    def initial(count: int, noise: np.random.Generator) -> States:
        return np.column_stack([noise.normal(0.0, 0.8, (count, 4)) * [1.0, 0.7, 0.7, 1.2], np.zeros(count)])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        level, activity, infection, donor, visit = states.T
        count = len(states)
        level = within(clears * level + jump * (taken - 1.0) + loud * noise.normal(size=count), 4.0)
        activity = within(0.8 * activity - protects * np.tanh(level) + loud * noise.normal(size=count), 4.0)
        infection = within(0.7 * infection + opens * np.tanh(level - 0.3) + loud * noise.normal(size=count), 4.0)
        rejected = noise.random(count) < logistic(fails + harsh * activity + 0.4 * donor)
        septic = noise.random(count) < logistic(infects + harsh * infection + 0.5 * np.maximum(level, 0.0) ** 2)
        lost, last = rejected | septic, visit >= horizon - 1
        rewards = np.where(last & ~lost, 1.0, 0.0)
        return np.column_stack([level, activity, infection, donor, visit + 1.0]), rewards, lost | last

    def push(sights: Sights, goal: float) -> Chances:
        level, activity, infection = sights.T[:3]
        urge = pull * (goal - level) + heed[0] * activity - heed[1] * infection
        return np.column_stack([-urge, np.full(len(urge), 0.4), urge])

    usual = weighing(lambda sights: within(push(sights, aim), 2.5), generator.uniform(0.05, 0.15))
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    rules = leanings(usual, lambda sights: 0.7 * (push(sights, aim + other) - 0.6 * push(sights, aim)))
    if either(generator, 0.3):
        rules = leanings(usual, lambda sights: 0.7 * push(sights, aim))
    return replace(asked(world, dress, rules, generator, 0.08, 0.5), propensities=False)
