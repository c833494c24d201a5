"""Services: ambulances that wait where they may be needed, and learners of a language with their phones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from repbm.domains.worlds._sixth_exam._parts import (
    Choice,
    Grid,
    Moved,
    Table,
    Vector,
    codes,
    firm,
    flip,
    leaning,
    loose,
    no_end,
    occurs,
    rise,
    soft,
    table,
    toward,
    tuned,
    whole,
)
from repbm.domains.worlds._world import World


def ambulance_posts(generator: np.random.Generator) -> World:
    """A spare ambulance waits at one of two to four posts; calls beyond those free are late, and counted below 0.

    Columns: ambulances free at each post, where the spare one was, hour of the day, and a flag: holiday.
    """
    posts, horizon = whole(generator, 2, 4), whole(generator, 5, 10)
    crews = generator.integers(1, 4, posts).astype(np.float64)
    rates, peaks = generator.uniform(0.5, 1.2, posts) * crews, generator.uniform(0.0, 24.0, posts)
    swings, feasts = generator.uniform(0.3, 0.8), generator.normal(0.2, 0.3, posts)
    busy, drive = generator.uniform(0.3, 0.8), generator.uniform(0.0, 0.4)
    favors, stays = generator.normal(0.0, 0.5, posts), generator.uniform(0.3, 1.2)
    least, keen = generator.uniform(0.05, 0.09), generator.uniform(1.0, 2.5)
    first, discount = whole(generator, 0, 23), float(generator.choice([1.0, 0.97]))

    def expected(hour: Vector, feast: Vector) -> Grid:
        daily = 1.0 + swings * np.cos(2.0 * np.pi * (hour[:, None] - peaks) / 24.0)
        return rates * daily * np.exp(np.outer(feast, feasts))

    def initial(count: int, noise: np.random.Generator) -> Table:
        free = noise.binomial(crews.astype(np.int64), 0.7, (count, posts))
        spare, feast = noise.integers(posts, size=count), noise.random(count) < 0.25
        return table(free, spare, np.full(count, first), feast)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        free, spare, hour, feast = states[:, :posts], states[:, posts], states[:, -2], states[:, -1]
        here = np.eye(posts)[taken] * np.where(taken == spare, 1.0, noise.random(len(states)) > drive)[:, None]
        calls = noise.poisson(expected(hour, feast))
        late = np.maximum(calls - free - here, 0.0).sum(axis=1)
        out = noise.binomial(np.minimum(calls, crews + 1.0).astype(np.int64), busy)
        free = np.maximum(crews - out, 0.0)
        return table(free, taken, (hour + 1.0) % 24.0, feast), -late, no_end(states)

    def likes(seen: Table) -> Grid:
        return favors + stays * np.eye(posts)[codes(seen[:, posts])] - 0.3 * seen[:, :posts]

    def wish(seen: Table) -> Grid:
        lacks = expected(seen[:, -2], seen[:, -1]) - seen[:, :posts]
        return np.clip(lacks, -2.0, 2.0)

    usual = soft(likes, least)
    world = World(horizon, posts, initial, step, behavior=usual, policy=usual, discount=discount)
    return tuned(world, leaning(usual, wish, keen), generator, 0.06, 0.4)


def language_app(generator: np.random.Generator) -> World:
    """A learner is given repetition, new words or a test, some lessons long, and passes an examination or does not:
    1 at the end, or 0. New words stay with those only who are neither below nor far above them.

    Columns: 14 to 24, of which three matter: words known, days since the last lesson, and the lesson. The log has no
    propensities, and half the policies leave nothing to chance.
    """
    horizon, width = whole(generator, 3, 5), whole(generator, 14, 24)
    useless, groups = width - 5, whole(generator, 5, 12)
    order, spread = generator.permutation(width), 10.0 ** generator.uniform(-2.0, 3.0, useless)
    lasting, common = generator.uniform(0.0, 1.0, useless), generator.normal(0.0, 0.5, useless)
    level, reach = generator.uniform(400.0, 700.0), generator.uniform(150.0, 350.0)
    learns, forgets = generator.uniform(60.0, 140.0), generator.uniform(5.0, 14.0)
    repeats, proves = generator.uniform(0.4, 0.9), generator.uniform(10.0, 50.0)
    bar, blur = generator.uniform(550.0, 700.0), generator.uniform(30.0, 70.0)
    away, sure = generator.uniform(3.0, 7.0), generator.uniform(0.62, 0.78)
    moved, plain = generator.uniform(0.5, 1.0, 2) * generator.choice([-1.0, 1.0], 2) * [280.0, 4.0], flip(generator)

    def initial(count: int, noise: np.random.Generator) -> Table:
        words, days = np.maximum(noise.normal(520.0, 150.0, count), 20.0), noise.geometric(0.2, count)
        shared = np.outer(noise.normal(size=count), common)
        others = spread * (shared + noise.normal(size=(count, useless)))
        tongue, badge = noise.integers(groups, size=count), noise.poisson(3.0, count)
        return table(words, days, np.zeros(count), others, tongue, badge)[:, order]

    def ordered(seen: Table) -> Table:
        return seen[:, np.argsort(order)]

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        found, count = ordered(states), len(states)
        words, days, lesson = found[:, 0], found[:, 1], found[:, 2]
        lost = forgets * days * np.where(taken == 0, 1.0 - repeats, 1.0)
        within = np.abs(words - level) < reach
        gained = learns * (taken == 1) * within + proves * (taken == 2) * (days < 4.0)
        words = np.clip(words - lost + gained + 25.0 * noise.normal(size=count), 0.0, 2000.0)
        over = lesson >= horizon - 1.0
        passed = occurs(rise((words - bar) / blur), noise)
        news = spread * (np.outer(noise.normal(size=count), common) + noise.normal(size=(count, useless)))
        others = lasting * found[:, 3 : 3 + useless] + (1.0 - lasting) * news
        days = noise.geometric(np.where(taken == 2, 0.18, 0.25))
        following = table(words, days, lesson + 1.0, others, found[:, -2], found[:, -1] + (taken == 2))
        return following[:, order], (over & passed).astype(np.float64), no_end(states)

    def teacher(by: float) -> Callable[[Table], Choice]:
        def pick(seen: Table) -> Choice:
            found = ordered(seen)
            long_ago = found[:, 1] > away + by * moved[1]
            return np.where(long_ago, 0, np.where(found[:, 0] < level + by * moved[0], 1, 2))

        return pick

    usual = loose(teacher(0.0), 3, sure)
    world = World(horizon, 3, initial, step, behavior=usual, policy=usual, propensities=False)
    if plain:
        return tuned(world, lambda by: firm(teacher(by), 3), generator, 0.05, 0.3)
    return tuned(world, toward(usual, loose(teacher(1.0), 3, 0.9)), generator, 0.05, 0.4)
