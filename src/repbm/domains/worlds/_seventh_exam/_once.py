"""Decisions that are made once: a wax for skis by its chart, and claims that one of several people settles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from repbm.domains.worlds._customs import Custom, blend, firm, leaning, soft, toward
from repbm.domains.worlds._drawing import asked, effective
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Moved,
    PerAction,
    Table,
    chosen,
    codes,
    everybody,
    occurs,
    spread_out,
    table,
    weighed,
    whole,
)
from repbm.domains.worlds._world import World


@effective(120.0, 600.0)
def ski_waxes(generator: np.random.Generator) -> World:
    """A pair of skis is waxed once, with one of four to six waxes. Each glides in a window of its own, which lies
    elsewhere on made snow, and old and wet together turn some waxes around. The policy is a chart, followed to the
    letter, by which some waxers go as well.

    Columns: warmth of the snow, humidity, age of the crystals (days), kind of course (a code), weight of the skier,
    and a flag: made snow. Rewards: seconds a kilometer gained. Effective episodes of 1,000: 210 to 520.
    """
    actions, courses = whole(generator, 4, 6), whole(generator, 3, 6)
    middles, widths = generator.uniform(-16.0, 0.0, actions), generator.uniform(2.5, 6.0, actions)
    moved, peaks = generator.normal(0.0, 4.0, actions), generator.uniform(0.5, 2.0, actions)
    old, wet = generator.uniform(3.0, 7.0), generator.uniform(60.0, 80.0)
    clash, bends = generator.normal(0.0, 0.6, actions), generator.normal(0.0, 0.3, (courses, actions))
    heavy, misread = generator.uniform(70.0, 85.0), generator.uniform(0.5, 3.0)
    errors, wrong = misread * generator.normal(size=actions), generator.normal(0.0, 1.0, actions)
    loud, least = spread_out(generator, 3.0, 12.0), generator.uniform(0.03, 0.07)
    habits, tastes = generator.normal(0.0, 0.6, (3, actions)), generator.normal(0.0, 0.4, actions)
    by_chart = generator.uniform(0.0, 0.4)

    def initial(count: int, noise: np.random.Generator) -> Table:
        warm, humid = np.minimum(noise.normal(-7.0, 4.5, count), 1.0), noise.uniform(35.0, 98.0, count)
        parts = [warm, humid, noise.geometric(0.18, count), noise.integers(courses, size=count)]
        return table(*parts, noise.normal(76.0, 10.0, count), noise.random(count) < 0.35)

    def glides(seen: Table, shifts: PerAction, extra: PerAction) -> Grid:
        warm, humid, age, course, weight, made = seen.T
        off = np.abs(warm[:, None] - middles - shifts - np.outer(made, moved)) / widths
        turned = (age > old) ^ (humid > wet)
        window = peaks * np.maximum(1.0 - off, -0.5) * np.where(weight > heavy, 0.6, 1.0)[:, None]
        return window + np.outer(turned, clash + extra) + bends[codes(course)]

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        gained = chosen(glides(states, np.zeros(actions), np.zeros(actions)), taken)
        return states, gained + loud * noise.normal(size=len(states)), everybody(states)

    def likes(seen: Table) -> Grid:
        scaled = np.column_stack([(seen[:, 0] + 7.0) / 4.5, (seen[:, 1] - 65.0) / 18.0, (seen[:, 4] - 76.0) / 10.0])
        return weighed(np.clip(scaled, -2.0, 2.0), habits) + tastes

    chart = firm(lambda seen: glides(seen, errors, wrong).argmax(axis=1), actions)
    usual = blend(soft(likes, least / (1.0 - by_chart)), chart, by_chart)
    return World(1, actions, initial, step, behavior=usual, policy=chart)


def _clerk(generator: np.random.Generator, actions: int, goods: int) -> Callable[[Table], Choice]:
    """One person's habit: by the sum, by the goods, by what is flagged, or by how far and how late."""
    kind, favored = whole(generator, 0, 3), generator.permutation(actions)
    first, second = np.sort(generator.lognormal(6.3, 0.9, 2))
    by_goods, flag = generator.integers(actions, size=goods), whole(generator, 4, 5)
    far, late = generator.uniform(300.0, 900.0), generator.uniform(4.0, 25.0)

    def pick(seen: Table) -> Choice:
        if kind == 0:
            return favored[(seen[:, 0] > first).astype(int) + (seen[:, 0] > second)]
        if kind == 1:
            return by_goods[codes(seen[:, 1])]
        if kind == 2:
            return favored[np.where(seen[:, flag] > 0.0, 0, 1 + (seen[:, 2] > 2.0))]
        return favored[(seen[:, 3] > far).astype(int) + (seen[:, 6] > late)]

    return pick


@effective(200.0, 620.0)
def freight_claims(generator: np.random.Generator) -> World:
    """A claim for damaged freight is paid, halved, looked into or refused, by whoever of four to six clerks has it.
    Each has a habit; nobody wrote down who it was, nor how probable. Who has it, is chance.

    Columns: the sum claimed, goods (a code), parcels (a count), distance (km), two flags (photographs; claimed before),
    and days since. Rewards: dollars lost, a few of them very many. Effective episodes of 1,000: 280 to 520.
    """
    actions, goods, clerks = whole(generator, 3, 4), whole(generator, 5, 12), whole(generator, 4, 6)
    crowd, people = (
        generator.dirichlet(np.full(clerks, 4.0)),
        [_clerk(generator, actions, goods) for _ in range(clerks)],
    )
    least, steady = generator.uniform(0.025, 0.05), generator.uniform(0.75, 0.95)
    true_share, tail = generator.uniform(0.25, 0.8, goods), generator.uniform(2.1, 3.0)
    pays = np.array([1.0, 0.55, 0.35, 0.05])[:actions]
    sues = np.array([0.0, 0.1, 0.05, 0.3])[:actions] * generator.uniform(0.5, 1.5, actions)
    trouble, proof = spread_out(generator, 100.0, 500.0), generator.uniform(0.3, 0.8)
    stale, office = generator.uniform(5.0, 20.0), np.array([10.0, 30.0, 90.0, 15.0])[:actions]
    newcomer, lean = _clerk(generator, actions, goods), generator.normal(0.0, 1.0, actions)
    notices, mixed = generator.normal(0.0, 1.0, (3, actions)), generator.random() < 0.5

    def initial(count: int, noise: np.random.Generator) -> Table:
        claimed, parcels = (
            np.minimum(np.round(noise.lognormal(6.2, 0.9, count), 2), 20_000.0),
            noise.poisson(1.5, count),
        )
        parts = [claimed, noise.integers(goods, size=count), 1.0 + parcels, np.round(noise.gamma(2.0, 300.0, count), 1)]
        flags = [noise.random(count) < 0.6, noise.random(count) < 0.25]
        return table(*parts, *flags, np.floor(noise.exponential(10.0, count)))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        claimed, kind, parcels, _, shown, before, days = states.T
        count = len(states)
        honest = true_share[codes(kind)] * np.where(before > 0.0, 0.7, 1.0) * np.where(days > stale, 0.8, 1.1)
        paid = claimed * pays[taken] * np.where((taken == 2) & (shown > 0.0), 1.0 + proof, 1.0)
        sued = occurs(np.clip(sues[taken] * honest * np.where(claimed > 800.0, 2.0, 1.0), 0.0, 1.0), noise)
        court = sued * (0.5 * claimed + trouble * (1.0 + noise.pareto(tail, count)))
        rewards = -paid * noise.gamma(20.0, 0.05, count) - court - office[taken] * np.sqrt(parcels)
        return states, np.round(rewards, 2), everybody(states)

    def usual(seen: Table) -> Grid:
        odds = np.zeros((len(seen), actions))
        for share, pick in zip(crowd, people, strict=True):
            odds += share * (steady * np.eye(actions)[pick(seen)] + (1.0 - steady) / actions)
        return least + (1.0 - actions * least) * odds

    def wish(seen: Table) -> Grid:
        signs = np.column_stack([np.tanh(np.log(seen[:, 0] / 500.0)), seen[:, 4], seen[:, 6] > stale])
        return lean + weighed(signs, notices)

    fresh: Custom = firm(newcomer, actions)
    path = toward(usual, fresh) if mixed else leaning(usual, wish, 2.0)
    world = World(1, actions, initial, step, behavior=usual, policy=usual, propensities=False)
    return asked(world, path, generator, 240.0, 540.0)
