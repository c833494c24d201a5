"""Money: gifts to a charity, debts that are collected, and a fund that is hedged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fourth_exam._changes import (
    asking,
    best,
    dropping,
    grouping,
    habit,
    handing,
    logged,
    steering,
    tilting,
)
from repbm.domains.worlds._fourth_exam._parts import (
    Happening,
    Picks,
    Scores,
    Sheet,
    Shown,
    State,
    bounded,
    expit,
    flips,
    nowhere,
    sometimes,
    turn,
    whole,
)
from repbm.domains.worlds._world import World


def charity_appeals(generator: np.random.Generator) -> World:
    """In every round a donor is left alone or asked in some way; most give nothing, some a little, a few very much.

    Asking tires. Parts: rounds since the last gift, gifts so far, logarithm of the usual gift, weariness, and a flag:
    a member.
    """
    actions, horizon = whole(generator, 3, 5), whole(generator, 4, 9)
    asks = np.concatenate([[0.0], np.sort(generator.uniform(0.6, 2.6, actions - 1))])
    more = np.concatenate([[0.0], generator.normal(0.1, 0.25, actions - 1)])
    intrudes, cost = asks * generator.uniform(0.2, 0.6), asks * generator.uniform(0.03, 0.15)
    members = np.concatenate([[0.0], generator.normal(0.0, 0.6, actions - 1)])
    base, fresh, loyal = generator.uniform(-2.8, -1.4), generator.uniform(0.1, 0.4), generator.uniform(0.1, 0.5)
    tires, rests, wide = generator.uniform(0.5, 1.2), generator.uniform(0.4, 0.75), generator.uniform(0.5, 0.9)
    custom, misjudged = generator.normal(0.0, 0.5, (5, actions)), generator.normal(0.0, 0.3, actions)
    middle, spread = np.array([3.0, 2.0, 0.0, 0.5, 0.4]), np.array([2.0, 1.5, 0.7, 0.5, 0.5])
    sheet = Sheet.drawn(generator, 5, plain=(0, 1, 4))

    def initial(count: int, noise: np.random.Generator) -> State:
        since, gifts = noise.geometric(0.3, count), noise.poisson(2.0, count)
        usual_gift, weary = noise.normal(0.0, 0.7, count), noise.exponential(0.4, count)
        return np.column_stack([np.minimum(since, 12), gifts, usual_gift, weary, noise.random(count) < 0.4]) * 1.0

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        since, gifts, level, weary, member = states.T
        count = len(states)
        willing = base - fresh * (since - 3.0) + loyal * np.sqrt(gifts) - tires * weary
        gives = flips(expit(willing + asks[taken] + members[taken] * member), noise)
        gift = np.exp(level + more[taken] + wide * noise.normal(size=count))
        rewards = np.where(gives, gift, 0.0) - cost[taken]
        level = np.where(gives, 0.7 * level + 0.3 * np.log(gift), level)
        weary = np.clip(rests * weary + intrudes[taken], 0.0, 4.0)
        since = np.where(gives, 1.0, np.minimum(since + 1.0, 12.0))
        member = np.where(gives & flips(np.full(count, 0.1), noise), 1.0, member)
        return np.column_stack([since, gifts + gives, level, weary, member]), rewards, nowhere(states)

    def liking(shown: Shown) -> Scores:
        return bounded(((shown - middle) / spread) @ custom, 2.0)

    def wish(shown: Shown) -> Scores:
        since, gifts, level, weary, member = shown.T
        open_to = expit(base - fresh * (since - 3.0) + loyal * np.sqrt(np.maximum(gifts, 0.0)) - tires * weary)
        gains = np.outer(open_to * np.exp(bounded(level, 2.0)), asks) + np.outer(member, members) * 0.3
        return 1.5 * (gains - cost - np.outer(0.3 + weary, intrudes) * 0.4 + 0.3 * misjudged)

    usual = habit(liking, generator.uniform(0.15, 0.35))
    changes = (
        tilting(usual, wish),
        dropping(usual, actions - 1, whole(generator, 0, actions - 2)),
        grouping(usual, handing(usual, best(wish))(generator.uniform(0.2, 0.6)), lambda shown: shown[:, 2], -1.0, 1.5),
    )
    world = logged(horizon, actions, initial, step, usual, sheet)
    return asking(world, sheet, changes[whole(generator, 0, 2)], generator, 0.1, 0.7)


def debt_collection(generator: np.random.Generator) -> World:
    """A debtor pays, goes bankrupt, or is sold off in the last month; only then is it known what came of the debt.

    All rewards are in the last row: what was paid less all that was spent. Parts: logarithm of the debt, goodwill,
    income, what was spent, the month, and a flag: at work. The log has no propensities, nor states after the end.
    """
    actions, horizon = whole(generator, 2, 4), whole(generator, 5, 12)
    presses = np.linspace(0.0, 1.0, actions) ** generator.uniform(0.7, 1.5)
    fees = presses * generator.uniform(0.02, 0.15)
    pays, fails = generator.uniform(-4.0, -2.8), generator.uniform(-4.2, -3.0)
    pushed, ruins = generator.uniform(1.0, 2.4), generator.uniform(0.3, 1.4)
    sours, heals, sold = generator.uniform(0.1, 0.5), generator.uniform(0.02, 0.15), generator.uniform(0.05, 0.25)
    works, able, ages = generator.uniform(0.5, 1.2), generator.uniform(0.3, 0.9), generator.uniform(0.03, 0.12)
    heed, shift, side = generator.normal(0.0, 0.6, 6), generator.normal(0.0, 0.4), turn(generator, 0.3)
    firm = sometimes(generator, 0.3)
    sharp, spread = (
        generator.uniform(*((5.0, 9.0) if firm else (1.0, 3.0))),
        np.array([0.6, 1.0, 0.8, 0.2, horizon / 2.0, 0.5]),
    )
    sheet = Sheet.drawn(generator, 6, plain=(4, 5))

    def initial(count: int, noise: np.random.Generator) -> State:
        at_work = noise.random(count) < 0.6
        income = noise.normal(0.0, 0.8, count) + 0.5 * at_work
        return np.column_stack(
            [noise.normal(0.0, 0.6, count), noise.normal(size=count), income, np.zeros((count, 2)), at_work]
        )

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        debt, goodwill, income, spent, month, job = states.T
        count, pressed = len(states), presses[taken]
        means = able * income + works * job - 0.6 * debt
        paid = flips(expit(pays + means + 0.5 * goodwill + pushed * pressed * (0.7 + 0.8 * np.tanh(means))), noise)
        broke = ~paid & flips(expit(fails - means + ruins * pressed * (1.0 - job) - 0.2 * goodwill), noise)
        over = ~paid & ~broke & (month > horizon - 1.5)
        spent = spent + fees[taken]
        share = np.where(paid, noise.beta(8.0, 2.0, count) * np.exp(-ages * month), np.where(over, sold, 0.0))
        rewards = np.where(paid | broke | over, np.exp(debt) * share - spent, 0.0)
        goodwill = bounded(goodwill + heals - sours * pressed + 0.3 * noise.normal(size=count), 4.0)
        income = 0.9 * income + 0.2 * job + 0.3 * noise.normal(size=count)
        job = flips(np.where(job > 0.5, 0.93, 0.15), noise) * 1.0
        return np.column_stack([debt, goodwill, income, spent, month + 1.0, job]), rewards, paid | broke | over

    def liking(shown: Shown) -> Scores:
        return sharp * np.outer(bounded((shown / spread) @ heed * 0.5 + shift, 1.2), presses)

    def wish(shown: Shown) -> Scores:
        means = able * shown[:, 2] + works * shown[:, 5] - 0.6 * shown[:, 0]
        return 2.0 * side * np.outer(np.tanh(means) + 0.3 * shown[:, 5] - 0.1, presses)

    usual = habit(liking, 0.03 if firm else generator.uniform(0.06, 0.2))
    change = tilting(usual, wish) if sometimes(generator) else handing(usual, best(wish))
    if firm:
        change = steering(liking, wish)
    world = logged(horizon, actions, initial, step, usual, sheet)
    world = asking(world, sheet, change, generator, 0.1, 0.6)
    return replace(world, propensities=False, last_state=False)


def hedged_fund(generator: np.random.Generator) -> World:
    """How much of a fund is invested; gains follow a trend and a gap that closes, and swing as the market is nervous.

    The noise of gains, and of nervousness itself, is the larger the more nervous the market is, and a crisis, which is
    flagged, multiplies it. Parts: nervousness, trend, gap, the share invested, and the flag.
    """
    actions, horizon = whole(generator, 3, 5), whole(generator, 8, 20)
    invested = np.linspace(0.0, 1.0, actions)
    calm, clings, fear = generator.uniform(-1.6, -0.9), generator.uniform(0.7, 0.92), generator.uniform(0.1, 0.35)
    drift, trendy, closes = generator.uniform(0.0, 0.1), generator.uniform(0.1, 0.3), generator.uniform(0.1, 0.3)
    lasts, trade = generator.uniform(0.6, 0.9), generator.uniform(0.0, 0.08)
    crash, recovers, worse = generator.uniform(0.02, 0.06), generator.uniform(0.15, 0.4), generator.uniform(1.5, 2.5)
    heeds, bias = generator.normal([-0.5, 0.5, 0.3], 0.4), generator.normal(0.0, 0.3)
    side = turn(generator, 0.3)
    sheet = Sheet.drawn(generator, 5, plain=(4,))

    def initial(count: int, noise: np.random.Generator) -> State:
        held = invested[noise.integers(0, actions, count)]
        return np.column_stack(
            [0.5 * noise.normal(size=count), noise.normal(size=(count, 2)), held, noise.random(count) < 0.1]
        )

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        nerves, trend, gap, held, crisis = states.T
        count, share = len(states), invested[taken]
        shock = noise.standard_t(6, count)
        swing = np.exp(calm + nerves) * np.where(crisis > 0.5, worse, 1.0)
        market = drift + trendy * trend + closes * gap - 0.15 * crisis + swing * shock
        rewards = share * market - trade * np.abs(share - held)
        nerves = np.clip(
            clings * nerves
            - fear * np.minimum(shock, 0.0) * 0.6
            - 0.3 * fear
            + 0.2 * np.exp(0.4 * nerves) * noise.normal(size=count),
            -2.0,
            1.6,
        )
        trend = bounded(lasts * trend + 0.3 * np.tanh(market) + 0.5 * noise.normal(size=count), 3.0)
        gap = bounded(0.85 * gap - 0.4 * market + 0.4 * noise.normal(size=count), 3.0)
        crisis = flips(np.where(crisis > 0.5, 1.0 - recovers, crash * np.exp(0.5 * nerves)), noise) * 1.0
        return np.column_stack([nerves, trend, gap, share, crisis]), rewards, nowhere(states)

    def liking(shown: Shown) -> Scores:
        mood = shown[:, :3] @ heeds + bias - 0.5 * shown[:, 4]
        return np.outer(bounded(mood, 1.5), invested) - 1.5 * (invested - shown[:, 3:4]) ** 2

    def wish(shown: Shown) -> Scores:
        gain = trendy * shown[:, 1] + closes * shown[:, 2] + drift - 0.2 * shown[:, 4]
        return side * 4.0 * np.outer(gain - 0.05 * shown[:, 0], invested)

    usual = habit(liking, generator.uniform(0.1, 0.25))
    change = tilting(usual, wish) if sometimes(generator, 0.6) else handing(usual, best(wish))
    world = logged(horizon, actions, initial, step, usual, sheet, float(generator.choice([1.0, 0.97, 0.9])))
    return asking(world, sheet, change, generator, 0.08, 0.5)
