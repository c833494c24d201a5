"""Works: concrete that is mixed for the day, a turbine full of sensors, and books that sell or do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fifth_exam._choices import adopting, as_usual, asked, favoring, sparing
from repbm.domains.worlds._fifth_exam._parts import (
    Chances,
    Codes,
    Column,
    Flags,
    Places,
    Result,
    Rows,
    Rule,
    at_least,
    certain,
    chance,
    columns,
    happens,
    integer,
    likeness,
    never,
    sigmoid,
    stairs,
)
from repbm.domains.worlds._world import World


def concrete_pour(generator: np.random.Generator) -> World:
    """One decision a pour: nothing is added to the concrete, or a drug against cold, heat, stiffness or frost.

    Columns: warmth, humidity (percent), minutes in the truck, age of the cement (days), and a flag: poured at night.
    What is strong enough is paid, the rest is torn out. The log has no propensities.
    """
    actions = integer(generator, 3, 5)
    base, spec = generator.uniform(31.0, 36.0), generator.uniform(26.0, 30.0)
    cold, hot, long = generator.uniform(4.0, 8.0), generator.uniform(24.0, 29.0), generator.uniform(50.0, 80.0)
    hits, rescue = generator.uniform(0.4, 0.9, 3), generator.uniform(0.6, 0.95, 3)
    misfit, ages = generator.uniform(0.5, 3.0, 4), generator.uniform(0.02, 0.08)
    pays, cost = generator.uniform(120.0, 260.0), np.concatenate([[0.0], generator.uniform(4.0, 20.0, 4)])[:actions]
    torn, loud = generator.uniform(100.0, 300.0), generator.uniform(0.05, 0.12)
    homes = np.array([[15.0, 40.0], [4.0, 40.0], [29.0, 45.0], [17.0, 80.0], [1.0, 60.0]])[:actions]
    homes = homes + generator.normal(0.0, 1.0, homes.shape) * [4.0, 12.0]
    reach, least = generator.uniform(0.6, 1.2), generator.uniform(0.035, 0.05)
    how = integer(generator, 0, 2)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        night, season = noise.random(count) < 0.25, noise.uniform(0.0, 2.0 * np.pi, count)
        warmth = 14.0 + 10.0 * np.sin(season) - 5.0 * night + 4.0 * noise.normal(size=count)
        humid = np.clip(85.0 - 1.2 * warmth + 12.0 * noise.normal(size=count), 15.0, 100.0)
        return columns(warmth, humid, noise.gamma(6.0, 8.0, count), noise.exponential(20.0, count), night)

    def troubles(seen: Rows) -> Places:
        """How cold, how hot, how stiff it gets: none within limits, and more from there on."""
        warmth, humid, minutes = seen[:, 0], seen[:, 1], seen[:, 2]
        stiff = np.maximum(minutes - long + 0.8 * np.maximum(warmth - 20.0, 0.0), 0.0) / 6.0
        hot_dry = np.maximum(warmth - hot, 0.0) + 0.15 * np.maximum(40.0 - humid, 0.0)
        return np.column_stack([np.maximum(cold - warmth, 0.0), hot_dry, stiff])

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        met, count = troubles(states), len(states)
        left = met * hits
        for code in range(1, min(actions, 4)):
            left[:, code - 1] *= np.where(taken == code, 1.0 - rescue[code - 1], 1.0)
        needless = np.zeros(count)
        for code in range(1, min(actions, 4)):
            needless += misfit[code - 1] * ((taken == code) & (met[:, code - 1] == 0.0))
        if actions == 5:
            left[:, 0] *= np.where(taken == 4, 0.5, 1.0)
            needless += misfit[3] * (taken == 4)
        strength = base - np.minimum(left.sum(axis=1), 18.0) - needless - ages * np.minimum(states[:, 3], 90.0)
        strength = strength * noise.gamma(loud**-2, loud**2, count)
        rewards = pays * np.minimum(strength / spec, 1.1) - torn * (strength < 0.9 * spec) - cost[taken]
        return states, rewards, np.ones(count, dtype=bool)

    def place(seen: Rows) -> Places:
        return np.column_stack([seen[:, 0] / 10.0, seen[:, 2] / 30.0])

    def worst(seen: Rows) -> Codes:
        met = troubles(seen)
        code = np.where(met.max(axis=1) > 0.5, 1 + met.argmax(axis=1), 0)
        return np.where(code < actions, code, 0)

    usual = at_least(likeness(place, homes / [10.0, 30.0], reach), least)
    better = certain(worst, actions)
    changes = (lambda size: better), favoring(usual, better, 6.0), sparing(usual, 1, 0)
    world = replace(as_usual(1, usual, initial, step), propensities=False)
    return asked(world, changes[how], generator, 0.1, 0.6 if how else 0.15)


def turbine_sensors(generator: np.random.Generator) -> World:
    """A wind turbine runs, runs slower, or is greased, week by week; of 18 to 30 sensors two or three matter.

    The others drift in their own units, some together, one copies what matters badly, and one is heeded by habit for
    no reason. A breakdown ends the record. Rewards in thousands.
    """
    width, soft = integer(generator, 18, 30), chance(generator)
    horizon = integer(generator, 3, 8 if soft else 5)
    useless = width - 3
    units = 10.0 ** generator.uniform(-3.0, 3.0, useless)
    zeros, holds = units * generator.normal(0.0, 5.0, useless), generator.uniform(0.2, 0.95, useless)
    shared = generator.normal(0.0, 0.6, (2, useless))
    order = generator.permutation(width)
    wears, slower = generator.uniform(0.1, 0.25), generator.uniform(0.3, 0.7)
    greases, breaks = generator.uniform(0.4, 0.7), generator.uniform(-5.0, -4.0)
    wage, ruin = generator.uniform(600.0, 1800.0), generator.uniform(8000.0, 20000.0)
    marks, blur = np.sort(generator.normal([2.6, 4.2], 0.3)), generator.uniform(0.06, 0.2)
    trust, least = generator.uniform(-0.4, 0.4), generator.uniform(0.04, 0.07)
    early = generator.uniform(-1.0, 0.6)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        shakes, heat, wind = (
            noise.gamma(9.0, 0.3, count),
            noise.normal(55.0, 6.0, count),
            noise.weibull(2.0, count) * 8.0,
        )
        others = zeros + units * (noise.normal(size=(count, 2)) @ shared + noise.normal(size=(count, useless)))
        return columns(shakes, heat, wind, others)[:, order]

    def bare(seen: Rows) -> Rows:
        found = np.empty_like(seen)
        found[:, order] = seen
        return found

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        found, count = bare(states), len(states)
        shakes, heat, wind, others = found[:, 0], found[:, 1], found[:, 2], found[:, 3:]
        load = np.where(taken == 1, slower, 1.0) * np.minimum(wind / 10.0, 1.3)
        shakes = shakes * np.exp(wears * load + 0.08 * noise.normal(size=count)) * np.where(taken == 2, greases, 1.0)
        shakes = np.clip(shakes, 0.3, 12.0)
        heat = 0.6 * heat + 0.4 * (40.0 + 5.0 * shakes + 8.0 * load) + 2.0 * noise.normal(size=count)
        broken = happens(sigmoid(breaks + 0.6 * (shakes - 3.0) + 0.08 * (heat - 60.0)), noise)
        rewards = 4000.0 * load * np.where(taken == 2, 0.8, 1.0) - wage * (taken == 2) - ruin * broken
        news = noise.normal(size=(count, 2)) @ shared + noise.normal(size=(count, useless))
        others = zeros + holds * (others - zeros) + np.sqrt(1.0 - holds**2) * units * news
        others[:, 0] = zeros[0] + units[0] * (0.5 * shakes + 1.5 * noise.normal(size=count))
        return columns(shakes, heat, noise.weibull(2.0, count) * 8.0, others)[:, order], rewards, broken

    def alarm(seen: Rows) -> Column:
        found = bare(seen)
        return found[:, 0] + trust * np.tanh((found[:, 5] - zeros[2]) / units[2])

    def sooner(seen: Rows) -> Column:
        found = bare(seen)
        return found[:, 0] + 0.05 * (found[:, 1] - 58.0) - early

    usual = at_least(stairs(alarm, marks, blur), least)

    def firm(size: float) -> Rule:
        def grade(seen: Rows) -> Codes:
            index = (1.0 - size) * alarm(seen) + size * sooner(seen)
            return (index[:, None] > marks).sum(axis=1)

        return certain(grade, 3)

    change = adopting(usual, stairs(sooner, marks, 0.05)) if soft else firm
    return asked(as_usual(horizon, usual, initial, step), change, generator, 0.08, 0.6 if soft else 0.15)


def book_promotion(generator: np.random.Generator) -> World:
    """Weekly sales of a book, of which a few sell a hundred times what others do: rewards with heavy tails.

    It is left alone, shown on tables, mailed about or advertised. Columns: sales of late (log), stars, reviews, weeks
    since it came out, and a flag: hardcover. The state after the last week is not logged, and no propensities are.
    """
    actions, horizon = integer(generator, 3, 4), integer(generator, 3, 9)
    lifts = np.array([0.0, 0.2, 0.35, 0.5])[:actions] * generator.uniform(0.6, 1.5, actions)
    cost = np.array([0.0, 60.0, 120.0, 260.0])[:actions] * generator.uniform(0.6, 1.4, actions)
    tail, margin = generator.uniform(2.1, 3.0), generator.uniform(2.0, 6.0)
    fades, stays = generator.uniform(0.02, 0.1), generator.uniform(0.5, 0.8)
    likes, hard = generator.uniform(0.1, 0.4), generator.uniform(-0.3, 0.3)
    levels = generator.dirichlet(np.full(actions, 2.0), 3)
    blur, least = generator.uniform(0.3, 0.7), generator.uniform(0.04, 0.07)
    ahead, keen = generator.uniform(3.6, 4.4), chance(generator, 0.7)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        sold, stars = noise.normal(3.5, 0.9, count), np.clip(noise.normal(3.9, 0.5, count), 1.0, 5.0)
        reviews, weeks = noise.negative_binomial(1, 0.04, count), noise.integers(0, 30, count)
        return columns(sold, stars, reviews, weeks, noise.random(count) < 0.4)

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        sold, stars, reviews, weeks, bound = states.T
        count = len(states)
        drawn_in = lifts[taken] * (1.0 + likes * (stars - 3.5)) + hard * bound * (taken == 1)
        luck = (1.0 + noise.pareto(tail, count)) * (tail - 1.0) / tail
        sales = np.exp(np.minimum(sold + drawn_in, 8.0)) * luck
        rewards = margin * sales - cost[taken]
        sold = stays * (sold + 0.6 * drawn_in) + (1.0 - stays) * np.log1p(sales) + 0.1 * likes * (stars - 3.8) - fades
        more = noise.poisson(np.minimum(0.02 * sales, 50.0))
        stars = np.clip(stars + 0.3 * noise.normal(size=count) / np.sqrt(1.0 + reviews), 1.0, 5.0)
        return columns(np.clip(sold, 0.0, 8.0), stars, reviews + more, weeks + 1.0, bound), rewards, never(states)

    def hot(seen: Rows) -> Flags:
        return (seen[:, 0] > ahead) & (seen[:, 1] > 3.6)

    def usual(seen: Rows) -> Chances:
        fresh = sigmoid((8.0 - seen[:, 3]) / 3.0)
        sells = sigmoid((seen[:, 0] - 3.8) / blur)
        shares = np.column_stack([fresh, (1.0 - fresh) * sells, (1.0 - fresh) * (1.0 - sells)])
        return least + (1.0 - least * actions) * (shares @ levels)

    best = actions - 1
    better = certain(lambda seen: np.where(hot(seen), best, 0), actions)
    change = favoring(usual, better, 4.0) if keen else sparing(usual, best, 1)
    world = replace(as_usual(horizon, usual, initial, step), propensities=False, last_state=False)
    return asked(world, change, generator)
