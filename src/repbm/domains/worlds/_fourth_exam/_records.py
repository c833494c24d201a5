"""Records: a panel of many laboratory values, and payments of which few are held back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fourth_exam._changes import asking, best, grouping, habit, handing, logged, steering, tilting
from repbm.domains.worlds._fourth_exam._parts import (
    Amounts,
    Happening,
    Picks,
    Scores,
    Sheet,
    Shown,
    State,
    bounded,
    expit,
    flips,
    gibbs,
    nowhere,
    turn,
    whole,
)
from repbm.domains.worlds._world import World


def lab_panel(generator: np.random.Generator) -> World:
    """Fifteen to thirty values are taken at every visit and move together; three of them matter, two as a pair.

    Some columns are flags that never change. Doctors also look at values that do not matter. No propensities.
    """
    matter, others, flags = 3, whole(generator, 9, 21), whole(generator, 3, 6)
    actions, horizon = whole(generator, 2, 3), whole(generator, 3, 8)
    numbers = matter + others
    columns = numbers + flags
    lasting = generator.uniform(0.3, 0.9, numbers)
    loads = generator.normal(0.0, 0.6, (whole(generator, 2, 4), numbers))
    loads[:, :matter] *= 0.5
    alone = generator.uniform(0.4, 0.9, numbers)
    acts = generator.normal(0.0, 0.5, (actions, matter))
    acts[0] = 0.0
    plain, pair, knee = generator.uniform(0.3, 0.8), generator.uniform(0.2, 0.6) * turn(generator), generator.normal()
    rises, burden = generator.uniform(0.4, 1.2), generator.exponential(0.2, actions)
    errors, common = generator.uniform(0.2, 0.8), 0.4 * turn(generator)
    looks = generator.normal(0.0, 0.5, (columns, actions)) * (generator.random((columns, 1)) < 4.0 / columns)
    looks[0] = generator.normal(0.0, 0.5, actions)
    frequent, misjudged = generator.uniform(0.1, 0.6, flags), generator.normal(0.0, 0.2, actions)
    sharp = generator.uniform(1.0, 2.0)
    sheet = Sheet.drawn(generator, columns, plain=range(numbers, columns))

    def shaken(count: int, noise: np.random.Generator) -> np.ndarray:
        return noise.normal(size=(count, len(loads))) @ loads + alone * noise.normal(size=(count, numbers))

    def initial(count: int, noise: np.random.Generator) -> State:
        return np.column_stack([shaken(count, noise), noise.random((count, flags)) < frequent])

    def health(values: np.ndarray) -> np.ndarray:
        first, second, third = (values[..., k] for k in range(matter))
        return -plain * first - pair * second * third - rises * np.maximum(first + second - knee, 0.0)

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        values = lasting * states[:, :numbers] + np.sqrt(1.0 - lasting**2) * shaken(len(states), noise)
        values[:, :matter] += acts[taken]
        values = bounded(values, 8.0)
        rewards = health(values) + common * states[:, -1] - burden[taken] + errors * noise.normal(size=len(states))
        return np.column_stack([values, states[:, numbers:]]), rewards, nowhere(states)

    def liking(shown: Shown) -> Scores:
        return sharp * bounded(shown @ looks, 1.5)

    def wish(shown: Shown) -> Scores:
        after = lasting[:matter] * shown[:, None, :matter] + acts
        return health(after) - burden + misjudged

    usual = habit(liking, generator.uniform(0.1, 0.3))
    changes = (tilting(usual, wish), handing(usual, best(wish)), steering(liking, wish))
    world = logged(horizon, actions, initial, step, usual, sheet)
    world = asking(world, sheet, changes[whole(generator, 0, 2)], generator, 0.1, 0.6)
    return replace(world, propensities=False)


def fraud_holds(generator: np.random.Generator) -> World:
    """Payments of an account pass, are asked about, or are held, which is seldom; fraud costs the whole amount.

    Who is held in vain may close the account, which ends the episode. Parts: logarithm of the amount, a score of risk,
    age of the account, failed attempts, and a flag: at night.
    """
    actions, horizon = whole(generator, 2, 3), whole(generator, 3, 8)
    stops = np.linspace(0.0, 1.0, actions)
    bothers = stops**2 * generator.uniform(0.05, 0.3)
    base, risky, nightly = generator.uniform(-4.2, -3.0), generator.uniform(0.7, 1.3), generator.uniform(0.3, 1.2)
    fee, wide, closes = generator.uniform(0.1, 0.3), generator.uniform(0.4, 0.8), generator.uniform(0.05, 0.25)
    again, keeps = generator.uniform(0.3, 1.0), generator.uniform(0.4, 0.8)
    seldom, heed = generator.uniform(-3.6, -2.8), generator.uniform(0.2, 0.7)
    sheet = Sheet.drawn(generator, 5, plain=(3, 4))

    def initial(count: int, noise: np.random.Generator) -> State:
        return np.column_stack(
            [
                noise.normal(0.0, wide, count),
                noise.normal(size=count),
                noise.exponential(1.0, count),
                noise.poisson(0.3, count),
                noise.random(count) < 0.3,
            ]
        )

    def danger(rows: np.ndarray) -> Amounts:
        amount, score, age, tries, night = rows.T
        return base + risky * bounded(score, 3.0) + nightly * night * (amount > 0.2) + 0.4 * tries - 0.2 * age

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        amount, score, age, tries, _ = states.T
        count, stopped = len(states), stops[taken]
        fraud = flips(expit(danger(states)), noise)
        caught = flips(stopped, noise)
        lost = fraud & ~caught
        rewards = np.where(lost, -np.exp(amount) * 3.0, fee * np.exp(amount) * ~caught) - bothers[taken]
        closed = ~fraud & flips(closes * stopped, noise)
        score = keeps * score + again * lost + np.sqrt(1.0 - keeps**2) * noise.normal(size=count)
        tries = np.minimum(noise.binomial(np.rint(tries).astype(np.int64), 0.5) + noise.poisson(0.15 + 0.5 * fraud), 8)
        amount = 0.5 * amount + wide * 0.85 * noise.normal(size=count)
        following = np.column_stack([amount, score, age + 0.1, tries, noise.random(count) < 0.3])
        return following.astype(np.float64), rewards, closed

    def usual(shown: Shown) -> Scores:
        return gibbs(np.outer(np.minimum(seldom + heed * (danger(shown) - base), -1.4), stops))

    def wish(shown: Shown) -> Scores:
        return 1.2 * np.outer(bounded(danger(shown) - base + 0.8 * shown[:, 0] - 0.6, 2.0), stops)

    world = logged(horizon, actions, initial, step, usual, sheet)
    kind = whole(generator, 0, 2)
    change = (
        tilting(usual, wish),
        handing(usual, best(wish)),
        grouping(usual, handing(usual, best(wish))(generator.uniform(0.3, 0.9)), danger, base + 0.3, base + 4.0),
    )[kind]
    return asking(world, sheet, change, generator, 0.06, 0.5)
