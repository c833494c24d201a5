"""Patients: on dialysis, with a diary of their migraine, and with injections into the eye."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from repbm.domains.worlds._sixth_exam._parts import (
    Choice,
    Grid,
    Mask,
    Moved,
    Table,
    codes,
    firm,
    leaning,
    loose,
    no_end,
    occurs,
    rise,
    soft,
    table,
    tuned,
    whole,
)
from repbm.domains.worlds._world import World


def dialysis_sessions(generator: np.random.Generator) -> World:
    """Little, some or much fluid is taken from a patient in every session. Too much lets the pressure crash, and who
    has crashed stays weak until the pressure is well above. With low pressure nobody takes much, nor would the policy.

    Columns: fluid in excess (kg), pressure (mmHg), potassium, a flag: weak, and the session. Patients change to other
    wards, the weak more often: the log loses sight of them.
    """
    horizon = whole(generator, 6, 11)
    liters = np.array([0.8, 1.8, 3.0]) * generator.uniform(0.8, 1.2)
    refills, falls = generator.uniform(0.3, 0.5), generator.uniform(10.0, 22.0)
    low, above = generator.normal(95.0, 3.0), generator.uniform(10.0, 25.0)
    drinks, burden = generator.uniform(1.3, 2.2), generator.uniform(1.0, 4.0)
    harm, bar = generator.uniform(5.0, 25.0), generator.normal(108.0, 4.0)
    eager, cautious = generator.uniform(0.4, 1.2), generator.uniform(0.2, 0.8)
    drops_out, least = generator.uniform(0.01, 0.03), generator.uniform(0.05, 0.08)
    side, spares = generator.choice([-1.0, 1.0]), generator.uniform(0.0, 0.4)

    def initial(count: int, noise: np.random.Generator) -> Table:
        fluid, pressure = noise.gamma(6.0, 0.45, count), noise.normal(128.0, 14.0, count)
        return table(fluid, pressure, noise.normal(5.0, 0.6, count), noise.random(count) < 0.1, np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        fluid, pressure, potassium, weak, session = states.T
        count = len(states)
        took = np.minimum(liters[taken] * (1.0 - 0.35 * weak), fluid + 0.5)
        fallen = (
            pressure - falls * np.maximum(took - refills * fluid, 0.0) - 6.0 * weak + 7.0 * noise.normal(size=count)
        )
        crashed = fallen < low
        weak = crashed | ((weak > 0.5) & (fallen < low + above))
        rewards = -harm * crashed - 2.0 * (potassium > 6.0)
        fluid = np.clip(fluid - took * (1.0 - 0.5 * crashed) + drinks * noise.gamma(8.0, 0.125, count), 0.0, 8.0)
        rewards = rewards - burden * np.maximum(fluid - 2.0, 0.0) ** 1.5
        goal = 124.0 + 4.0 * (fluid - 2.0) - 10.0 * weak
        pressure = np.clip(0.4 * pressure + 0.6 * goal + 9.0 * noise.normal(size=count), 70.0, 220.0)
        potassium = np.clip(0.5 * potassium + 2.9 - 0.2 * took + 0.5 * noise.normal(size=count), 2.5, 9.0)
        return table(fluid, pressure, potassium, weak, session + 1.0), rewards, no_end(states)

    def steady(seen: Table) -> Mask:
        return seen[:, 1] >= bar

    def likes(seen: Table) -> Grid:
        thirst = np.clip(seen[:, 0] - 2.7, -2.0, 2.5)
        return np.column_stack([-eager * thirst + cautious * seen[:, 3], np.full(len(seen), 0.6), eager * thirst])

    def wish(seen: Table) -> Grid:
        full = side * np.tanh(seen[:, 0] - 2.5) + 0.9 * np.tanh(2.0 * (seen[:, 2] - 4.8)) - spares * seen[:, 3]
        return np.column_stack([-full, np.zeros(len(seen)), full])

    usual = soft(likes, least, steady)
    world = World(horizon, 3, initial, step, behavior=usual, policy=usual)
    world = tuned(world, leaning(usual, wish, 5.0), generator, 0.06, 0.4)
    return replace(world, lost=lambda states: drops_out + 0.05 * states[:, 3])


def migraine_diary(generator: np.random.Generator) -> World:
    """A day with pain is borne, or treated with a common or a strong drug. Drugs lose their effect and hurt later, by
    what has built up unseen, as is how prone a patient is: both drive pain, and decisions only through it.

    Seen: pain (0 to 10), hours of sleep, days with drugs, and the day. The log has no propensities, and loses sight of
    those who stop to write, in pain sooner.
    """
    horizon = whole(generator, 5, 10)
    prone, builds = generator.uniform(0.5, 1.5), generator.uniform(0.2, 0.7)
    clears, hurts = generator.uniform(0.6, 0.85), generator.uniform(0.4, 1.2)
    eases = np.array([0.0, 2.2, 4.4]) * generator.uniform(0.7, 1.2)
    holds, tired = generator.uniform(0.4, 0.7), generator.uniform(0.2, 0.7)
    fees = np.array([0.0, 0.1, 0.6]) * generator.uniform(0.5, 1.5)
    bears, counts = generator.normal(3.5, 0.6), generator.uniform(0.0, 0.2)
    least, gives_up = generator.uniform(0.05, 0.09), generator.uniform(-4.2, -3.4)
    tends = generator.normal([0.0, 0.6], 1.0)

    def initial(count: int, noise: np.random.Generator) -> Table:
        nature = noise.gamma(2.0, 0.7, count)
        pain = np.clip(np.rint(2.0 + prone * nature + 1.5 * noise.normal(size=count)), 0.0, 10.0)
        sleep, built = np.clip(noise.normal(7.0, 1.2, count), 2.0, 11.0), noise.exponential(0.5, count)
        return table(pain, sleep, noise.binomial(5, 0.2, count), np.zeros(count), nature, built)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        pain, sleep, used, day, nature, built = states.T
        count = len(states)
        relief = eases[taken] * np.exp(-0.4 * built) * np.minimum(pain / 4.0, 1.0)
        built = np.minimum(clears * built + builds * taken, 4.0)
        short = np.maximum(6.5 - sleep, 0.0)
        goal = holds * pain + (1.0 - holds) * (1.0 + 1.6 * prone * nature) + tired * short + hurts * built - relief
        pain = np.clip(np.rint(goal + 1.1 * noise.normal(size=count)), 0.0, 10.0)
        rewards = -pain - fees[taken]
        sleep = np.clip(7.0 + 0.4 * (sleep - 7.0) - 0.08 * pain + 1.0 * noise.normal(size=count), 2.0, 11.0)
        return table(pain, sleep, used + (taken > 0), day + 1.0, nature, built), rewards, no_end(states)

    def likes(seen: Table) -> Grid:
        suffers = np.clip(0.6 * (seen[:, 0] - bears), -2.0, 2.5) - counts * seen[:, 2]
        return np.column_stack([np.full(len(seen), 0.3), suffers, 1.2 * suffers - 0.8])

    def wish(seen: Table) -> Grid:
        much = rise(seen[:, 0] - bears - 0.5) - 0.4
        return np.column_stack([np.zeros(len(seen)), tends[0] * much - 0.3, tends[1] * much + 0.2])

    usual = soft(likes, least)
    world = World(
        horizon,
        3,
        initial,
        step,
        behavior=lambda states: usual(states[:, :4]),
        policy=usual,
        observe=lambda states: states[:, :4],
        propensities=False,
    )
    world = tuned(world, leaning(usual, wish, 4.0), generator, 0.06, 0.4)
    return replace(world, lost=lambda states: rise(gives_up + 0.15 * states[:, 0]))


def eye_injections(generator: np.random.Generator) -> World:
    """At every visit the time to the next injection is made shorter, kept, or made longer; fluid that stays too long
    leaves a scar, for good. What counts are the letters read at the end. The policy leaves nothing to chance.

    Columns: thickness of the retina, letters, weeks between visits, kind of lesion (a code), a flag: scar, and the
    visit. The log has neither propensities nor the last state.
    """
    horizon, kinds = whole(generator, 3, 5), whole(generator, 3, 6)
    holds, leaks = generator.uniform(5.0, 11.0, kinds), generator.uniform(10.0, 25.0)
    dries, wet = generator.uniform(0.4, 0.7), generator.uniform(380.0, 430.0)
    dims, heals = generator.uniform(0.02, 0.05), generator.uniform(0.8, 2.5)
    scars, steps = generator.uniform(6.0, 14.0), generator.choice([2.0, 4.0])
    marks, sure = np.array([300.0, 345.0]) + generator.normal(0.0, 8.0, 2), generator.uniform(0.64, 0.78)
    moved = generator.uniform(25.0, 60.0) * generator.choice([-1.0, 1.0])
    kept, tires = generator.uniform(10.0, 14.0), generator.uniform(0.0, 0.15)

    def initial(count: int, noise: np.random.Generator) -> Table:
        thick, letters = noise.normal(345.0, 45.0, count), np.clip(noise.normal(60.0, 10.0, count), 10.0, 85.0)
        weeks = noise.choice([4.0, 6.0, 8.0], count)
        return table(thick, letters, weeks, noise.integers(kinds, size=count), np.zeros((count, 2)))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        thick, letters, weeks, kind, scar, visit = states.T
        count = len(states)
        weeks = np.clip(weeks + steps * (taken - 1.0), 4.0, 16.0)
        over = np.maximum(weeks - holds[codes(kind)], 0.0)
        thick = 275.0 + dries * (thick - 275.0) + leaks * over * (1.0 + 0.5 * scar) + 16.0 * noise.normal(size=count)
        thick = np.clip(thick, 200.0, 700.0)
        fresh = (thick > wet) & (scar < 0.5) & occurs(np.full(count, 0.5), noise)
        dimmed = dims * np.maximum(thick - 330.0, 0.0) + scars * fresh + tires * np.maximum(8.0 - weeks, 0.0)
        better = heals * (thick < 300.0) * (1.0 - scar)
        letters = np.clip(letters + better - dimmed + 2.0 * noise.normal(size=count), 0.0, 95.0)
        scar = np.maximum(scar, fresh)
        rewards = np.where(visit >= horizon - 1.0, letters, 0.0)
        return table(thick, letters, weeks, kind, scar, visit + 1.0), rewards, no_end(states)

    def protocol(by: float) -> Callable[[Table], Choice]:
        def pick(seen: Table) -> Choice:
            dry, long = seen[:, 0] < marks[0] + by * moved, seen[:, 2] >= kept
            return np.where(seen[:, 0] > marks[1] + by * moved, 0, np.where(dry & ~long, 2, 1))

        return pick

    usual = loose(protocol(0.0), 3, sure)
    world = World(horizon, 3, initial, step, behavior=usual, policy=usual, propensities=False, last_state=False)
    return tuned(world, lambda by: firm(protocol(by), 3), generator, 0.04, 0.15)
