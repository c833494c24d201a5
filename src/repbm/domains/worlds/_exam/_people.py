"""People and dogs: hearing aids that are set once, pickers who are quick or not, and what the staff of a shelter see
in a dog."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import Custom, firm, leaning, soft, toward
from repbm.domains.worlds._drawing import asked, effective, with_a_hidden_cause
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Moved,
    Signs,
    Table,
    chosen,
    codes,
    everybody,
    nobody,
    sign,
    spread_out,
    table,
    weighed,
    whole,
)
from repbm.domains.worlds._world import World


@effective(130.0, 560.0, rollouts=4)
def hearing_aids(generator: np.random.Generator) -> World:
    """A hearing aid is given one of four to six settings, once. Each strengthens low and high tones by so much; too
    little is not heard, too much hurts, more so in noise and with tinnitus. Three to five audiologists each have a
    formula, which is not written down, and nor is who it was, or how probable; which of them it is, is chance.

    Columns: loss of low and of high tones (dB), age, words understood (percent), noise at home (a code), and two flags
    (first aid; tinnitus). Rewards: what it helps, in points of a questionnaire. The policy is a formula, in all cases
    or in a share of them, or leans to some settings. Effective episodes of 1,000: 200 to 470.
    """
    actions, homes, people = whole(generator, 4, 6), whole(generator, 3, 6), whole(generator, 3, 5)
    lows, highs = generator.uniform(5.0, 30.0, actions), generator.uniform(10.0, 45.0, actions)
    needs, hurts = generator.uniform(0.4, 0.6, 2), generator.uniform(0.05, 0.2)
    noisy, bears = generator.uniform(0.0, 8.0, homes), generator.uniform(22.0, 34.0)
    helps, narrow = spread_out(generator, 8.0, 20.0), generator.uniform(10.0, 18.0)
    loud, least = spread_out(generator, 8.0, 25.0), generator.uniform(0.03, 0.06)
    shares, sure = generator.dirichlet(np.full(people, 4.0)), generator.uniform(0.6, 0.9)
    bends = generator.normal(0.0, 3.0, (homes, actions))
    whims, kind = generator.normal(0.0, 0.8, (3, actions)), whole(generator, 0, 2)

    def initial(count: int, noise: np.random.Generator) -> Table:
        low = np.clip(noise.normal(35.0, 13.0, count), 0.0, 90.0)
        high = np.clip(low + noise.gamma(3.0, 9.0, count), 5.0, 115.0)
        age = np.clip(np.round(noise.normal(68.0, 13.0, count)), 18.0, 99.0)
        words = np.clip(np.round(110.0 - 0.7 * high + noise.normal(0.0, 12.0, count)), 0.0, 100.0)
        flags = [noise.random(count) < 0.45, noise.random(count) < 0.25]
        return table(low, high, age, words, noise.integers(homes, size=count), *flags)

    def helped(seen: Table) -> Grid:
        low, high, age, words, _, fresh, ringing = (column[:, None] for column in seen.T)
        home = codes(seen[:, 4])
        off = np.hypot(lows - needs[0] * low, 0.7 * (highs - needs[1] * np.minimum(high, 85.0))) / narrow
        pain = np.maximum(highs + noisy[home][:, None] + 6.0 * ringing + 4.0 * fresh - bears - 0.1 * (high - 50.0), 0.0)
        gained = helps * np.exp(-(off**2)) * np.where(words < 40.0, 0.5, 1.0) * np.where(age > 80.0, 0.7, 1.0)
        return gained - hurts * pain + bends[home]

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        scatter = loud * np.where(states[:, 6] > 0.0, 1.4, 1.0)
        return states, chosen(helped(states), taken) + scatter * noise.normal(size=len(states)), everybody(states)

    def formula() -> Custom:
        """Half of the low loss, a third of the high one, or some such: the setting that is nearest."""
        parts, shift = generator.uniform(0.3, 0.7, 2), generator.normal(0.0, 6.0, actions)
        heeds = generator.uniform(0.0, 1.0)

        def pick(seen: Table) -> Choice:
            off = np.abs(lows - parts[0] * seen[:, :1]) + np.abs(highs - parts[1] * seen[:, 1:2])
            return (off + shift + heeds * np.outer(seen[:, 5] + seen[:, 6], highs / 3.0)).argmin(axis=1)

        return firm(pick, actions)

    formulas, asked_about = [formula() for _ in range(people)], formula()

    def usual(seen: Table) -> Grid:
        odds = np.zeros((len(seen), actions))
        for share, one in zip(shares, formulas, strict=True):
            odds += share * one(seen)
        return least + (1.0 - actions * least) * (sure * odds + (1.0 - sure) / actions)

    def wish(seen: Table) -> Grid:
        parts = [np.tanh((seen[:, 0] - 35.0) / 13.0), np.tanh((seen[:, 2] - 68.0) / 13.0)]
        return weighed(np.column_stack([np.ones(len(seen)), *parts]), whims)

    world = World(1, actions, initial, step, behavior=usual, policy=formulas[0], propensities=False)
    path = toward(usual, asked_about) if kind == 1 else leaning(usual, wish, 2.0)
    return world if kind == 0 else asked(world, path, generator, 150.0, 480.0)


@effective(60.0, 330.0, rollouts=4, off=(1.0, 4.0))
def order_pickers(generator: np.random.Generator) -> World:
    """A picker in a store is given small, middling, large or (in some worlds) huge batches of orders, shift by shift.
    The able manage large ones, others make mistakes in them. How able one is stays as it is, and no column holds it;
    foremen go by how quick somebody was, by mistakes and tiredness, and so does the policy.

    Seen: pace of the last shift (lines an hour), mistakes in it (a count), tiredness (0 to 10), orders waiting, part of
    the store (a code), and the shift. Not seen: ability. Rewards: euros a shift. Who takes what is seen for all there
    is, is wrong by up to 3 standard errors of the mean of 1,000 episodes. Effective episodes of 1,000: 90 to 280.
    """
    actions, horizon, areas = whole(generator, 3, 4), whole(generator, 5, 10), whole(generator, 3, 6)
    batch = np.linspace(-1.0, 1.0, actions)
    able, shows = generator.uniform(7.0, 14.0), generator.uniform(0.3, 0.7)
    gains, suits = generator.uniform(-2.0, 4.0), generator.uniform(3.0, 7.0)
    errs, fee = generator.uniform(0.2, 0.8), spread_out(generator, 2.0, 6.0)
    tires, drags = generator.uniform(0.4, 1.2), generator.uniform(0.5, 1.5)
    quick, loud = generator.normal(0.0, 4.0, areas), spread_out(generator, 8.0, 20.0)
    cap, habits = generator.uniform(25.0, 45.0), generator.normal(0.0, 0.6, 4)
    least, whims, turned = generator.uniform(0.05, 0.09), generator.normal(0.0, 0.4, 4), sign(generator)

    def initial(count: int, noise: np.random.Generator) -> Table:
        skill = noise.normal(size=count)
        pace, tired = 60.0 + able * shows * skill + 6.0 * noise.normal(size=count), noise.gamma(3.0, 1.0, count)
        mistakes = noise.poisson(np.exp(0.4 - 0.4 * errs * skill))
        seen = [
            pace,
            mistakes,
            np.minimum(tired, 10.0),
            noise.gamma(6.0, 5.0, count),
            noise.integers(areas, size=count),
        ]
        return table(*seen, np.zeros(count), skill)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        _, _, tired, waiting, area, shift, skill = states.T
        count, size = len(states), batch[taken]
        speed = able * skill + gains * size + suits * size * np.tanh(skill) - drags * (tired - 3.0) + quick[codes(area)]
        mistakes = noise.poisson(np.exp(np.clip(0.4 + errs * (size - skill) + 0.1 * (tired - 3.0), -3.0, 2.5)))
        busy = np.minimum(waiting, cap) / cap
        rewards = 60.0 * busy + speed * busy - fee * mistakes + loud * noise.normal(size=count)
        pace = 60.0 + shows * speed + 6.0 * noise.normal(size=count)
        tired = np.clip(0.7 * tired + tires * (1.0 + size) + noise.normal(size=count) * 0.7, 0.0, 10.0)
        waiting = np.maximum(30.0 + 0.5 * (waiting - 30.0) - 3.0 * size + 8.0 * noise.normal(size=count), 1.0)
        area = np.where(noise.random(count) < 0.2, noise.integers(areas, size=count), area)
        return table(pace, mistakes, tired, waiting, area, shift + 1.0, skill), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        scaled = [(seen[:, 0] - 60.0) / 9.0, (seen[:, 1] - 2.0) / 2.0, (seen[:, 2] - 4.0) / 2.0]
        return np.column_stack([np.ones(len(seen)), np.clip(np.column_stack(scaled), -2.0, 2.0)])

    def wish(seen: Table) -> Grid:
        return np.outer(weighed(signs(seen), whims) + turned, batch)

    usual = soft(lambda seen: np.outer(weighed(signs(seen), habits), batch), least)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual, observe=lambda states: states[:, :6])
    return asked(world, leaning(usual, wish, 2.0), generator, 75.0, 270.0)


@with_a_hidden_cause
def shelter_dogs(generator: np.random.Generator) -> World:
    """A dog in a shelter is walked, trained, or (in some worlds) lent to a family, week by week. Who works there sees
    how fearful it is, does the more for it, and writes it nowhere; fear stays for long, and puts visitors off. The log
    has no propensities: what one rule for all dogs would do, cannot be told from it. Who adjusts for all that is seen,
    is wrong by 4 to 8 standard errors of the mean of 1,000 episodes.

    Seen: age (years), weight (kg), barking (minutes an hour), visitors who stopped (a count), and the week. Not seen:
    fear. Rewards: points that visitors give. Effective episodes of 1,000, were its odds logged: 30 to 220.
    """
    horizon, actions = whole(generator, 4, 8), whole(generator, 2, 3)
    does = np.linspace(0.0, 1.0, actions)
    scares, calms = generator.uniform(6.0, 10.0), generator.uniform(0.0, 0.25)
    pleases, stays = generator.uniform(-2.0, 5.0), generator.uniform(0.88, 0.98)
    sees, shows = generator.uniform(0.35, 0.6), generator.uniform(0.05, 0.3)
    loud, heeds = generator.uniform(10.0, 18.0), generator.normal(0.0, 0.3, 3)
    old, heavy = generator.uniform(0.5, 1.5), generator.uniform(0.05, 0.2)
    least, asks, turn = generator.uniform(0.05, 0.09), generator.uniform(0.8, 1.4), sign(generator)
    whims, sees = generator.normal(0.0, 0.3, 3), sees * (1.0 if actions == 2 else 1.3)

    def initial(count: int, noise: np.random.Generator) -> Table:
        fear, age = noise.normal(size=count), noise.gamma(2.0, 2.0, count)
        barks = np.maximum(15.0 + 8.0 * shows * fear + 5.0 * noise.normal(size=count), 0.0)
        parts = [
            age,
            np.maximum(noise.normal(22.0, 8.0, count), 3.0),
            barks,
            noise.poisson(4.0, count),
            np.zeros(count),
        ]
        return table(*parts, fear)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        age, weight, barks, stopped, week, fear = states.T
        count, done = len(states), does[taken]
        points = 50.0 - scares * np.clip(fear, -3.0, 3.0) - old * (age - 4.0) - heavy * weight - 0.3 * (barks - 15.0)
        rewards = points + pleases * done + 0.5 * (stopped - 4.0) + loud * noise.normal(size=count)
        fear = stays * fear - calms * done + np.sqrt(1.0 - stays**2) * noise.normal(size=count)
        barks = 15.0 + 0.5 * (barks - 15.0) + 4.0 * shows * fear - 2.0 * done + 4.0 * noise.normal(size=count)
        stopped = noise.poisson(np.exp(np.clip(1.4 - 0.3 * shows * fear, -1.0, 2.5)))
        return table(age + 0.02, weight, np.maximum(barks, 0.0), stopped, week + 1.0, fear), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        scaled = [(seen[:, 0] - 4.0) / 3.0, (seen[:, 1] - 22.0) / 8.0, (seen[:, 2] - 15.0) / 6.0]
        return np.clip(np.column_stack(scaled), -2.0, 2.0)

    def behavior(states: Table) -> Grid:
        seen_in_it = sees * np.clip(states[:, 5], -2.5, 2.5)
        return soft(lambda seen: 2.0 * np.outer(weighed(signs(seen), heeds) + seen_in_it, does), least)(states)

    blind = soft(lambda seen: 2.0 * np.outer(weighed(signs(seen), heeds), does), least)
    policy = leaning(blind, lambda seen: np.outer(turn + weighed(signs(seen), whims), does), asks)(1.0)
    return World(
        horizon,
        actions,
        initial,
        step,
        behavior=behavior,
        policy=policy,
        observe=lambda states: states[:, :5],
        propensities=False,
        answerable=False,
    )
