"""What logs do not show: a temper that stays, a leak behind its gauges, distress that the visitor sees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._third_exam._decisions import asked, ladder, leanings, shifted, slip_of, weighing, width_of
from repbm.domains.worlds._third_exam._parts import (
    Chances,
    Dress,
    Numbers,
    Outcome,
    Sights,
    States,
    Taken,
    count_of,
    going_on,
    logistic,
    sign,
    within,
)
from repbm.domains.worlds._world import World


def driver_coaching(generator: np.random.Generator) -> World:
    """How rash a driver is stays the same and is in no column, yet decides accidents and what coaching does.

    Seen: hard braking, speeding, and distance; coaches go by these too. The log has no propensities.
    """
    actions, horizon = count_of(generator, 2, 4), count_of(generator, 5, 12)
    effort = np.linspace(0.0, 1.0, actions)
    shows, keeps = generator.uniform(0.3, 0.8, 2), generator.uniform(0.4, 0.8)
    works, backfires = generator.uniform(0.5, 1.2), generator.uniform(0.1, 0.5)
    base, rash_cost = generator.uniform(-2.5, -1.2), generator.uniform(0.3, 0.7)
    damage, wage = generator.uniform(1.0, 3.0), generator.uniform(0.05, 0.4)
    loud, custom = generator.uniform(0.3, 0.7), generator.normal(0.3, 0.4, 3)
    tend = generator.uniform(0.4, 1.2) * sign(generator)
    dress = Dress.drawn(generator, 3)

    def initial(count: int, noise: np.random.Generator) -> States:
        rash, far = noise.normal(size=count), noise.gamma(4.0, 0.25, count)
        signs = np.outer(rash, shows) + 0.8 * noise.normal(size=(count, 2))
        return np.column_stack([signs, far, rash])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        signs, far, rash = states[:, :2], states[:, 2], states[:, 3]
        count, coached = len(states), effort[taken]
        taught = coached * (works - backfires * np.tanh(rash))
        signs = keeps * signs + np.outer((1.0 - keeps) * rash, shows) * 1.5 - taught[:, None]
        signs = signs + loud * noise.normal(size=signs.shape)
        rate = np.exp(np.minimum(base + rash_cost * rash + 0.4 * signs.sum(axis=1), 0.7)) * far
        rewards = far - damage * noise.poisson(rate) - wage * coached
        far = np.clip(0.7 * far + 0.3 * noise.gamma(4.0, 0.25, count), 0.05, 5.0)
        return np.column_stack([signs, far, rash]), rewards, going_on(states)

    def urge(sights: Sights) -> Numbers:
        return sights @ custom - custom[2]

    def wish(sights: Sights) -> Chances:
        return np.outer(tend + np.tanh(sights[:, 0] + sights[:, 1]), effort)

    usual = weighing(lambda sights: np.outer(within(urge(sights), 2.0), effort), generator.uniform(0.1, 0.25))
    world = World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=lambda states: usual(states[:, :3]),
        policy=lambda seen: usual(dress.off(seen)),
        observe=lambda states: dress.on(states[:, :3]),
        propensities=False,
    )
    return asked(world, dress, leanings(usual, wish), generator, 0.08, 0.5)


def leak_search(generator: np.random.Generator) -> World:
    """A leak grows unseen; gauges read it with errors, new ones every day, and crews are sent by what they read.

    Seen: pressure and night flow, both with errors, and the age of the pipe. State: the same, and the leak itself.
    """
    actions, horizon = count_of(generator, 2, 3), count_of(generator, 7, 15)
    crew = np.linspace(0.0, 1.0, actions)
    grows, bursts = generator.uniform(0.05, 0.2), generator.uniform(0.03, 0.12)
    finds, mends = generator.uniform(0.5, 0.9), generator.uniform(0.6, 0.95)
    errors, lost = generator.uniform(0.3, 0.8, 2), generator.uniform(0.4, 1.0)
    wage, cuts = generator.uniform(0.1, 0.6), np.sort(generator.uniform(0.8, 2.2, actions - 1))
    trust, moved = generator.uniform(0.3, 0.7), generator.uniform(0.2, 0.6) * sign(generator)
    dress = Dress.drawn(generator, 3)

    def read(leak: Numbers, age: Numbers, noise: np.random.Generator) -> States:
        pressure = -leak + errors[0] * noise.normal(size=len(leak))
        flow = leak + errors[1] * noise.normal(size=len(leak)) + 0.2 * age
        return np.column_stack([pressure, flow, age, leak])

    def initial(count: int, noise: np.random.Generator) -> States:
        return read(noise.exponential(0.7, count), noise.uniform(0.0, 2.0, count), noise)

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        age, leak = states[:, 2], states[:, 3]
        count, sent = len(states), crew[taken]
        found = noise.random(count) < finds * sent * (1.0 - np.exp(-2.0 * leak))
        leak = np.where(found, (1.0 - mends) * leak, leak)
        burst = noise.random(count) < bursts * (0.5 + age)
        leak = np.minimum(leak * (1.0 + grows) + burst * noise.exponential(1.0, count) + 0.02, 6.0)
        rewards = -lost * leak - wage * sent
        return read(leak, age, noise), rewards, going_on(states)

    def alarm(sights: Sights) -> Numbers:
        return trust * sights[:, 1] - (1.0 - trust) * sights[:, 0]

    usual = ladder(alarm, cuts, width_of(generator, horizon), slip_of(generator, horizon, 0.4, 0.8))
    world = World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=lambda states: usual(states[:, :3]),
        policy=lambda seen: usual(dress.off(seen)),
        observe=lambda states: dress.on(states[:, :3]),
    )
    return asked(world, dress, shifted(alarm, cuts, moved), generator, 0.06, 0.5)


def home_visits(generator: np.random.Generator) -> World:
    """Visitors come more often to families whose distress they see; nobody writes it down, and it decides much.

    Seen: school days missed, income, and children. State: the same, and distress. The log has no propensities.
    """
    actions, horizon = count_of(generator, 2, 3), count_of(generator, 3, 9)
    visits = np.linspace(0.0, 1.0, actions)
    lasts, eases = generator.uniform(0.7, 1.0), generator.uniform(0.2, 0.7)
    bears, misses = generator.uniform(0.8, 1.6), generator.uniform(0.2, 0.5)
    wage, loud = generator.uniform(0.05, 0.3), generator.uniform(0.3, 0.6)
    heeds, custom = generator.uniform(1.2, 2.4), generator.normal(0.2, 0.3, 3)
    tend = generator.uniform(0.5, 1.2) * sign(generator)
    dress = Dress.drawn(generator, 3)

    def initial(count: int, noise: np.random.Generator) -> States:
        distress = noise.normal(size=count)
        seen = noise.normal(size=(count, 2)) + np.outer(distress, [0.3, -0.2])
        return np.column_stack([seen, noise.poisson(1.5, count), distress])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        missed, income, children, distress = states.T
        count, came = len(states), visits[taken]
        rewards = 1.0 - bears * logistic(1.5 * distress + 0.4 * missed - 0.3 * income) - wage * came
        rewards = rewards + 0.2 * noise.normal(size=count)
        missed = within(0.6 * missed + misses * distress - eases * came + loud * noise.normal(size=count), 5.0)
        income = 0.9 * income + 0.3 * noise.normal(size=count)
        distress = lasts * (distress - eases * came) + np.sqrt(1.0 - lasts**2) * noise.normal(size=count)
        return np.column_stack([missed, income, children, distress]), rewards, going_on(states)

    def rule(sights: Sights, seen_distress: Numbers) -> Chances:
        return np.outer(within(sights @ custom - 0.3 + heeds * seen_distress, 2.5), visits)

    def behavior(states: States) -> Chances:
        return weighing(lambda sights: rule(sights, states[:, 3]), 0.1)(states[:, :3])

    blind = weighing(lambda sights: rule(sights, np.zeros(len(sights))), 0.1)
    world = World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: blind(dress.off(seen)),
        observe=lambda states: dress.on(states[:, :3]),
        propensities=False,
    )
    rules = leanings(blind, lambda sights: np.outer(tend + 0.3 * np.tanh(sights[:, 0]), visits))
    return replace(asked(world, dress, rules, generator, 0.06, 0.4), answerable=False)
