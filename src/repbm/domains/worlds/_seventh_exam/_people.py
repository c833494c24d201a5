"""People and their turns: manuscripts that are revised until somebody decides, serves of tennis, and a fish tank."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import blend, firm, floored, leaning, soft, toward
from repbm.domains.worlds._drawing import asked, effective
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Mask,
    Moved,
    Signs,
    Table,
    chosen,
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


@effective(60.0, 280.0)
def manuscript_rounds(generator: np.random.Generator) -> World:
    """A manuscript is touched up, given new experiments, or defended, until a journal takes it or sends it back for
    good, which can be any round. Only the last row has a reward: what the journal counts for, or 0; the log does not
    say what became of the manuscript then.

    Columns: soundness (0 to 10), novelty, referees (a count), field (a code), two flags (known authors; a referee is
    hostile), months gone by, and the round. Effective episodes of 1,000: 90 to 260.
    """
    horizon, fields, actions = whole(generator, 3, 6), whole(generator, 4, 9), 3
    mends = np.array([0.3, 1.4, -0.1]) * generator.uniform(0.5, 1.3, 3)
    ages = np.array([2.0, 7.0, 1.0])
    asks, keen = generator.uniform(5.0, 6.5), generator.uniform(0.6, 1.2)
    soothes, knows = generator.normal(0.0, 0.9, 3), generator.uniform(0.0, 0.8)
    tires, scooped = generator.uniform(0.1, 0.4), generator.uniform(8.0, 14.0)
    counts, gate = generator.uniform(2.0, 9.0, fields), generator.uniform(0.12, 0.3)
    plain, firmness = generator.random() < 0.5, generator.uniform(0.2, 0.6)
    habits, least = generator.normal(0.0, 0.5, (4, actions)), generator.uniform(0.04, 0.08)
    weak, moved = generator.uniform(4.5, 6.5), generator.uniform(-0.8, 0.8)
    whims = generator.normal(0.0, 0.8, (4, actions))

    def initial(count: int, noise: np.random.Generator) -> Table:
        sound, novel = np.clip(noise.normal(5.3, 1.5, count), 0.0, 10.0), noise.normal(size=count)
        parts = [sound, novel, 2.0 + noise.binomial(2, 0.4, count), noise.integers(fields, size=count)]
        flags = [noise.random(count) < 0.3, noise.random(count) < 0.35]
        return table(*parts, *flags, noise.poisson(4.0, count), np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        sound, novel, referees, field, known, hostile, months, nth = states.T
        count = len(states)
        gained = mends[taken] * np.where((taken == 1) & (sound > 7.5), 0.2, 1.0) * noise.gamma(3.0, 1.0 / 3.0, count)
        sound = np.clip(sound + gained + 0.4 * noise.normal(size=count), 0.0, 10.0)
        pleased = keen * (sound - asks) + 0.4 * novel + knows * known + soothes[taken] * hostile
        pleased = pleased - 0.3 * (referees - 2.0) - 1.2 * (months > scooped)
        accepted = occurs(0.8 * rise(pleased - 0.7), noise)
        refused = occurs(np.clip(gate * (1.0 + tires * nth) * 2.0 * rise(-pleased), 0.0, 0.9), noise) & ~accepted
        rewards = accepted * counts[codes(field)] * np.exp(0.25 * novel + 0.3 * noise.normal(size=count))
        hostile = np.where(hostile > 0.0, ~occurs(0.2 + 0.3 * (taken == 2), noise), occurs(np.full(count, 0.1), noise))
        months = months + ages[taken] + noise.poisson(2.0, count)
        return table(sound, novel, referees, field, known, hostile, months, nth + 1.0), rewards, accepted | refused

    def signs(seen: Table) -> Signs:
        return np.column_stack([np.ones(len(seen)), np.tanh((seen[:, 0] - asks) / 1.5), seen[:, 5], seen[:, 6] > 9.0])

    def rule(seen: Table) -> Choice:
        late = (seen[:, 6] > scooped) | (seen[:, 7] >= horizon - 1.0)
        return np.where(
            (seen[:, 5] > 0.0) & (seen[:, 0] > weak + moved), 2, np.where((seen[:, 0] < weak) & ~late, 1, 0)
        )

    loose = soft(lambda seen: weighed(signs(seen), habits), least)
    followed = firm(rule, actions)
    usual = blend(loose, followed, firmness)
    world = World(horizon, actions, initial, step, behavior=usual, policy=followed, last_state=False)
    if plain:
        return world
    return asked(world, leaning(usual, lambda seen: weighed(signs(seen), whims), 2.0), generator, 70.0, 240.0)


@effective(90.0, 330.0)
def tennis_serves(generator: np.random.Generator) -> World:
    """A player serves to one of three to five places, some points long, to where it went well in situations like this
    one that the player recalls: the odds follow from how near those are. They are not logged.

    Columns: where the receiver leans (degrees), side wind (m/s), tiredness, points ahead, and a flag: second serve.
    Rewards: points won (1 or 0). Effective episodes of 1,000: 110 to 300.
    """
    actions, horizon, recalled = whole(generator, 3, 5), whole(generator, 4, 8), whole(generator, 4, 8)
    places = np.linspace(-60.0, 60.0, actions)
    memories = generator.normal(size=(actions, recalled, 4)) * [1.2, 1.2, 1.0, 1.0]
    reach, sharp = generator.uniform(0.6, 1.1), generator.uniform(1.2, 2.2)
    least, wide = generator.uniform(0.035, 0.06), generator.uniform(25.0, 50.0)
    gains, drift = generator.uniform(0.5, 1.6), generator.uniform(2.0, 7.0)
    faults, tires = generator.uniform(0.2, 0.8), generator.uniform(0.1, 0.4)
    learns, nerves = generator.uniform(0.2, 0.6), generator.normal(0.0, 0.3)
    errs, plain = generator.normal(0.0, 25.0), generator.random() < 0.5
    whims = generator.normal(0.0, 0.7, (3, actions))

    def initial(count: int, noise: np.random.Generator) -> Table:
        leans, wind = noise.normal(0.0, 30.0, count), noise.normal(0.0, 2.5, count)
        return table(leans, wind, np.abs(noise.normal(0.5, 0.3, count)), np.zeros(count), noise.random(count) < 0.35)

    def lands(leans: np.ndarray, wind: np.ndarray) -> Grid:
        """How surprising each place is, from -1 to 1: as far off as the receiver can just not reach, and no farther."""
        off = np.abs(places[None, :] + drift * wind[:, None] - leans[:, None])
        return np.cos(np.pi * np.clip((off - 1.3 * wide) / wide, -1.0, 1.0))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        leans, wind, tired, ahead, second = states.T
        count, edge = len(states), np.abs(places[taken]) > 40.0
        odds = (
            0.2
            + gains * chosen(lands(leans, wind), taken)
            - tires * tired * edge
            - faults * edge * (np.abs(wind) > 3.0)
        )
        odds = odds - 0.4 * second + nerves * (np.abs(ahead) > 2.0)
        won = occurs(rise(odds), noise)
        leans = (1.0 - learns) * leans + learns * places[taken] + 20.0 * noise.normal(size=count)
        wind = 0.7 * wind + 1.8 * noise.normal(size=count)
        tired = np.maximum(0.9 * tired + 0.15 * edge + 0.1 * noise.normal(size=count), 0.0)
        following = table(leans, wind, tired, ahead + 2.0 * won - 1.0, noise.random(count) < 0.35)
        return following, won.astype(np.float64), nobody(states)

    def scaled(seen: Table) -> Signs:
        return np.column_stack([seen[:, 0] / 30.0, seen[:, 1] / 2.5, 2.0 * seen[:, 2] - 1.0, seen[:, 3] / 2.0])

    def usual(seen: Table) -> Grid:
        here = scaled(seen)
        far = (here**2).sum(axis=1)[:, None, None] - 2.0 * weighed(here, memories.T) + (memories.T**2).sum(axis=0)
        return floored(((1.0 + np.maximum(far, 0.0) / reach**2) ** -sharp).sum(axis=1), least)

    def wish(seen: Table) -> Grid:
        signs = np.column_stack([np.ones(len(seen)), scaled(seen)[:, :2]])
        return weighed(np.clip(signs, -2.0, 2.0), whims)

    def coach(seen: Table) -> Choice:
        return lands(seen[:, 0] + errs, seen[:, 1]).argmax(axis=1)

    path = toward(usual, firm(coach, actions)) if plain else leaning(usual, wish, 2.0)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual, propensities=False)
    return asked(world, path, generator, 115.0, 280.0)


@effective(10.0, 60.0)
def aquarium_care(generator: np.random.Generator) -> World:
    """Fish are fed little or much, or have their water changed, on each of 40 to 60 days. What is left over sinks,
    and turns into ammonia days later, which kills some above a bound.

    Columns: ammonia, waste on the ground, algae, fish (a count), warmth, and days since the water was changed.
    Rewards: how the fish do, of 1, less the work. Effective episodes of 1,000: 11 to 80, mostly 30.
    """
    horizon, actions = whole(generator, 40, 60), 3
    discount = float(generator.choice([1.0, 0.99, 0.98]))
    meals = np.array([0.3, 1.0, 0.5]) * generator.uniform(0.8, 1.2, 3)
    rots, clears = generator.uniform(0.04, 0.1), generator.uniform(0.15, 0.3)
    bound, kills = generator.uniform(0.8, 1.3), generator.uniform(0.02, 0.06)
    work, suffers = generator.uniform(0.05, 0.3), generator.uniform(0.1, 0.4)
    blooms, washed = generator.uniform(0.02, 0.06), generator.uniform(0.3, 0.6)
    loud, sure = spread_out(generator, 0.6, 1.5), generator.uniform(0.5, 0.75)
    early, turned = whole(generator, 5, 10), sign(generator)
    murky, heed = generator.uniform(0.5, 1.0), generator.normal(0.0, 0.5, (3, actions))

    def initial(count: int, noise: np.random.Generator) -> Table:
        waste, algae = noise.gamma(4.0, 1.0, count), noise.gamma(2.0, 0.2, count)
        fish, since = 6.0 + noise.poisson(6.0, count), noise.integers(0, 8, count)
        return table(noise.gamma(3.0, 0.15, count), waste, algae, fish, noise.normal(25.0, 1.0, count), since)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        ammonia, waste, algae, fish, warm, since = states.T
        count, changed = len(states), taken == 2
        fed = np.minimum(meals[taken] * 12.0 / np.maximum(fish, 1.0), 1.3)
        died = noise.binomial(fish.astype(np.int64), np.clip(kills * (ammonia > bound) * ammonia, 0.0, 0.5))
        rewards = (
            (0.5 + 0.5 * np.minimum(fed, 1.0) - suffers * (ammonia > 0.7 * bound) - 0.1 * (algae > 1.5)) * fish / 12.0
        )
        rewards = rewards - work * changed - 0.05 * died + loud * noise.normal(size=count)
        rotten = rots * waste * np.exp(0.06 * (warm - 25.0))
        waste = np.maximum(waste - rotten + meals[taken] * noise.gamma(6.0, 1.0 / 6.0, count), 0.0)
        ammonia = (ammonia * (1.0 - clears) + 0.35 * rotten + 0.02 * noise.exponential(1.0, count)) * np.where(
            changed, 1.0 - washed, 1.0
        )
        algae = np.clip(
            algae * np.exp(blooms * np.tanh(ammonia) - 0.15 * changed + 0.05 * noise.normal(size=count)), 0, 5
        )
        warm = 25.0 + 0.8 * (warm - 25.0) + 0.6 * noise.normal(size=count)
        since = np.where(changed, 0.0, since + 1.0)
        return table(ammonia, waste, algae, fish - died, warm, since), rewards, nobody(states)

    def due(seen: Table) -> Mask:
        return (seen[:, 5] >= early) | (seen[:, 0] > murky * bound)

    def rule(seen: Table) -> Choice:
        return np.where(due(seen), 2, np.where(seen[:, 1] > 8.0, 0, 1))

    def signs(seen: Table) -> Signs:
        return np.column_stack([np.ones(len(seen)), np.tanh(seen[:, 0] - bound), np.tanh((seen[:, 1] - 8.0) / 3.0)])

    def wish(seen: Table) -> Grid:
        return weighed(signs(seen), heed) + turned * np.array([0.2, -0.5, 0.5])

    usual = blend(soft(lambda seen: 0.3 * weighed(signs(seen), heed[:, ::-1]), 0.1), firm(rule, actions), sure)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual, discount=discount)
    return asked(world, leaning(usual, wish, 3.0), generator, 15.0, 36.0)
