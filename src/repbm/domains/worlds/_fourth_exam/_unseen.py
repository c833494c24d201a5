"""What logs do not hold: resistance that builds up, motivation that therapists feel, scans that nobody dared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fourth_exam._changes import asking, dropping, habit, handing, logged, tilting
from repbm.domains.worlds._fourth_exam._parts import (
    Amounts,
    Events,
    Happening,
    Picks,
    Scores,
    Sheet,
    Shown,
    State,
    bounded,
    expit,
    nowhere,
    sometimes,
    turn,
    whole,
)
from repbm.domains.worlds._world import World


def pest_resistance(generator: np.random.Generator) -> World:
    """Every spraying makes the pests a little more resistant to that poison, which shows weeks later; poisons differ.

    Seen: pests that were counted, with errors, vigor of the crop, warmth, and the week. Not seen: how many there are,
    and how resistant they are to each poison. Growers go by what is seen.
    """
    poisons, horizon = whole(generator, 1, 2), whole(generator, 8, 18)
    actions = poisons + 1
    kills, breeds = generator.uniform(0.9, 1.8, poisons), generator.uniform(0.15, 0.4)
    builds, fades = generator.uniform(0.08, 0.25, poisons), generator.uniform(0.0, 0.05)
    harms, price = generator.uniform(0.0, 0.1, poisons), generator.uniform(0.05, 0.3, poisons)
    miscounts, eats, loud = generator.uniform(0.2, 0.6), generator.uniform(0.15, 0.4), generator.uniform(0.1, 0.3)
    sprays, tastes = generator.uniform(0.6, 1.4), generator.normal(0.0, 0.4, poisons)
    eager, side = generator.normal(-0.2, 0.3), turn(generator)
    sheet = Sheet.drawn(generator, 4, plain=(3,))

    def counted(pests: Amounts, noise: np.random.Generator) -> Amounts:
        return pests + miscounts * noise.normal(size=len(pests))

    def initial(count: int, noise: np.random.Generator) -> State:
        pests = noise.normal(0.2, 0.7, count)
        hardy = noise.gamma(2.0, 0.1, (count, poisons))
        return np.column_stack(
            [
                counted(pests, noise),
                noise.normal(1.0, 0.2, count),
                noise.normal(size=count),
                np.zeros(count),
                pests,
                hardy,
            ]
        )

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        _, vigor, warmth, week, pests = states[:, :5].T
        hardy, count = states[:, 5:], len(states)
        used = np.eye(actions)[taken][:, 1:]
        dead = (used * kills * np.exp(-2.0 * hardy)).sum(axis=1)
        pests = bounded(
            pests + breeds * (1.0 + 0.3 * warmth) * (1.0 - 0.3 * pests) - dead + loud * noise.normal(size=count), 5.0
        )
        hardy = np.clip((1.0 - fades) * hardy + used * builds, 0.0, 1.5)
        eaten = eats * expit(1.5 * pests - 0.5)
        vigor = np.clip(0.9 * vigor + 0.15 - eaten - used @ harms + 0.03 * noise.normal(size=count), 0.0, 2.0)
        rewards = vigor - used @ price + 0.1 * noise.normal(size=count)
        warmth = 0.7 * warmth + 0.7 * noise.normal(size=count)
        following = [counted(pests, noise), vigor, warmth, week + 1.0, pests, hardy]
        return np.column_stack(following), rewards, nowhere(states)

    def liking(shown: Shown) -> Scores:
        urge = bounded(sprays * shown[:, 0] + eager, 2.0)
        return np.column_stack([np.zeros(len(shown)), urge[:, None] + tastes])

    def wish(shown: Shown) -> Scores:
        urge = side * np.tanh(shown[:, 0] + 0.1 * (0.5 * horizon - shown[:, 3]))
        return np.column_stack([np.zeros(len(shown)), np.repeat(urge[:, None], poisons, axis=1)])

    usual = habit(liking, generator.uniform(0.1, 0.25))
    if poisons == 2 and sometimes(generator):
        change = dropping(usual, *((1, 2) if sometimes(generator) else (2, 1)))
    else:
        change = tilting(usual, wish)
    world = logged(horizon, actions, initial, step, usual, sheet)
    return asking(world, sheet, change, generator, 0.1, 0.6)


def physio_motivation(generator: np.random.Generator) -> World:
    """Therapists send to hard training whom they feel to be motivated; who is, recovers better anyway. It is in no
    column, and stays the same. The log has no propensities, and cannot tell what a rule for all would do.

    Seen: pain, mobility, age, the week, and a flag: operated. Not seen: motivation.
    """
    actions, horizon = whole(generator, 2, 3), whole(generator, 3, 10)
    hard = np.linspace(0.0, 1.0, actions)
    drives, trains, hurts = generator.uniform(0.1, 0.25), generator.uniform(0.0, 0.3), generator.uniform(0.1, 0.4)
    matches, heals = generator.uniform(0.0, 0.3), generator.uniform(0.7, 0.9)
    feels, custom = generator.uniform(1.2, 2.5), generator.normal(0.0, 0.3, 3)
    loud, wage = generator.uniform(0.2, 0.45), generator.uniform(0.0, 0.15)
    shows, tend = generator.uniform(0.0, 0.25), generator.uniform(0.5, 1.2) * turn(generator)
    floor = generator.uniform(0.05, 0.15)
    sheet = Sheet.drawn(generator, 5, plain=(3, 4))

    def initial(count: int, noise: np.random.Generator) -> State:
        eager = noise.normal(size=count)
        pain, moves = noise.normal(0.5, 0.7, count), noise.normal(-0.5, 0.7, count) + shows * eager
        operated = noise.random(count) < 0.4
        return np.column_stack([pain, moves, noise.normal(size=count), np.zeros(count), operated, eager])

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        pain, moves, age, week, operated, eager = states.T
        count, effort = len(states), hard[taken]
        gained = drives * eager + effort * (trains + matches * eager - 0.1 * age) - 0.15 * np.maximum(pain, 0.0)
        moves = bounded(0.95 * moves + gained + 0.1 * operated + loud * noise.normal(size=count), 5.0)
        pain = bounded(
            heals * pain + hurts * effort * (1.0 + 0.5 * operated) - 0.1 + loud * noise.normal(size=count), 4.0
        )
        rewards = moves - 0.5 * pain - wage * effort + 0.5 * noise.normal(size=count)
        return np.column_stack([pain, moves, age, week + 1.0, operated, eager]), rewards, nowhere(states)

    def urge(shown: Shown) -> Amounts:
        return bounded(shown[:, :3], 2.0) @ custom

    def behavior(states: State) -> Scores:
        felt = feels * states[:, 5]
        return habit(lambda shown: np.outer(bounded(urge(shown) + felt, 2.5), hard), floor)(states[:, :5])

    def wish(shown: Shown) -> Scores:
        return np.outer(tend - 0.3 * np.tanh(shown[:, 0]), hard)

    unfeeling = habit(lambda shown: np.outer(urge(shown), hard), floor)
    world = replace(logged(horizon, actions, initial, step, unfeeling, sheet), behavior=behavior)
    asked = tilting(unfeeling, wish)(generator.uniform(0.35, 0.8))
    return replace(world, policy=lambda seen: asked(sheet.read(seen)), propensities=False, answerable=False)


def contrast_scans(generator: np.random.Generator) -> World:
    """Nobody with an allergy, or with weak kidneys, was ever given a scan with contrast; the policy mostly does so.

    Whom it is denied is a flag in some worlds, a number in others, or both. What it would do to them is in no row.
    Parts: size of the lesion, kidneys, doubt, scans so far, and a flag: allergy.
    """
    actions, horizon = whole(generator, 2, 4), whole(generator, 2, 8)
    last = actions - 1
    grows, doubts = generator.uniform(0.05, 0.2), generator.uniform(0.3, 0.6)
    clears = np.sort(generator.uniform(0.0, 0.8, actions))
    cost = np.sort(generator.exponential(0.15, actions))
    surprise = generator.uniform(0.5, 1.5) * turn(generator)
    allergic, weak = generator.uniform(0.2, 0.4), generator.uniform(-0.9, -0.4)
    by, dares = whole(generator, 0, 2), generator.uniform(0.6, 1.0)
    custom, tilt = generator.normal(0.0, 0.4, (3, actions)), generator.normal(0.0, 0.3, actions)
    floor, errors = generator.uniform(0.1, 0.2), generator.uniform(0.1, 0.4)
    sheet = Sheet.drawn(generator, 5, plain=(3, 4))

    def denied(shown: Shown) -> Events:
        allergy, kidneys = shown[:, 4] > 0.5, shown[:, 1] < weak
        return (allergy, kidneys, allergy | kidneys)[by]

    def initial(count: int, noise: np.random.Generator) -> State:
        numbers = np.column_stack([noise.exponential(0.8, count), noise.normal(size=count), noise.normal(size=count)])
        return np.column_stack([numbers, np.zeros(count), noise.random(count) < allergic])

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        lesion, kidneys, doubt, scans, allergy = states.T
        count = len(states)
        found = clears[taken] * (1.0 + 0.5 * np.tanh(doubt))
        harm = (taken == last) & denied(states)
        rewards = found * lesion**0.5 - cost[taken] - 0.2 * lesion + surprise * harm + errors * noise.normal(size=count)
        lesion = np.clip(lesion * np.exp(grows - 0.5 * found) + 0.05 * noise.exponential(1.0, count), 0.0, 6.0)
        kidneys = 0.9 * kidneys - 0.1 * harm + 0.43 * noise.normal(size=count)
        doubt = doubts * doubt - 0.5 * found + 0.2 + 0.7 * noise.normal(size=count)
        return np.column_stack([lesion, kidneys, doubt, scans + (taken > 0), allergy]), rewards, nowhere(states)

    free = habit(lambda shown: bounded(shown[:, :3], 2.0) @ custom, floor)

    def usual(shown: Shown) -> Scores:
        chances = free(shown).copy()
        chances[denied(shown), last] = 0.0
        return chances / chances.sum(axis=1, keepdims=True)

    always = np.eye(actions)[last]
    daring = handing(usual, lambda shown: np.tile(always, (len(shown), 1)))(dares)
    elsewhere = tilting(free, lambda shown: np.tile(tilt, (len(shown), 1)))(0.5)

    def policy(seen: Shown) -> Scores:
        shown = sheet.read(seen)
        return np.where(denied(shown)[:, None], daring(shown), elsewhere(shown))

    world = logged(horizon, actions, initial, step, usual, sheet)
    return replace(world, policy=policy, answerable=False, propensities=sometimes(generator))
