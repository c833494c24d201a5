"""Machines: a loom with its faults, a kite that makes power, and a satellite that gets out of the way now and then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._customs import Custom, blend, firm, leaning, soft
from repbm.domains.worlds._drawing import asked, effective
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Moved,
    Signs,
    Table,
    Vector,
    codes,
    nobody,
    occurs,
    sign,
    spread_out,
    table,
    weighed,
    whole,
)
from repbm.domains.worlds._world import World


@effective(50.0, 210.0)
def loom_faults(generator: np.random.Generator) -> World:
    """A loom is in one of 6 to 12 states, from sound to jammed, which its only column tells; it is run, slowed, mended
    or (in some) given new parts. There are costs alone, and later ones weigh less. The policy is a plan of one action
    for every state, from which its weavers stray. Effective episodes of 1,000: 70 to 210.
    """
    states, actions, horizon = whole(generator, 6, 12), whole(generator, 3, 4), whole(generator, 6, 12)
    discount = float(np.round(generator.uniform(0.85, 0.97), 2))
    grade, stops = np.linspace(0.0, 1.0, states), np.array([0.0, 0.25, 0.6, 1.0])[:actions]
    moves, costs = np.zeros((states, actions, states)), np.zeros((states, actions))
    hire, loss = spread_out(generator, 40.0, 150.0), spread_out(generator, 100.0, 400.0)
    for state in range(states):
        for action in range(actions):
            aim = np.clip(state + 1.2 - 1.1 * action - (action == 3) * 3.0, 0, states - 1)
            near = np.exp(-0.5 * ((np.arange(states) - aim) / 1.3) ** 2)
            moves[state, action] = generator.dirichlet(8.0 * near / near.sum() + 0.05)
            costs[state, action] = hire * stops[action] + loss * grade[state] * (1.0 - 0.5 * stops[action])
    costs *= generator.uniform(0.7, 1.3, (states, actions))
    sums, shape = moves.cumsum(axis=2), generator.uniform(0.3, 2.0)
    start = generator.dirichlet(np.full(states, 1.0))
    low, high = np.sort(generator.integers(1, states, 2))
    plan = np.where(np.arange(states) < low, 0, np.where(np.arange(states) < high, 1, generator.integers(2, actions)))
    strays = generator.dirichlet(np.full(actions, 3.0), states)
    kept = spread_out(generator, 0.06, 0.15) ** (1.0 / horizon)
    least, slips = 0.015, (1.0 - kept) * generator.uniform(1.0, 1.5)

    def initial(count: int, noise: np.random.Generator) -> Table:
        return noise.choice(states, count, p=start).astype(np.float64)[:, None]

    def step(now: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        at = codes(now[:, 0])
        following = (noise.random((len(now), 1)) > sums[at, taken]).sum(axis=1).clip(max=states - 1)
        rewards = -costs[at, taken] * noise.gamma(shape, 1.0 / shape, len(now))
        return following.astype(np.float64)[:, None], rewards, nobody(now)

    def pick(seen: Table) -> Choice:
        return plan[codes(seen[:, 0])]

    def stray(seen: Table) -> Grid:
        share = actions * least / slips
        return share / actions + (1.0 - share) * strays[codes(seen[:, 0])]

    followed = firm(pick, actions)
    slips = min(max(slips, 1.2 * actions * least), 0.4)
    usual = blend(followed, stray, slips)
    return World(horizon, actions, initial, step, behavior=usual, policy=followed, discount=discount)


@effective(30.0, 120.0)
def kite_generator(generator: np.random.Generator) -> World:
    """A kite pulls a rope and makes power, for some minutes; it is held, looped small or wide, or (in some) reeled in.

    Where gusts are strong, a wide loop either carries or stalls: what it yields lies about two values far apart, and
    the more it blows, the more all of it scatters. Columns: wind (m/s), gusts, height (m), wear of the rope, and a
    code: where the wind comes from. Rewards in kilowatt-hours. Effective episodes of 1,000: 35 to 105.
    """
    actions, horizon, quarters = whole(generator, 3, 4), whole(generator, 3, 6), whole(generator, 3, 8)
    pulls = np.array([0.25, 0.6, 1.0, -0.1])[:actions] * generator.uniform(0.8, 1.2, actions)
    stalls, falls = generator.uniform(0.3, 0.9, 2), spread_out(generator, 5.0, 14.0)
    wild, bound = generator.uniform(0.1, 0.35, actions), generator.uniform(0.8, 1.5)
    cut_out, calm = generator.uniform(11.0, 14.0), generator.uniform(3.0, 5.0)
    shadows, frays = generator.normal(0.0, 0.25, quarters), generator.uniform(0.05, 0.15)
    best, tastes = generator.uniform(180.0, 320.0), generator.normal(0.0, 0.4, (3, actions))
    least, turned = generator.uniform(0.05, 0.09), sign(generator)
    whims = generator.normal(0.0, 0.6, (3, actions))

    def initial(count: int, noise: np.random.Generator) -> Table:
        wind, gusts = noise.gamma(9.0, 1.0, count), noise.gamma(4.0, 0.25, count)
        height, rope = noise.normal(240.0, 50.0, count), noise.gamma(2.0, 0.2, count)
        return table(wind, gusts, height, rope, noise.integers(quarters, size=count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        wind, gusts, height, rope, quarter = states.T
        count, looped = len(states), (taken == 1) | (taken == 2)
        blown = np.where(wind > cut_out, 0.5 * cut_out, np.maximum(wind - calm, 0.0)) * np.exp(shadows[codes(quarter)])
        carried = pulls[taken] * blown * np.exp(-(((height - best) / 120.0) ** 2))
        odds = np.where(taken == 2, stalls[0], 0.3 * stalls[1]) * np.minimum(gusts / bound, 1.2) ** 3 * looped
        stalled = occurs(np.clip(odds, 0.0, 0.9), noise)
        loud = 0.2 + wild[taken] * gusts * np.sqrt(wind)
        rewards = np.where(stalled, carried - falls, carried) + loud * noise.normal(size=count)
        height = height + np.array([5.0, 0.0, -20.0, -60.0])[taken] - 70.0 * stalled + 0.3 * (best - height)
        height = np.clip(height + 25.0 * noise.normal(size=count), 30.0, 500.0)
        wind = np.maximum(9.0 + 0.75 * (wind - 9.0) + 1.8 * noise.normal(size=count), 0.2)
        gusts = np.maximum(1.0 + 0.5 * (gusts - 1.0) + 0.05 * (wind - 9.0) + 0.3 * noise.normal(size=count), 0.05)
        turns = np.where(noise.random(count) < 0.15, noise.integers(quarters, size=count), quarter)
        rope = rope + frays * looped * gusts * noise.gamma(2.0, 0.5, count)
        return table(wind, gusts, height, rope, turns), rewards - 0.5 * (rope > 1.5), nobody(states)

    def signs(seen: Table) -> Signs:
        return np.column_stack([np.ones(len(seen)), np.tanh((seen[:, 0] - 9.0) / 3.0), np.tanh(seen[:, 1] - 1.0)])

    def wish(seen: Table) -> Grid:
        dares = np.array([-0.3, 0.3, 1.0, -0.5])[:actions]
        return weighed(signs(seen), whims) + turned * np.outer(np.where(seen[:, 1] > bound, -1.0, 0.8), dares)

    usual = soft(lambda seen: weighed(signs(seen), tastes), least)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual)
    return asked(world, leaning(usual, wish, 2.5), generator, 42.0, 95.0)


@effective(35.0, 170.0)
def satellite_passes(generator: np.random.Generator) -> World:
    """Something may hit a satellite: its operators wait, have it tracked, or (2 to 4 in 100 times) burn fuel to get out
    of its way, by one or two kinds of burn. What a hit breaks costs a little or very much, all else a little.

    Columns: logarithm of the odds told for a hit, distance of the pass (km), fuel left (kg), pieces nearby (a count),
    shell of the orbit (a code), and the pass. Rewards: thousands lost. Effective episodes of 1,000: 50 to 200.
    """
    actions, horizon, shells = whole(generator, 3, 4), whole(generator, 2, 5), whole(generator, 2, 5)
    burn, discount = actions - 1, float(generator.choice([1.0, 0.98, 0.95]))
    rare, heeds = generator.uniform(0.022, 0.036), generator.uniform(0.3, 0.8)
    fears, hits = generator.uniform(-4.6, -3.8), generator.uniform(0.1, 0.25)
    saves, worth = generator.uniform(0.6, 0.95), spread_out(generator, 40.0, 150.0)
    heavy, crowded = generator.uniform(0.8, 1.15), generator.uniform(0.2, 0.8, shells)
    thirst, fee, watch = generator.uniform(0.5, 1.5), spread_out(generator, 2.0, 15.0), generator.uniform(0.5, 3.0)
    habits, calls = generator.normal(0.0, 0.4, 2), generator.uniform(1.2, 2.6)
    cheap = generator.random() < 0.5

    def initial(count: int, noise: np.random.Generator) -> Table:
        shell, fuel = noise.integers(shells, size=count), noise.gamma(20.0, 0.6, count)
        odds, pieces = noise.normal(-5.2, 1.2, count), noise.poisson(2.0 + 3.0 * crowded[shell])
        return table(odds, noise.gamma(3.0, 0.8, count), fuel, pieces, shell, np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        odds, away, fuel, pieces, shell, nth = states.T
        count, burned, tracked = len(states), taken == burn, (taken > 0) & (taken < burn)
        near = np.where(odds > fears, 1.0, 0.05) * np.where(away < 1.0, 1.5, 1.0) * (1.0 + 0.1 * pieces)
        hit = occurs(np.clip(hits * near * np.where(burned, 1.0 - saves, 1.0), 0.0, 0.6), noise)
        broken = worth * np.exp(heavy * noise.normal(size=count) - 0.5 * heavy**2)
        rewards = -1.0 * hit * broken - fee * burned * np.where(fuel < 6.0, 3.0, 1.0) - watch * tracked * taken
        odds = -5.2 + 0.5 * (odds + 5.2) - 1.0 * burned - 0.3 * tracked + 1.0 * noise.normal(size=count)
        away = np.maximum(0.5 * away + 1.2 * burned + noise.gamma(2.0, 0.6, count), 0.01)
        fuel = np.maximum(fuel - thirst * burned * noise.gamma(10.0, 0.1, count), 0.0)
        pieces = noise.poisson(2.0 + 3.0 * crowded[codes(shell)])
        return table(odds, away, fuel, pieces, shell, nth + 1.0), np.minimum(rewards, 0.0), nobody(states)

    def risk(seen: Table) -> Vector:
        return np.tanh((seen[:, 0] - fears) / 1.0 + 0.3 * (seen[:, 3] - 3.0) / 2.0)

    def burning(base: float) -> Custom:
        def custom(seen: Table) -> Grid:
            burns = np.clip(base * np.exp(heeds * (risk(seen) + 0.6)), 0.011, 0.09)
            tracks = 0.15 + 0.5 / (1.0 + np.exp(-habits[0] - habits[1] * (seen[:, 0] + 5.2)))
            parts = [(1.0 - burns) * (1.0 - tracks)] + [(1.0 - burns) * tracks / (burn - 1)] * (burn - 1)
            return np.column_stack([*parts, burns])

        return custom

    def wish(seen: Table) -> Grid:
        asks = (risk(seen) > -0.2) if not cheap else np.where(seen[:, 2] > 10.0, 1.0, 0.3)
        return np.column_stack([np.zeros((len(seen), burn)), asks])

    world = World(horizon, actions, initial, step, behavior=burning(rare), policy=burning(rare), discount=discount)
    # Passes become safer by what is done about them: the share of burns is set by a log.
    log, _ = world.log(4000, np.random.default_rng(whole(generator, 0, 1 << 30)))
    share = float(np.mean(np.asarray(log.actions.codes) == burn))
    usual = burning(rare * rare / share)
    world = replace(world, behavior=usual, policy=usual)
    return asked(world, leaning(usual, wish, calls + 1.5), generator, 50.0, 130.0)
