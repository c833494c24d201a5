"""Noise: gusts that grow with the wind, finds that are seldom and large, and a diary full of columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._third_exam._decisions import (
    asked,
    firm,
    greedy,
    ladder,
    leanings,
    seen_whole,
    sharings,
    shifted,
    slip_of,
    weighing,
    width_of,
)
from repbm.domains.worlds._third_exam._parts import (
    Chances,
    Dress,
    Numbers,
    Outcome,
    Sights,
    States,
    Taken,
    count_of,
    either,
    going_on,
    logistic,
    sign,
    within,
)
from repbm.domains.worlds._world import World


def yacht_legs(generator: np.random.Generator) -> World:
    """More sail is faster up to a wind that grows less sure of itself the stronger it blows: uneven noise.

    Components: wind, course to the wind, weariness of the crew.
    """
    actions, horizon = count_of(generator, 2, 4), count_of(generator, 5, 12)
    sail = np.linspace(generator.uniform(0.2, 0.5), 1.0, actions)
    gusty, tires = generator.uniform(0.3, 0.9), generator.uniform(0.1, 0.3)
    holds, rests = generator.uniform(0.7, 0.95), generator.uniform(0.1, 0.3)
    over, broach = generator.uniform(1.2, 2.2), generator.uniform(0.5, 1.5)
    cuts = np.sort(generator.normal(0.1, 0.5, actions - 1))
    wary = generator.uniform(0.2, 0.6)
    dress = Dress.drawn(generator, 3)

    def initial(count: int, noise: np.random.Generator) -> States:
        wind, course = np.exp(0.4 * noise.normal(size=count)), noise.uniform(-1.0, 1.0, count)
        return np.column_stack([wind, course, noise.uniform(0.0, 0.5, count)])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        wind, course, weary = states.T
        count, area = len(states), sail[taken]
        force = area * wind * (1.0 - 0.4 * course**2)
        speed = (
            2.0 * np.tanh(force) * (1.0 - 0.5 * np.minimum(weary, 1.5)) - broach * np.maximum(force - over, 0.0) ** 2
        )
        rewards = np.maximum(speed, -6.0) + gusty * (wind * area) ** 2 * noise.normal(size=count)
        weary = np.clip(weary + tires * area * wind - rests, 0.0, 2.0)
        wind = np.exp(within(holds * np.log(wind), 2.0) + 0.25 * wind**0.5 * noise.normal(size=count))
        course = within(0.6 * course + 0.5 * noise.normal(size=count), 1.2)
        return np.column_stack([np.minimum(wind, 4.0), course, weary]), rewards, going_on(states)

    def ease(sights: Sights) -> Numbers:
        return 0.5 - np.log(sights[:, 0]) - wary * sights[:, 2]

    usual = ladder(ease, cuts, 0.7 * width_of(generator, horizon), slip_of(generator, horizon, 0.4, 0.8))
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    rules = shifted(ease, cuts, generator.uniform(0.2, 0.5) * sign(generator))
    return asked(world, dress, rules, generator, 0.06, 0.5)


def drill_sites(generator: np.random.Generator) -> World:
    """Most holes are dry, a few pay for all others: gains with Pareto tails whose variance is barely there.

    Components: what the survey promises, hardness of the rock, depth so far, and the price of ore.
    """
    actions, horizon = count_of(generator, 2, 4), count_of(generator, 2, 6)
    effort = np.linspace(0.0, 1.0, actions)
    tail, strikes = generator.uniform(2.2, 3.2), generator.uniform(-1.8, -0.6)
    promise, deeper = generator.uniform(0.5, 1.2), generator.uniform(0.3, 1.2)
    cost, hard = generator.uniform(0.2, 0.6), generator.uniform(0.1, 0.4)
    moves = generator.uniform(0.4, 0.8)
    custom, lean = generator.normal(0.0, 0.4, (4, actions)), generator.normal(0.0, 0.4, (4, actions))
    dress = Dress.drawn(generator, 4)

    def initial(count: int, noise: np.random.Generator) -> States:
        return np.column_stack(
            [noise.normal(size=(count, 2)), noise.exponential(0.5, count), noise.normal(0.0, 0.5, count)]
        )

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        survey, rock, depth, price = states.T
        count, works = len(states), effort[taken]
        struck = noise.random(count) < logistic(strikes + promise * survey + deeper * works - 0.4 * depth)
        found = (1.0 + noise.pareto(tail, count)) * np.exp(0.5 * price) * (0.5 + works)
        rewards = np.where(struck, found, 0.0) - works * cost * np.exp(hard * rock)
        survey = moves * survey + np.where(struck, -0.3, 0.1) + 0.5 * noise.normal(size=count)
        depth = np.minimum(0.9 * depth + works * np.exp(-0.2 * rock), 5.0)
        price = 0.9 * price + 0.2 * noise.normal(size=count)
        return np.column_stack([survey, rock, depth, price]), rewards, going_on(states)

    def habit(sights: Sights) -> Chances:
        return within(sights @ custom, 2.0)

    def wish(sights: Sights) -> Chances:
        gain = promise * sights[:, 0] + 0.5 * sights[:, 3] - 0.4 * sights[:, 2] - hard * sights[:, 1]
        return np.outer(np.tanh(gain + 0.2), effort) + 0.5 * np.tanh(sights @ lean)

    usual = weighing(habit, generator.uniform(0.1, 0.3))
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    rules = leanings(usual, wish) if either(generator) else sharings(usual, greedy(wish))
    return asked(world, dress, rules, generator, 0.08, 0.6)


def sleep_diary(generator: np.random.Generator) -> World:
    """An app sends one of a few messages an evening; the night is good or not. Nine or more columns are kept in the
    diary, two or three of them matter. The log has no propensities."""
    matter, actions, horizon = count_of(generator, 2, 3), count_of(generator, 2, 3), count_of(generator, 5, 12)
    columns = matter + count_of(generator, 7, 9)
    lasting = generator.uniform(0.2, 0.95, columns)
    effect = generator.normal(0.0, 0.5, (actions, matter))
    weigh, base = (
        generator.uniform(0.4, 1.1, matter) * generator.choice([-1.0, 1.0], matter),
        generator.normal(0.0, 0.4),
    )
    helps, fits = generator.normal(0.0, 0.5, actions), generator.normal(0.0, 0.7, (matter, actions))
    custom = generator.normal(0.0, 0.5, (columns, actions)) * (generator.random((columns, 1)) < 0.4)
    sense, sharp = generator.uniform(0.0, 1.0), generator.uniform(2.0, 4.0)
    flags = (np.arange(columns) >= matter) & (generator.random(columns) < 0.3)
    dress = Dress.drawn(generator, columns)

    def shown(values: States) -> States:
        return np.where(flags, np.sign(values), values)

    def initial(count: int, noise: np.random.Generator) -> States:
        return shown(noise.normal(size=(count, columns)))

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        count, real = len(states), states[:, :matter]
        chance = logistic(base + within(real, 3.0) @ weigh + helps[taken] + (real * fits.T[taken]).sum(axis=1))
        slept = (noise.random(count) < chance).astype(np.float64)
        following = lasting * states + np.sqrt(1.0 - lasting**2) * noise.normal(size=states.shape)
        following[:, :matter] += effect[taken] + 0.2 * (slept[:, None] - 0.5) * np.sign(weigh)
        return shown(following), slept, going_on(states)

    def habit(sights: Sights) -> Chances:
        return within(sights @ custom, 2.0) + sense * wish(sights)

    def wish(sights: Sights) -> Chances:
        return helps + effect @ weigh + np.tanh(sights[:, :matter] @ fits)

    if either(generator):
        usual = weighing(habit, generator.uniform(0.1, 0.25))
        rules = leanings(usual, wish)
    else:
        usual = weighing(lambda sights: sharp * habit(sights), slip_of(generator, horizon, 0.6, 0.9))
        rules = firm(habit, wish)
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    return replace(asked(world, dress, rules, generator, 0.06, 0.4), propensities=False)
