"""Trade: banners on many sites, young firms that ask for money, and salmon with lice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._sixth_exam._parts import (
    Choice,
    Custom,
    Grid,
    Moved,
    Table,
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


def banner_sites(generator: np.random.Generator) -> World:
    """A visitor of one of 10 to 16 sites is shown one of some banners, and buys or does not: 1 or 0.

    What works is another thing on every site, and turns around for those who come late by phone. Columns: site (a
    code), hour, device (a code), visits before, and days since the account was opened. The log has no propensities.
    """
    actions, sites = whole(generator, 3, 5), whole(generator, 10, 16)
    base, lures = generator.normal(-1.6, 0.5, sites), generator.normal(0.0, 0.7, (sites, actions))
    turned, tires = generator.normal(0.0, 0.8, actions), generator.uniform(0.0, 0.3)
    late, rounds = generator.uniform(17.0, 21.0), generator.uniform(0.0, 0.5)
    crowd = generator.dirichlet(np.full(sites, 1.5))
    crowd = 0.7 * crowd + 0.3 / sites
    believed = lures + generator.normal(0.0, 0.5, lures.shape)
    contracts, day = generator.normal(0.0, 0.9, lures.shape), generator.normal(0.0, 0.3, actions)
    least, sharp = generator.uniform(0.04, 0.06), generator.uniform(2.0, 6.0)

    def initial(count: int, noise: np.random.Generator) -> Table:
        site, hour = noise.choice(sites, count, p=crowd), np.clip(noise.normal(15.0, 5.0, count), 0.0, 23.0)
        device, visits = noise.choice(3, count, p=[0.5, 0.4, 0.1]), noise.negative_binomial(1, 0.25, count)
        return table(site, np.floor(hour), device, visits, np.floor(noise.exponential(300.0, count)))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        site, hour, device, visits, _ = states.T
        flipped = (hour > late) ^ (device == 1.0)
        pull = base[codes(site)] + lures[codes(site), taken] + turned[taken] * flipped
        pull = pull - tires * np.maximum(visits - 4.0, 0.0) + rounds * np.cos(0.5 * np.pi * hour)
        return states, occurs(rise(pull), noise).astype(np.float64), np.ones(len(states), dtype=bool)

    def likes(seen: Table) -> Grid:
        return contracts[codes(seen[:, 0])] + np.outer((seen[:, 1] - 15.0) / 5.0, day)

    def knowing(seen: Table) -> Grid:
        return sharp * believed[codes(seen[:, 0])] + np.outer(seen[:, 2] == 1.0, turned)

    usual = soft(likes, least)
    world = World(1, actions, initial, step, behavior=usual, policy=usual, propensities=False)
    return tuned(world, toward(usual, soft(knowing, 0.0)), generator, 0.08, 0.4)


def venture_rounds(generator: np.random.Generator) -> World:
    """Firms ask for money in two to four rounds: nothing, some or much is given. A few earn it back many times.

    Columns: sales (log), months that money lasts, sector (a code of 8 to 14), people, and the round. Those out of
    money are gone. The policy leaves nothing to chance. Rewards in millions.
    """
    horizon, sectors = whole(generator, 2, 4), whole(generator, 8, 14)
    given = np.array([0.0, 1.0, 3.0]) * generator.uniform(0.6, 1.4)
    luck, tail = generator.normal(0.0, 0.5, sectors), generator.uniform(2.3, 3.0)
    sated, needs = generator.uniform(1.0, 2.5), generator.uniform(0.5, 1.1)
    boost, size = generator.uniform(0.15, 0.4), generator.uniform(12.0, 30.0)
    grand = generator.uniform(0.6, 1.5)
    liked, sure = luck + generator.normal(0.0, 0.5, sectors), generator.uniform(0.62, 0.8)
    low, high = generator.normal(-0.6, 0.25), generator.normal(0.7, 0.25)
    aims, weighs = generator.uniform(0.4, 1.2, 2) * generator.choice([-1.0, 1.0], 2), generator.uniform(0.2, 1.0)

    def initial(count: int, noise: np.random.Generator) -> Table:
        sales, months = noise.normal(0.0, 0.9, count), noise.gamma(5.0, 2.0, count)
        return table(sales, months, noise.integers(sectors, size=count), noise.poisson(size, count), np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        sales, months, sector, people, past = states.T
        count, money = len(states), given[taken]
        fits = luck[codes(sector)] + 0.5 * np.tanh(sales) * (people > size)
        times = grand * np.minimum(1.0 + noise.pareto(tail, count), 60.0) * np.exp(0.8 * np.tanh(fits))
        rewards = times * sated * (1.0 - np.exp(-money / sated)) - money
        sales = np.clip(sales + boost * money * (fits > 0.0) + 0.3 * noise.normal(size=count), -4.0, 5.0)
        months = months + 6.0 * money - needs * (4.0 + 0.1 * people) + 1.0 * noise.normal(size=count)
        people = np.clip(people + noise.poisson(2.0 * money + 0.5) - 1.0, 1.0, 120.0)
        return table(sales, np.maximum(months, 0.0), sector, people, past + 1.0), rewards, months <= 0.0

    def judge(bars: np.ndarray, heeds: float) -> Custom:
        def pick(seen: Table) -> Choice:
            mark = 0.7 * seen[:, 0] + heeds * liked[codes(seen[:, 2])] - 0.03 * (seen[:, 1] - 10.0)
            return (mark[:, None] > bars).sum(axis=1)

        return firm(pick, 3)

    bars = np.array([low, high])
    usual = loose(lambda seen: judge(bars, 0.4)(seen).argmax(axis=1), 3, sure)
    world = World(horizon, 3, initial, step, behavior=usual, policy=usual, discount=0.9)
    moved = np.sort(bars + aims)
    return tuned(
        world, lambda by: judge((1.0 - by) * bars + by * moved, 0.4 + by * (weighs - 0.4)), generator, 0.05, 0.3
    )


def salmon_pens(generator: np.random.Generator) -> World:
    """Lice on salmon: medicine in the feed works weeks later, a bath at once, but the fish eat less. Above a limit
    there is a fine.

    Columns: adult lice a fish, young lice, what was fed one, two and (in some) three weeks ago, warmth of the sea,
    weight of the fish (kg), and the week.
    """
    horizon, delay = whole(generator, 7, 12), whole(generator, 2, 3)
    breeds, ripens = generator.uniform(0.25, 0.6), generator.uniform(0.4, 0.7)
    kills, bathes = generator.uniform(0.6, 0.95), generator.uniform(0.4, 0.8)
    limit, fine = generator.uniform(0.5, 1.2), generator.uniform(1.5, 6.0)
    gains, stress = generator.uniform(0.15, 0.3), generator.uniform(0.3, 0.8)
    price, cost = generator.uniform(4.0, 8.0), generator.uniform(0.2, 0.7, 2)
    alarmed, blind = generator.uniform(0.4, 0.9), generator.uniform(0.5, 1.5)
    least, wiser = generator.uniform(0.05, 0.09), flip(generator, 0.7)
    discount = float(generator.choice([0.95, 0.98]))

    def initial(count: int, noise: np.random.Generator) -> Table:
        lice, young = noise.gamma(2.0, 0.25, count), noise.gamma(2.0, 0.3, count)
        fed = (noise.random((count, delay)) < 0.15).astype(np.float64)
        return table(lice, young, fed, noise.normal(10.0, 2.0, count), noise.normal(2.5, 0.4, count), np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        lice, young, fed = states[:, 0], states[:, 1], states[:, 2 : 2 + delay]
        warmth, weight, week = states[:, -3], states[:, -2], states[:, -1]
        count, bath = len(states), taken == 2
        works = kills * fed[:, -1]
        grown = np.minimum(ripens, 0.9) * young * (1.0 - 0.8 * works)
        lice = (lice * (1.0 - works) + grown) * 0.9 * np.where(bath, 1.0 - bathes, 1.0)
        lice = np.clip(lice * np.exp(0.2 * noise.normal(size=count)), 0.0, 20.0)
        born = breeds * (0.4 + 0.06 * np.maximum(warmth, 0.0)) * lice + 0.1 * noise.exponential(1.0, count)
        young = np.clip((1.0 - ripens) * young + born, 0.0, 20.0)
        eats = gains * (1.0 - stress * bath) / (1.0 + 0.3 * lice)
        rewards = price * eats - cost[0] * (taken == 1) - cost[1] * bath - fine * (lice > limit)
        warmth = 10.0 + 0.8 * (warmth - 10.0) + 1.2 * noise.normal(size=count)
        return table(lice, young, taken == 1, fed[:, :-1], warmth, weight + eats, week + 1.0), rewards, no_end(states)

    def likes(seen: Table) -> Grid:
        worry = blind * np.clip((seen[:, 0] - alarmed) / 0.4, -1.5, 2.0)
        return np.column_stack([np.full(len(seen), 0.8), worry, 0.8 * worry - 0.3])

    def wish(seen: Table) -> Grid:
        coming = seen[:, 0] + seen[:, 1] > 1.2 * limit
        waits = seen[:, 2 : 2 + delay].sum(axis=1) > 0.0
        early = coming & ~waits if wiser else coming
        return np.column_stack([np.zeros(len(seen)), 2.0 * early - 0.7, np.where(early, -0.5, 0.0)])

    usual = soft(likes, least)
    world = World(horizon, 3, initial, step, behavior=usual, policy=usual)
    return replace(tuned(world, leaning(usual, wish, 2.0), generator, 0.05, 0.4), discount=discount)
