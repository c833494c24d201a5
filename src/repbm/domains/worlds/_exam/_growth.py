"""What grows and rots: mushrooms in a dark house, compost in long heaps, and the trees of a town."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import Custom, blend, firm, leaning, soft
from repbm.domains.worlds._drawing import asked, effective
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Mask,
    Moved,
    Signs,
    Table,
    Vector,
    nobody,
    occurs,
    rise,
    sign,
    spread_out,
    table,
    weighed,
    whole,
)
from repbm.domains.worlds._world import World


@effective(50.0, 200.0, rollouts=4)
def mushroom_house(generator: np.random.Generator) -> World:
    """A house of mushrooms is kept shut, aired, misted, or (in some worlds) both, day by day. Threads grow in a window
    of warmth, and warm the bed; caps come where the air is fresh and damp together, use the threads up, and rot where
    it is too damp.

    Columns: warmth of the bed (C), stale air (thousand ppm), damp (percent), threads (a share), caps (kg), and days
    since the last many. Rewards: euros of what is picked, less work and what rots. Effective episodes of 1,000: 60 to
    210.
    """
    actions, horizon = whole(generator, 3, 4), whole(generator, 6, 12)
    airs, mists = np.array([0.0, 1.0, 0.0, 1.0])[:actions], np.array([0.0, 0.0, 1.0, 1.0])[:actions]
    best, narrow = generator.uniform(21.0, 24.0), generator.uniform(2.5, 4.5)
    grows, heats, draws = generator.uniform(0.4, 1.0), generator.uniform(3.0, 6.0), generator.uniform(0.1, 0.3)
    stale, dry, soaked = generator.uniform(1.0, 1.6), generator.uniform(86.0, 90.0), generator.uniform(94.0, 96.5)
    bursts, price = generator.uniform(2.0, 4.5), spread_out(generator, 3.0, 12.0)
    picks, rots, work = generator.uniform(0.5, 0.8), generator.uniform(0.3, 0.9), spread_out(generator, 0.02, 0.3)
    habits, least = generator.normal(0.0, 0.4, (4, actions)), generator.uniform(0.05, 0.08)
    whims, turned, loud = generator.normal(0.0, 0.4, (4, actions)), sign(generator), spread_out(generator, 0.2, 0.7)

    def initial(count: int, noise: np.random.Generator) -> Table:
        warm, air = noise.normal(20.0, 2.0, count), noise.gamma(8.0, 0.2, count)
        damp, threads = np.clip(noise.normal(89.0, 4.0, count), 60.0, 100.0), noise.beta(3.0, 3.0, count)
        return table(warm, air, damp, threads, noise.exponential(0.4, count), noise.integers(0, 6, count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        warm, air, damp, threads, caps, since = states.T
        count, aired, misted = len(states), airs[taken], mists[taken]
        picked = picks * caps * np.exp(-(((warm - 18.0) / 5.0) ** 2))
        spoiled = rots * caps * rise((damp - soaked) / 0.7)
        rewards = price * (picked - spoiled - work * (aired + misted) + loud * noise.normal(size=count))
        fresh = rise((stale - air) / 0.15) * rise((damp - dry) / 0.8)
        born = bursts * threads**2 * fresh * noise.gamma(4.0, 0.25, count)
        caps = np.maximum(caps - picked - spoiled, 0.0) + born
        growing = grows * threads * (1.0 - threads) * np.exp(-(((warm - best) / narrow) ** 2))
        threads = np.clip(threads + growing - draws * born + 0.03 * noise.normal(size=count), 0.02, 1.0)
        warm = 17.0 + 0.6 * (warm - 17.0) + heats * threads * 0.6 - 1.5 * aired + 0.8 * noise.normal(size=count)
        air = np.maximum(0.75 * air + 0.7 * threads - 0.6 * aired * air + 0.15 * noise.normal(size=count), 0.3)
        damp = 89.0 + 0.6 * (damp - 89.0) + 4.0 * misted - 3.0 * aired + 1.8 * noise.normal(size=count)
        since = np.where(born > 0.8, 0.0, since + 1.0)
        return table(warm, air, np.clip(damp, 50.0, 100.0), threads, caps, since), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        parts = [(seen[:, 0] - 20.0) / 3.0, (seen[:, 2] - 89.0) / 5.0, seen[:, 4] - 0.8]
        return np.column_stack([np.ones(len(seen)), np.tanh(np.column_stack(parts))])

    def wish(seen: Table) -> Grid:
        needs_air = np.outer(np.where(seen[:, 1] > stale, 1.0, -0.5), airs)
        needs_mist = np.outer(np.where(seen[:, 2] < dry, 1.0, -0.5), mists)
        return weighed(signs(seen), whims) + turned * (needs_air + needs_mist)

    usual = soft(lambda seen: weighed(signs(seen), habits), least)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual)
    return asked(world, leaning(usual, wish, 2.0), generator, 60.0, 160.0)


@effective(36.0, 130.0, rollouts=4)
def compost_windrows(generator: np.random.Generator) -> World:
    """A long heap of compost is left, turned or watered on each of 40 to 60 days. Turning cools it at once; that air
    and water feed what lives in it shows in its breath some days later, in its heat after that, and in what is rotten
    last.

    Columns: heat of the core (C), moisture (percent), air (percent), breath, matter left (a share), and days since it
    was turned. Rewards: what has become of it, less work and smell. Effective episodes of 1,000: 25 to 140.
    """
    horizon, actions = whole(generator, 40, 60), 3
    discount = float(generator.choice([1.0, 0.99, 0.98]))
    slow, heats, cools = generator.uniform(0.8, 0.9), generator.uniform(9.0, 13.0), generator.uniform(0.1, 0.18)
    uses, breathes = generator.uniform(1.5, 3.0), generator.uniform(0.05, 0.12)
    dries, soaks, rains = generator.uniform(0.02, 0.04), generator.uniform(4.0, 8.0), generator.uniform(0.0, 0.6)
    rots, worth = generator.uniform(0.008, 0.02), generator.uniform(0.8, 1.6)
    smells, foul = generator.uniform(0.3, 1.0), generator.uniform(6.0, 9.0)
    work, loud = np.array([0.0, 1.0, 0.4]) * spread_out(generator, 0.1, 0.5), spread_out(generator, 0.6, 1.5)
    early, parched, sure = generator.uniform(4.0, 9.0), generator.uniform(42.0, 50.0), generator.uniform(0.4, 0.65)
    heed, turned = generator.normal(0.0, 0.5, (4, actions)), sign(generator)
    whims = generator.normal(0.0, 0.4, (4, actions))

    def initial(count: int, noise: np.random.Generator) -> Table:
        heat, moist = noise.normal(35.0, 8.0, count), np.clip(noise.normal(55.0, 6.0, count), 25.0, 75.0)
        breath, left = noise.gamma(6.0, 0.07, count), noise.uniform(0.75, 1.0, count)
        return table(heat, moist, noise.normal(12.0, 2.0, count), breath, left, noise.integers(0, 8, count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        heat, moist, air, breath, left, since = states.T
        count, stirred, watered = len(states), taken == 1, taken == 2
        shaken = noise.normal(size=(4, count))
        rewards = worth * breath - smells * rise((foul - air) / 1.0) - work[taken] + loud * shaken[0]
        thrives = np.exp(-(((heat - 50.0) / 22.0) ** 2) - ((moist - 55.0) / 12.0) ** 2) * rise((air - 7.0) / 1.5)
        left = np.maximum(left - rots * breath, 0.05)
        heat = heat + heats * breath - cools * (heat - 12.0) - 0.15 * stirred * (heat - 12.0) + 1.2 * shaken[1]
        breath = np.maximum(slow * breath + (1.0 - slow) * 3.0 * left * thrives + 0.03 * shaken[2], 0.0)
        air = np.clip(air - uses * breath + breathes * (20.0 - air) + 0.5 * stirred * (20.0 - air), 0.5, 20.0)
        wetter = soaks * watered + rains * np.maximum(shaken[3], 0.0) - dries * np.maximum(heat - 10.0, 0.0) - stirred
        moist = np.clip(moist + wetter, 15.0, 80.0)
        return table(heat, moist, air, breath, left, np.where(stirred, 0.0, since + 1.0)), rewards, nobody(states)

    def due(seen: Table) -> Mask:
        return (seen[:, 5] > early) | (seen[:, 0] > 66.0)

    def rule(seen: Table) -> Choice:
        return np.where(due(seen), 1, np.where(seen[:, 1] < parched, 2, 0))

    def signs(seen: Table) -> Signs:
        parts = [(seen[:, 0] - 50.0) / 15.0, (seen[:, 1] - 50.0) / 8.0, (seen[:, 2] - 9.0) / 4.0]
        return np.column_stack([np.ones(len(seen)), np.tanh(np.column_stack(parts))])

    def wish(seen: Table) -> Grid:
        return weighed(signs(seen), whims) + turned * np.array([-0.5, 0.6, 0.4])

    usual = blend(soft(lambda seen: 0.3 * weighed(signs(seen), heed), 0.08), firm(rule, actions), sure)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual, discount=discount)
    return asked(world, leaning(usual, wish, 3.0), generator, 45.0, 100.0)


@effective(80.0, 420.0, rollouts=4)
def city_trees(generator: np.random.Generator) -> World:
    """A tree of a town is left, pruned, (in some worlds) braced, or, 2 to 4 in 100 times, felled and planted anew, year
    by year. What breaks off costs a little or much, and may be the end of it.

    Columns, in a drawn order: hollow (percent), lean (degrees), what stands or drives below it, the year, and 10 to 18
    of the register that do not matter: where it stands, its species, its number, who planted it. Rewards: thousands
    lost. Effective episodes of 1,000: 80 to 410.
    """
    actions, horizon, useless = whole(generator, 3, 4), whole(generator, 4, 7), whole(generator, 10, 18)
    fell, order = actions - 1, generator.permutation(4 + useless)
    places, kinds = np.argsort(order), generator.integers(0, 3, useless)
    scales, many = 10.0 ** generator.uniform(-1.0, 3.0, useless), generator.integers(2, 30, useless)
    rare, heeds, steep = generator.uniform(0.024, 0.036), generator.uniform(0.2, 0.5), generator.uniform(0.8, 1.5)
    breaks, worth, heavy = generator.uniform(0.16, 0.3), spread_out(generator, 5.0, 30.0), generator.uniform(0.5, 0.9)
    holds, braced = generator.uniform(0.4, 0.9), generator.uniform(0.5, 0.9)
    fees = np.array([0.0, 0.02, 0.05])[:fell] * worth
    costs = np.append(fees, generator.uniform(0.15, 0.35) * worth)
    rots, dies = generator.uniform(1.0, 4.0), generator.uniform(0.2, 0.6)
    habits, whims = generator.normal(0.0, 0.5, (2, fell)), generator.normal(0.0, 0.3, (2, fell))
    asks, wary = generator.uniform(3.0, 4.5), generator.uniform(0.0, 2.0)

    def register(count: int, noise: np.random.Generator) -> Table:
        measured, coded = scales * noise.normal(size=(count, useless)), np.floor(many * noise.random((count, useless)))
        return np.where(kinds == 0, measured, np.where(kinds == 1, coded, noise.poisson(3.0, (count, useless))))

    def initial(count: int, noise: np.random.Generator) -> Table:
        hollow, lean = np.clip(noise.gamma(2.0, 14.0, count), 0.0, 95.0), noise.gamma(2.0, 4.0, count)
        return table(hollow, lean, noise.gamma(2.0, 0.5, count), np.zeros(count), register(count, noise))[:, order]

    def known(seen: Table) -> Signs:
        return seen[:, places[:4]]

    def risk(seen: Table) -> Vector:
        hollow, lean, _, _ = known(seen).T
        return steep * ((hollow - 45.0) / 18.0 + (lean - 12.0) / 8.0)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        hollow, lean, below, year = known(states).T
        count, felled = len(states), taken == fell
        spared = np.where(taken == 1, holds, np.where((taken == 2) & ~felled, braced, 1.0)) * ~felled
        broken = occurs(breaks * rise(risk(states)) * spared + 0.004, noise)
        damage = worth * (0.3 + below) * np.exp(heavy * noise.normal(size=count) - 0.5 * heavy**2)
        rewards = -costs[taken] * noise.gamma(10.0, 0.1, count) - broken * damage
        gone = broken & (noise.random(count) < dies)
        hollow = np.where(felled, 0.0, np.clip(hollow + rots * noise.gamma(2.0, 0.5, count), 0.0, 95.0))
        lean = np.where(felled, 1.0, np.maximum(lean + 0.6 * noise.normal(size=count), 0.0))
        following = states.copy()
        following[:, places[:4]] = table(hollow, lean, below, year + 1.0)
        following[:, places[4:]] += np.where(kinds == 0, 0.1 * scales, 0.0) * noise.normal(size=(count, useless))
        return following, rewards, gone

    def felling(base: float) -> Custom:
        def custom(seen: Table) -> Grid:
            fells = np.clip(base * np.exp(heeds * np.clip(risk(seen) + 0.5, -2.0, 2.5)), 0.012, 0.09)
            signs = np.column_stack([np.ones(len(seen)), np.tanh(risk(seen) + 1.0)])
            return np.column_stack([(1.0 - fells)[:, None] * soft(lambda _: weighed(signs, habits), 0.1)(seen), fells])

        return custom

    def wish(seen: Table) -> Grid:
        signs = np.column_stack([np.ones(len(seen)), np.tanh(risk(seen) + 1.0)])
        return np.column_stack([weighed(signs, whims), rise(2.0 * risk(seen) + wary)])

    states = initial(4000, np.random.default_rng(whole(generator, 0, 1 << 30)))
    usual = felling(rare * rare / float(felling(rare)(states)[:, -1].mean()))
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual)
    return asked(world, leaning(usual, wish, asks), generator, 95.0, 340.0)
