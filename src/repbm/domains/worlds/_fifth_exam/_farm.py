"""Farms: a herd that is led from field to field, nitrogen that comes late, and calves that look dull."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fifth_exam._choices import adopting, as_usual, asked, favoring, there
from repbm.domains.worlds._fifth_exam._parts import (
    Chances,
    Codes,
    Result,
    Rows,
    answers,
    at_least,
    certain,
    chance,
    columns,
    integer,
    leaves,
    loyal,
    mostly,
    never,
    sigmoid,
)
from repbm.domains.worlds._world import World


def pasture_rotation(generator: np.random.Generator) -> World:
    """A herd grazes one of two to four fields each day of a season of 40 to 80 days; grass grows back in the others.

    Columns: grass of each field (kg a hectare), rain (mm), the day, and the field that the herd is in. Rewards: milk.
    """
    fields, horizon = integer(generator, 2, 4), integer(generator, 40, 80)
    grows, most = generator.uniform(0.03, 0.07, fields), generator.uniform(2600.0, 3600.0, fields)
    eats, half = generator.uniform(120.0, 220.0), generator.uniform(600.0, 1200.0)
    milk, walk = generator.uniform(0.1, 0.2), generator.uniform(0.5, 3.0)
    tramples, wets = generator.uniform(0.0, 0.05), generator.uniform(0.02, 0.05)
    bare, stays = generator.uniform(1000.0, 1600.0), generator.uniform(0.5, 0.85)
    keen, least = generator.uniform(0.5, 0.75), generator.uniform(0.035, 0.06)
    other, rule, days = generator.uniform(900.0, 2000.0), chance(generator), float(horizon)
    discount = float(generator.choice([1.0, 0.99, 0.97]))

    def initial(count: int, noise: np.random.Generator) -> Rows:
        grass = np.clip(noise.normal(1900.0, 400.0, (count, fields)), 600.0, 2600.0)
        return columns(grass, noise.exponential(3.0, count), np.zeros(count), noise.integers(fields, size=count))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        grass, rain, day, before = states[:, :fields], states[:, fields], states[:, fields + 1], states[:, -1]
        count, here = len(states), np.eye(fields)[taken]
        there_is = grass[np.arange(count), taken]
        eaten = eats * there_is**2 / (half**2 + there_is**2) * np.exp(0.08 * noise.normal(size=count))
        warm = 1.0 + 0.4 * np.sin(2.0 * np.pi * day / days)
        growth = grows * grass * (1.0 - grass / most) * (warm * (0.7 + wets * np.minimum(rain, 15.0)))[:, None]
        trodden = (tramples * (rain > 8.0))[:, None] * grass * here
        grass = grass + growth * (1.0 - 0.5 * here) - here * eaten[:, None] - trodden
        grass = np.clip(grass + 25.0 * noise.normal(size=grass.shape), 200.0, None)
        rewards = milk * eaten - walk * (taken != before)
        rain = np.where(noise.random(count) < 0.4, noise.exponential(6.0, count), 0.3 * rain)
        return columns(grass, rain, day + 1.0, taken), rewards, never(states)

    def tallest(seen: Rows) -> Codes:
        return seen[:, :fields].argmax(axis=1)

    def herd(seen: Rows) -> Codes:
        return seen[:, -1].astype(np.int64)

    def patient(seen: Rows) -> Codes:
        now = seen[np.arange(len(seen)), herd(seen)]
        return np.where(now > other, herd(seen), tallest(seen))

    def custom(seen: Rows) -> Chances:
        enough = seen[np.arange(len(seen)), herd(seen)] > bare
        return np.where(enough[:, None], staying(seen), moving(seen))

    moving = mostly(tallest, fields, keen)
    staying = loyal(moving, herd, stays)
    usual = at_least(custom, least)
    better = certain(patient if rule else tallest, fields)
    world = replace(as_usual(horizon, usual, initial, step), discount=discount)
    return asked(world, favoring(usual, better, 2.0), generator, 0.1, 0.6)


def slow_nitrogen(generator: np.random.Generator) -> World:
    """Fertilizer turns from one form to the next before the crop has it, and rain may carry it off: late effects.

    Columns: urea, ammonium and nitrate in the soil (kg a hectare), the crop (t), rain forecast (mm), and the week.
    The crop is paid for in the last weeks. The log has no propensities.
    """
    actions, horizon = integer(generator, 2, 4), integer(generator, 8, 14)
    doses = np.linspace(0.0, 60.0, actions)
    first, second = generator.uniform(0.3, 0.6), generator.uniform(0.25, 0.5)
    takes, washes = generator.uniform(0.2, 0.35), generator.uniform(0.004, 0.012)
    yields, sated = generator.uniform(0.05, 0.1), generator.uniform(8.0, 14.0)
    price, cost, fine = generator.uniform(100.0, 180.0), generator.uniform(0.5, 1.2), generator.uniform(0.2, 1.5)
    table = generator.dirichlet(np.linspace(2.5, 1.0, actions), 8)
    early, poor = generator.uniform(3.0, 6.0), generator.uniform(30.0, 60.0)
    least, until = generator.uniform(0.04, 0.07), generator.uniform(0.3, 0.7) * horizon
    frugal, dry = chance(generator), generator.uniform(10.0, 20.0)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        soil = noise.gamma(4.0, 5.0, (count, 3)) * [0.3, 0.6, 1.0]
        return columns(soil, noise.gamma(16.0, 0.05, count), noise.gamma(2.0, 8.0, count), np.zeros(count))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        urea, ammonium, nitrate, crop, rain, week = states.T
        count, given = len(states), doses[taken]
        washed = nitrate * np.minimum(washes * rain * np.exp(0.3 * noise.normal(size=count)), 0.7)
        got = takes * (nitrate - washed) * (1.0 - np.exp(-crop))
        crop = crop * np.exp(0.02 * noise.normal(size=count)) + yields * got * np.maximum(1.0 - crop / sated, -0.1)
        crop = np.maximum(crop, 0.05)
        nitrate = np.maximum(nitrate - washed - got, 0.0) + second * ammonium
        ammonium = (1.0 - second) * ammonium + first * urea
        urea = (1.0 - first) * urea + given
        harvest = np.where(week >= horizon - 2.0, 0.5 * price * crop, 0.0)
        rewards = harvest - cost * given - 15.0 * (given > 0.0) - fine * washed
        return columns(urea, ammonium, nitrate, crop, noise.gamma(2.0, 8.0, count), week + 1.0), rewards, never(states)

    def sort(seen: Rows) -> Codes:
        return answers(seen[:, 5] < early, seen[:, 0] + seen[:, 1] + seen[:, 2] < poor, seen[:, 4] < dry)

    def wise(seen: Rows) -> Codes:
        stock = seen[:, 0] + seen[:, 1] + 0.7 * seen[:, 2]
        needs = (stock < (40.0 if frugal else 90.0)) & (seen[:, 5] < until)
        return np.where(needs, actions - 1, 0)

    usual = at_least(leaves(sort, table), least)
    better = certain(wise, actions)
    change = adopting(usual, better)
    if frugal:
        change = there(usual, lambda seen: seen[:, 5] >= 0.4 * horizon, change)
    world = replace(as_usual(horizon, usual, initial, step), propensities=False)
    return asked(world, change, generator)


def calf_barn(generator: np.random.Generator) -> World:
    """The herdsman treats calves that look dull to him; dull calves do badly anyway. Dullness lasts, and is in no
    column: the log, which has no propensities, cannot tell what a rule for all calves would do.

    Seen: weight (kg), milk drunk (l), body warmth (degrees), and the week. Not seen: how dull, in three grades.
    """
    actions, horizon = integer(generator, 2, 3), integer(generator, 4, 10)
    strong = np.linspace(0.0, 1.0, actions)
    dull = generator.dirichlet([5.0, 3.0, 3.0])
    gains, slows = generator.uniform(4.0, 6.0), generator.uniform(1.5, 2.5)
    cures, helps_dull = generator.uniform(0.0, 0.6), generator.uniform(0.0, 0.5)
    price, cost = generator.uniform(2.0, 4.0), generator.uniform(0.5, 2.0)
    sees, base = generator.uniform(1.6, 2.4), generator.uniform(-2.6, -1.8)
    loud, warms = generator.uniform(1.0, 2.5), generator.uniform(0.0, 0.1)
    heeds, least = generator.normal(0.0, 0.4, 2), generator.uniform(0.04, 0.07)
    more = chance(generator, 0.6)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        grade = noise.choice(3, count, p=dull)
        weight, drunk = noise.normal(55.0, 9.0, count), noise.normal(6.0, 1.0, count) - 0.1 * grade
        return columns(weight, drunk, noise.normal(38.7, 0.3, count) + warms * grade, np.zeros(count), grade)

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        weight, drunk, warmth, week, grade = states.T
        count, dose = len(states), strong[taken]
        gained = gains - slows * grade + dose * (cures + helps_dull * grade) + 0.4 * (drunk - 6.0)
        gained = gained + loud * noise.normal(size=count)
        rewards = price * gained - cost * dose
        drunk = np.clip(0.5 * drunk + 3.0 - 0.05 * grade + 0.1 * dose + 0.7 * noise.normal(size=count), 0.5, 12.0)
        warmth = 38.7 + 0.5 * (warmth - 38.7) + 0.5 * warms * grade - 0.1 * dose + 0.25 * noise.normal(size=count)
        return columns(np.maximum(weight + gained, 25.0), drunk, warmth, week + 1.0, grade), rewards, never(states)

    def treats(urge: np.ndarray) -> Chances:
        """Nothing for those who look well; most of it, and the stronger, for the others."""
        some = sigmoid(urge)
        if actions == 2:
            return np.column_stack([1.0 - some, some])
        return np.column_stack([1.0 - some, some * (1.0 - 0.6 * some), 0.6 * some**2])

    def urge(seen: Rows) -> np.ndarray:
        return np.clip(heeds[0] * (6.0 - seen[:, 1]) + 2.0 * heeds[1] * (seen[:, 2] - 38.7), -1.5, 1.5)

    def behavior(states: Rows) -> Chances:
        return at_least(lambda rows: treats(base + urge(rows) + sees * rows[:, 4]), least)(states)

    blind = at_least(lambda seen: treats(base + urge(seen) + sees * float(dull @ [0.0, 1.0, 2.0])), least)
    world = replace(
        as_usual(horizon, blind, initial, step, seen=4), behavior=behavior, propensities=False, answerable=False
    )
    wish = actions - 1 if more else 0
    change = adopting(blind, certain(lambda seen: np.full(len(seen), wish), actions))
    return replace(world, policy=change(generator.uniform(0.55, 0.85)))
