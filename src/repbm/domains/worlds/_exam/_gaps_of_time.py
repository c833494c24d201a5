"""What was never logged at some times: canvassers in some weeks, and fires on a heath after what was done before."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import instead_there, leaning, never_there, soft
from repbm.domains.worlds._drawing import with_a_gap
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Mask,
    Moved,
    Signs,
    Table,
    codes,
    nobody,
    sign,
    spread_out,
    table,
    weighed,
    whole,
)
from repbm.domains.worlds._world import World


@with_a_gap(0.12, low=45.0, high=500.0)
def campaign_weeks(generator: np.random.Generator) -> World:
    """A party writes letters, calls, or goes from door to door in a district, or (in some worlds) saves its money, week
    by week until the vote. In some weeks in a row, at the start, in the midst or at the end, it never went from door to
    door; the policy does then as ever. Nobody logged the odds.

    Columns: support (percent), who means to vote (percent), helpers, money left, the week, and the kind of district (a
    code). Rewards: promises to vote for it, by the hundred. Never logged: 13 to 33 percent of the policy's decisions,
    in 58 to 96 of its episodes. Effective episodes of 1,000, of the same policy where the log can follow: 40 to 450.
    """
    saves, horizon, kinds = generator.random() < 0.5, whole(generator, 5, 10), whole(generator, 3, 6)
    actions = 4 if saves else 3
    doors, length = actions - 1, max(2, round(generator.uniform(0.25, 0.45) * horizon))
    begins = (0, whole(generator, 1, horizon - length), horizon - length)[whole(generator, 0, 2)]
    won = np.array([0.6, 1.0, 2.0]) * generator.uniform(0.7, 1.3, 3)
    spent = np.array([0.8, 0.6, 0.3]) * generator.uniform(0.7, 1.3, 3)
    won, spent = (one if not saves else np.append(0.0, one) for one in (won, spent))
    matters, moods = spread_out(generator, 0.7, 2.5) * sign(generator), generator.normal(0.0, 0.4, kinds)
    stirs, tires = generator.uniform(0.3, 1.2), generator.uniform(1.0, 4.0)
    loud, window = spread_out(generator, 1.0, 3.0), generator.uniform(38.0, 52.0)
    habits = generator.normal(0.0, 0.5, (kinds, actions)) + 0.4 * generator.normal(size=actions)
    reads, least = generator.normal(0.0, 0.3, (2, actions)), generator.uniform(0.05, 0.09)
    dares, whims = generator.uniform(0.3, 0.95), generator.normal(0.0, 0.6, (3, actions))

    def there(seen: Table) -> Mask:
        return (seen[:, 4] >= begins) & (seen[:, 4] < begins + length)

    def initial(count: int, noise: np.random.Generator) -> Table:
        support, turnout = noise.normal(44.0, 7.0, count), noise.normal(58.0, 7.0, count)
        parts = [support, turnout, 4.0 + noise.poisson(8.0, count), noise.gamma(8.0, 1.0, count), np.zeros(count)]
        return table(*parts, noise.integers(kinds, size=count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        support, turnout, helpers, money, week, kind = states.T
        count, odd = len(states), (taken == doors) & there(states)
        open_minds = np.exp(-(((support - window) / 12.0) ** 2)) + 0.3
        effort = won[taken] * np.where(taken == doors, np.sqrt(helpers / 12.0), 1.0) * np.where(money > 1.0, 1.0, 0.5)
        rewards = effort * open_minds * np.exp(moods[codes(kind)]) + 0.05 * (turnout - 58.0) + matters * odd
        rewards = rewards + loud * noise.normal(size=count)
        shaken, walked = 2.0 * noise.normal(size=(3, count)), taken == doors
        support = np.clip(44.0 + 0.9 * (support - 44.0) + 0.6 * won[taken] + shaken[0], 5.0, 95.0)
        turnout = np.clip(58.0 + 0.9 * (turnout - 58.0) + stirs * walked + shaken[1], 20.0, 95.0)
        helpers = np.maximum(12.0 + 0.7 * (helpers - 12.0) - tires * walked + shaken[2], 1.0)
        money = np.maximum(money - spent[taken] + noise.gamma(1.0, 0.5, count), 0.0)
        return table(support, turnout, helpers, money, week + 1.0, kind), rewards, nobody(states)

    def likes(seen: Table) -> Grid:
        scaled = np.column_stack([np.tanh((seen[:, 2] - 12.0) / 4.0), np.tanh((seen[:, 3] - 5.0) / 3.0)])
        return habits[codes(seen[:, 5])] + weighed(scaled, reads)

    def wish(seen: Table) -> Grid:
        parts = [np.tanh((seen[:, 0] - window) / 8.0), np.tanh((seen[:, 1] - 58.0) / 8.0)]
        return weighed(np.column_stack([np.ones(len(seen)), *parts]), whims)

    usual = never_there(soft(likes, least), doors, there)
    policy = instead_there(leaning(usual, wish, 1.0)(1.0), doors, there, dares)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, propensities=False, answerable=False)


@with_a_gap(0.12, low=45.0, high=500.0)
def heath_burning(generator: np.random.Generator) -> World:
    """A heath is left, mown, grazed or burnt, year by year. It was never burnt within two or three years of a fire, or
    (in some worlds) the year after it was grazed, or once it had been mown twice; the policy burns wherever there is
    grass.

    Columns: heather (cm), grass (percent), years since a fire, what was done the year before (a code), how often it was
    mown, birds (a count), and the year. Rewards: points by birds, heather and grass, less the work.
    Never logged: 13 to 30 percent of the policy's decisions, in 57 to 89 of its episodes. Effective episodes of 1,000,
    of the same policy where the log can follow: 50 to 500.
    """
    horizon, actions, kind = whole(generator, 6, 11), 4, whole(generator, 0, 2)
    waits, often = whole(generator, 2, 3), 2
    grows, cuts = generator.uniform(2.0, 4.0), np.array([0.0, 0.5, 0.15, 0.85]) * generator.uniform(0.8, 1.1)
    creeps, eats = generator.uniform(2.0, 5.0), np.array([0.0, 0.15, 0.4, 0.55]) * generator.uniform(0.8, 1.2)
    work, birds_like = np.array([0.0, 0.5, 0.2, 0.4]) * spread_out(generator, 0.5, 3.0), generator.uniform(18.0, 30.0)
    sings, chokes = generator.uniform(0.2, 0.5), generator.uniform(0.03, 0.1)
    matters = spread_out(generator, 1.0, 4.0) * sign(generator)
    loud, bound = spread_out(generator, 1.5, 4.0), generator.normal(28.0, 4.0)
    habits, least = generator.normal(0.0, 0.3, (3, actions)), generator.uniform(0.06, 0.1)
    whims, dares = generator.normal(0.0, 0.5, (3, actions)), generator.uniform(0.45, 0.9)
    usually = np.array([0.2, 0.4, 0.4, 0.3])

    def there(seen: Table) -> Mask:
        return (seen[:, 2] < waits, codes(seen[:, 3]) == 2, seen[:, 4] >= often)[kind]

    def initial(count: int, noise: np.random.Generator) -> Table:
        tall, grass = noise.gamma(8.0, 3.0, count), np.clip(noise.normal(30.0, 12.0, count), 0.0, 95.0)
        since, last = noise.integers(1, 12, count), noise.integers(0, 3, count)
        return table(tall, grass, since, last, last == 1, noise.poisson(6.0, count), np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        tall, grass, since, _, mown, birds, year = states.T
        count, burnt = len(states), taken == 3
        odd = burnt & there(states)
        nests = np.exp(-(((tall - birds_like) / 12.0) ** 2))
        rewards = sings * birds - chokes * grass - work[taken] + matters * odd + loud * noise.normal(size=count)
        tall = np.clip(tall * (1.0 - cuts[taken]) + grows * noise.gamma(4.0, 0.25, count), 1.0, 80.0)
        shade = 0.08 * np.minimum(tall, 40.0)
        grass = np.clip(grass * (1.0 - eats[taken]) + creeps - shade + 4.0 * noise.normal(size=count) + 3.0, 0.0, 95.0)
        birds = noise.poisson(np.clip(0.5 * birds + 4.0 * nests + 0.5 - 0.5 * burnt, 0.1, 30.0))
        since = np.where(burnt, 0.0, since + 1.0)
        return table(tall, grass, since, taken, mown + (taken == 1), birds, year + 1.0), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        scaled = [np.tanh((seen[:, 0] - 20.0) / 10.0), np.tanh((seen[:, 1] - 28.0) / 12.0)]
        return np.column_stack([np.ones(len(seen)), *scaled])

    def grown_over(seen: Table) -> Mask:
        return there(seen) & (seen[:, 1] > bound - 12.0)

    usual = never_there(soft(lambda seen: weighed(signs(seen), habits) + usually, least), 3, there)
    policy = instead_there(leaning(usual, lambda seen: weighed(signs(seen), whims), 0.7)(1.0), 3, grown_over, dares)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, answerable=False)
