"""What is sold and let: houses until somebody buys one, films on so many screens, and lockers for parcels."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import blend, firm, floored, leaning, soft, toward
from repbm.domains.worlds._drawing import asked, effective
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Moved,
    Signs,
    Table,
    codes,
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


@effective(70.0, 320.0, rollouts=4)
def house_listings(generator: np.random.Generator) -> World:
    """The price of a house for sale is kept or cut, or the house is shown to all who come, or (in some worlds) painted,
    every two weeks, until it is sold or its owner gives up, which the log does not tell apart. Only the last row has a
    reward: what the agent earns, or 0. The log does not show what the house was like then.

    Columns: what is asked (percent of an estimate), people who looked (a count), condition (0 to 10), part of the town
    (a code), two flags (somebody lives in it; spring), and weeks on sale. In half of the worlds the policy is a rule
    that some agents follow. Effective episodes of 1,000: 50 to 260.
    """
    horizon, parts, actions = whole(generator, 4, 9), whole(generator, 4, 10), whole(generator, 3, 4)
    liked, worth = (
        generator.normal(0.0, 0.5, parts),
        spread_out(generator, 4.0, 15.0) * generator.uniform(0.6, 1.5, parts),
    )
    minds, stale = generator.uniform(0.12, 0.25), generator.uniform(0.03, 0.12)
    sells, gives_up = generator.uniform(-1.8, -0.9), generator.uniform(0.05, 0.12)
    cut, shows, mends = generator.uniform(4.0, 8.0), generator.uniform(0.3, 1.2), generator.uniform(0.8, 2.0)
    costs = np.array([0.0, 0.0, 0.1, 0.25])[:actions] * generator.uniform(0.5, 1.5)
    plain, firmness, few = generator.random() < 0.5, generator.uniform(0.2, 0.5), generator.uniform(2.0, 5.0)
    habits, least = generator.normal(0.0, 0.5, (4, actions)), generator.uniform(0.05, 0.08)
    whims, turned = generator.normal(0.0, 0.5, (4, actions)), sign(generator)

    def initial(count: int, noise: np.random.Generator) -> Table:
        seen = [
            noise.normal(106.0, 7.0, count),
            noise.poisson(4.0, count),
            np.clip(noise.normal(6.0, 1.8, count), 0, 10),
        ]
        flags = [noise.random(count) < 0.6, noise.random(count) < 0.3]
        return table(*seen, noise.integers(parts, size=count), *flags, np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        price, looked, state, part, lived, spring, weeks = states.T
        count = len(states)
        price = np.where(taken == 1, price - cut * noise.gamma(9.0, 1.0 / 9.0, count), price)
        state = np.where(taken == 3, np.minimum(state + mends, 10.0), state)
        draws = liked[codes(part)] + 0.2 * (state - 6.0) - minds * (price - 100.0) - stale * weeks / 2.0
        odds = sells + draws + shows * (taken == 2) * (lived == 0.0) + 0.1 * (looked - 4.0) + 0.4 * spring
        sold = occurs(rise(odds), noise)
        ended = sold | occurs(gives_up * (1.0 + 0.1 * weeks), noise)
        earned = worth[codes(part)] * (price / 100.0) ** 2 * np.exp(0.15 * noise.normal(size=count))
        spent = weeks * 0.02 + costs[taken]
        looked = noise.poisson(np.exp(np.clip(1.3 + 0.5 * draws + 0.5 * (taken == 2), -2.0, 3.0)))
        spring = np.where(noise.random(count) < 0.15, 1.0 - spring, spring)
        following = table(price, looked, state, part, lived, spring, weeks + 2.0)
        return following, np.where(sold, np.maximum(earned * (1.0 - spent), 0.0), 0.0), ended

    def signs(seen: Table) -> Signs:
        scaled = np.column_stack([(seen[:, 0] - 104.0) / 8.0, (seen[:, 1] - 4.0) / 3.0, (seen[:, 2] - 6.0) / 2.0])
        return np.column_stack([np.ones(len(seen)), np.tanh(scaled)])

    def rule(seen: Table) -> Choice:
        return np.where((seen[:, 1] < few) & (seen[:, 0] > 96.0), 1, np.where(seen[:, 4] == 0.0, 2, 0))

    def wish(seen: Table) -> Grid:
        return weighed(signs(seen), whims) + turned * np.array([-0.6, 0.8, 0.2, 0.2])[:actions]

    followed = firm(rule, actions)
    usual = blend(soft(lambda seen: weighed(signs(seen), habits), least / (1.0 - firmness)), followed, firmness)
    world = World(horizon, actions, initial, step, behavior=usual, policy=followed, last_state=False)
    return world if plain else asked(world, leaning(usual, wish, 2.0), generator, 80.0, 260.0)


@effective(75.0, 360.0, rollouts=4)
def cinema_screens(generator: np.random.Generator) -> World:
    """A film is shown on few, some, many or (in some worlds) nearly all screens, week by week; one film in hundreds
    fills them all. Who saw it talks about it, which shows in the weeks after, for better or worse. Bookers go by its
    kind and by bands of what it took; their odds were not logged.

    Columns: takings of last week (logarithm), reviews (0 to 100), kind (a code), films against it (a count), talk, a
    flag: holidays, and the week. Rewards: thousands taken, less what screens cost; heavy-tailed.
    Effective episodes of 1,000: 100 to 330.
    """
    actions, horizon, kinds = whole(generator, 3, 4), whole(generator, 3, 6), whole(generator, 4, 8)
    screens = np.array([0.3, 0.6, 1.0, 1.5])[:actions] * generator.uniform(0.8, 1.2)
    heavy, lasting = generator.uniform(0.8, 1.1), generator.uniform(0.5, 0.8)
    base, rent = spread_out(generator, 20.0, 60.0), generator.uniform(0.3, 0.9)
    fills, fades = generator.uniform(0.4, 0.8), generator.uniform(0.1, 0.3)
    lifts, tires = generator.uniform(0.3, 0.8), generator.uniform(0.0, 0.3)
    draws, spoils = generator.normal(0.0, 0.3, kinds), generator.uniform(0.05, 0.2)
    bands = np.sort(np.log(base) + generator.normal(-0.5, 0.7, 2))
    odds = floored(generator.dirichlet(np.full(actions, 2.5), kinds * 3), generator.uniform(0.05, 0.08))
    whims, turned = generator.normal(0.0, 0.5, (4, actions)), sign(generator)

    def initial(count: int, noise: np.random.Generator) -> Table:
        took, reviews = np.log(base) - 0.5 + 0.8 * noise.normal(size=count), 100.0 * noise.beta(4.0, 2.7, count)
        parts = [noise.integers(kinds, size=count), noise.poisson(2.0, count), 0.6 * noise.normal(size=count)]
        return table(took, reviews, *parts, noise.random(count) < 0.2, np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        _, reviews, kind, rivals, talk, holiday, week = states.T
        count, shown = len(states), screens[taken]
        appeal = draws[codes(kind)] + 0.01 * (reviews - 60.0) + 0.5 * talk - spoils * rivals + 0.3 * holiday
        crowd = base * np.exp(appeal - fades * week + heavy * noise.normal(size=count) - 0.5 * heavy**2)
        takings = np.maximum(crowd, 0.01) * shown**fills
        pleased = np.tanh((reviews - 60.0) / 12.0)
        talk = lasting * talk + shown * (lifts * pleased - tires) + 0.3 * noise.normal(size=count)
        holiday = np.where(noise.random(count) < 0.3, noise.random(count) < 0.2, holiday)
        rivals = noise.poisson(0.5 * rivals + 1.0)
        following = table(np.log(takings), reviews, kind, rivals, np.clip(talk, -3.0, 3.0), holiday, week + 1.0)
        return following, takings - rent * base * shown, nobody(states)

    def usual(seen: Table) -> Grid:
        band = (seen[:, 0] > bands[0]).astype(np.int64) + (seen[:, 0] > bands[1])
        return odds[3 * codes(seen[:, 2]) + band]

    def wish(seen: Table) -> Grid:
        parts = [np.tanh((seen[:, 1] - 60.0) / 15.0), np.tanh(seen[:, 4]), np.tanh((seen[:, 3] - 2.0) / 1.5)]
        more = turned * np.linspace(-1.0, 1.0, actions)
        return weighed(np.column_stack([np.ones(len(seen)), *parts]), whims) + np.outer(0.8 + 0.5 * parts[0], more)

    world = World(horizon, actions, initial, step, behavior=usual, policy=usual, propensities=False)
    return asked(world, leaning(usual, wish, 2.0), generator, 90.0, 310.0)


@effective(48.0, 260.0, rollouts=4)
def parcel_lockers(generator: np.random.Generator) -> World:
    """Lockers for parcels are in one of 4 to 7 grades of fullness, at one of 2 to 4 times of a day: parcels are all
    taken in, the large ones sent elsewhere, or (in some worlds) people asked to fetch theirs. The policy is a plan for
    all of these states, the best or the worst there is by a table that is not quite right: in all decisions, where it
    is known there and half followed, or in a share of them.

    Columns: fullness and time, both codes. Rewards: parcels handed out, less complaints. Later ones weigh less.
    Effective episodes of 1,000: 45 to 220.
    """
    grades, times, actions, horizon = (whole(generator, *bounds) for bounds in ((4, 7), (2, 4), (2, 3), (8, 24)))
    discount = float(np.round(generator.uniform(0.88, 0.98), 2))
    states, full = grades * times, np.tile(np.linspace(0.0, 1.0, grades), times)
    when = np.repeat(np.arange(times), grades)
    arrives, fetched = generator.uniform(0.5, 1.8, times), generator.uniform(0.3, 1.6, times)
    takes, calls = np.array([1.0, 0.45, 0.9])[:actions], np.array([1.0, 1.0, 1.7])[:actions]
    served, anger = spread_out(generator, 3.0, 12.0), generator.uniform(0.8, 3.0)
    likely, given = np.zeros((states, actions, grades)), np.zeros((states, actions))
    for action in range(actions):
        leaves = fetched[when] * calls[action] * np.minimum(2.0 * full, 1.2)
        aim = np.clip(full * (grades - 1) + arrives[when] * takes[action] - leaves, 0, grades - 1)
        near = np.exp(-0.5 * ((np.arange(grades) - aim[:, None]) / 0.9) ** 2) + 0.003
        likely[:, action] = [generator.dirichlet(12.0 * row / row.sum() + 0.05) for row in near]
        given[:, action] = served * (0.3 + full) * np.sqrt(calls[action]) * (0.5 + 0.5 * takes[action])
    complains = generator.uniform(0.3, 0.9) * np.outer(full**3, takes) + 0.08 * np.array([0.0, 0.8, 1.0])[:actions]
    given *= generator.uniform(0.8, 1.2, given.shape)
    sums, start = likely.cumsum(axis=2), generator.dirichlet(np.full(states, 1.5))
    odds = floored(generator.dirichlet(np.full(actions, 2.5), states), generator.uniform(0.06, 0.1))
    believed = given - anger * served * complains + 0.15 * served * generator.normal(size=given.shape)
    turned, worth, plain = sign(generator), np.zeros(states), generator.random() < 0.5
    known = max(2.0 * spread_out(generator, 0.06, 0.2) ** (1.0 / horizon) - 1.0, 0.2) if plain else 0.0
    told = believed
    for _ in range(40):
        after = worth.reshape(times, grades)[(when + 1) % times]
        told = turned * believed + discount * np.einsum("sag,sg->sa", likely, after)
        worth = told.max(axis=1)
    plan = told.argmax(axis=1)

    def place(now: Table) -> Choice:
        return codes(now[:, 1]) * grades + codes(now[:, 0])

    def initial(count: int, noise: np.random.Generator) -> Table:
        at = noise.choice(states, count, p=start)
        return table(at % grades, at // grades)

    def step(now: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        at = place(now)
        following = (noise.random((len(now), 1)) > sums[at, taken]).sum(axis=1).clip(max=grades - 1)
        angry = occurs(np.clip(complains[at, taken], 0.0, 0.95), noise)
        rewards = noise.poisson(given[at, taken]) - np.round(anger * served) * angry
        return table(following, (now[:, 1] + 1.0) % times), rewards.astype(np.float64), nobody(now)

    def loose(seen: Table) -> Grid:
        return odds[place(seen)]

    followed = firm(lambda seen: plan[place(seen)], actions)
    usual = blend(loose, followed, known)
    world = World(horizon, actions, initial, step, behavior=usual, policy=followed, discount=discount)
    return world if plain else asked(world, toward(usual, followed), generator, 60.0, 210.0)
