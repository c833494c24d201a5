"""Schools: pupils who are seldom referred, and courses that some pupils were never let into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fifth_exam._choices import adopting, as_usual, asked, favoring, there
from repbm.domains.worlds._fifth_exam._parts import (
    Chances,
    Codes,
    Flags,
    Result,
    Rows,
    certain,
    chance,
    columns,
    happens,
    integer,
    never,
    sigmoid,
    stairs,
)
from repbm.domains.worlds._world import World


def reading_referral(generator: np.random.Generator) -> World:
    """Teachers seldom refer a pupil to a reading group, and more seldom to a specialist: rare actions.

    Columns: reading score (mean 100), days missed, age (months), support so far, and the term. Families move: the log
    loses sight of some pupils, the more the more days they miss.
    """
    actions, horizon = integer(generator, 2, 3), integer(generator, 3, 7)
    learns, slips = generator.uniform(0.0, 1.5), generator.uniform(0.05, 0.2)
    helps = np.array([0.0, 4.0, 8.0])[:actions] * generator.uniform(0.7, 1.4)
    hour = np.array([0.0, 1.0, 2.5])[:actions] * generator.uniform(0.2, 1.0)
    loud, leaves = generator.uniform(3.0, 6.0), generator.uniform(-4.5, -3.5)
    seldom = np.array([0.07, 0.04])[: actions - 1] * generator.uniform(0.85, 1.2)
    more, below = generator.uniform(0.5, 2.0), generator.uniform(85.0, 100.0)
    steep, aimed = generator.uniform(3.0, 10.0), chance(generator, 0.7)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        parts = noise.normal(97.0, 13.0, count), noise.negative_binomial(2, 0.25, count), noise.normal(88.0, 4.0, count)
        return columns(*parts, np.zeros((count, 2)))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        score, missed, age, support, term = states.T
        count = len(states)
        works = helps[taken] * sigmoid((105.0 - score) / 8.0) * np.exp(-0.03 * missed) / (1.0 + 0.25 * support)
        gained = learns + works - slips * missed - 0.04 * (score - 100.0) + loud * noise.normal(size=count)
        missed = noise.poisson(np.maximum(1.5 + 0.6 * missed - 0.5 * (taken > 0), 0.3))
        rewards = gained - hour[taken]
        following = columns(score + gained, np.minimum(missed, 40), age + 4.0, support + (taken > 0), term + 1.0)
        return following, rewards, never(states)

    def usual(seen: Rows) -> Chances:
        urgent = 1.0 + more * sigmoid((80.0 - seen[:, 0]) / 6.0) / (1.0 + seen[:, 3])
        some = np.outer(urgent, seldom)
        return np.column_stack([1.0 - some.sum(axis=1), some])

    def needy(seen: Rows) -> Flags:
        return seen[:, 0] < below

    def help_them(seen: Rows) -> Chances:
        lean = sigmoid((below - seen[:, 0]) / steep)
        return np.column_stack([np.zeros(len(seen)), np.repeat(lean[:, None], actions - 1, axis=1)])

    change = favoring(usual, help_them, 6.0)
    if aimed:
        change = there(usual, needy, adopting(usual, certain(lambda seen: np.full(len(seen), actions - 1), actions)))
    world = asked(as_usual(horizon, usual, initial, step), change, generator)
    return replace(world, lost=lambda states: sigmoid(leaves + 0.08 * states[:, 1]))


def course_placement(generator: np.random.Generator) -> World:
    """No pupil with marks below a bar was ever let into the advanced course; the policy lets in most who are not far
    below. What it does to them is in no row.

    Columns: mark (of 100), share of lessons attended, hours of homework, and the term.
    """
    actions, horizon = integer(generator, 2, 3), integer(generator, 2, 6)
    top = actions - 1
    bar, depth = generator.uniform(60.0, 67.0), generator.uniform(18.0, 28.0)
    teaches = np.linspace(0.0, 1.0, actions) * generator.uniform(1.0, 4.0)
    jolt = generator.uniform(4.0, 9.0) * generator.choice([-1.0, 1.0])
    reverts, works = generator.uniform(0.05, 0.12), generator.uniform(0.2, 0.6)
    loud, daring = generator.uniform(2.5, 5.0), generator.uniform(0.7, 1.0)
    marks = bar + 12.0 * (np.arange(actions - 1) - (actions - 2)) + 4.0
    blur, least = generator.uniform(4.0, 9.0), generator.uniform(0.05, 0.1)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        mark = np.clip(noise.normal(59.0, 12.0, count), 5.0, 99.0)
        return columns(mark, noise.beta(12.0, 2.0, count), noise.gamma(4.0, 1.2, count), np.zeros(count))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        mark, attended, homework, term = states.T
        count = len(states)
        unready = (taken == top) & (mark < bar)
        gained = teaches[taken] * attended + works * (homework - 4.8) - reverts * (mark - 58.0) + jolt * unready
        mark = np.clip(mark + gained + loud * noise.normal(size=count), 0.0, 100.0)
        passed = happens(sigmoid((mark - 50.0) / 6.0), noise)
        rewards = 0.1 * gained + 1.0 * passed - 0.2 * (taken == top)
        attended = np.clip(0.7 * attended + 0.3 * noise.beta(12.0, 2.0, count), 0.0, 1.0)
        homework = 0.6 * homework + 0.4 * noise.gamma(4.0, 1.2, count) + 0.4 * (taken / top)
        return columns(mark, attended, homework, term + 1.0), rewards, never(states)

    def kept_out(seen: Rows) -> Flags:
        return seen[:, 0] < bar

    def usual(seen: Rows) -> Chances:
        chances = least + (1.0 - least * actions) * open_to_all(seen)
        chances[kept_out(seen), top] = 0.0
        return chances / chances.sum(axis=1, keepdims=True)

    def let_in(seen: Rows) -> Flags:
        return kept_out(seen) & (seen[:, 0] > bar - depth)

    open_to_all = stairs(lambda seen: seen[:, 0], marks, blur)
    opened = adopting(usual, certain(lambda seen: np.full(len(seen), top), actions))
    world = as_usual(horizon, usual, initial, step)
    return replace(world, policy=there(usual, let_in, opened)(daring), answerable=False)
