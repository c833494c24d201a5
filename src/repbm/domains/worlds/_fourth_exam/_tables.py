"""Finite tables: a few stages of an illness, and the many places of a warehouse."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._fourth_exam._changes import asking, best, dropping, habit, handing, logged, tilting
from repbm.domains.worlds._fourth_exam._parts import (
    Happening,
    Picks,
    Scores,
    Sheet,
    Shown,
    State,
    flips,
    nowhere,
    sometimes,
    whole,
)
from repbm.domains.worlds._world import World


def relapse_stages(generator: np.random.Generator) -> World:
    """An illness in four to six stages, one whole number, that gets better or worse by a stage, seldom by two.

    In half of the worlds the last stage ends the episode. Rewards are those of the stage reached, with some error.
    """
    stages, actions, horizon = whole(generator, 4, 6), whole(generator, 2, 3), whole(generator, 8, 20)
    moves = generator.dirichlet([0.3, 2.0, 5.0, 2.0, 0.4], (stages, actions))
    passing = np.zeros((stages, actions, stages))
    for stage in range(stages):
        for shift in range(-2, 3):
            passing[stage, :, min(max(stage + shift, 0), stages - 1)] += moves[stage, :, shift + 2]
    worth = -np.cumsum(generator.exponential(0.4, stages))
    burden, errors = generator.exponential(0.15, actions), generator.choice([0.0, 0.2, 0.5])
    fatal = sometimes(generator)
    custom = generator.normal(0.0, 0.7, (stages, actions))
    gains = passing @ worth - burden
    for _ in range(3):
        gains = passing @ (worth + 0.9 * gains.max(axis=1)) - burden
    wanted = 1.2 * gains + generator.normal(0.0, 0.2, gains.shape)
    sheet = Sheet.drawn(generator, 1, plain=(0,) if sometimes(generator, 0.7) else ())

    def stage_of(rows: np.ndarray) -> Picks:
        return np.clip(np.rint(rows[:, 0]), 0, stages - 1).astype(np.int64)

    def initial(count: int, noise: np.random.Generator) -> State:
        return noise.integers(0, stages - 1, (count, 1)).astype(np.float64)

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        ladder = passing[stage_of(states), taken].cumsum(axis=1)
        following = np.minimum((ladder < noise.random((len(states), 1))).sum(axis=1), stages - 1)
        rewards = worth[following] - burden[taken] + errors * noise.normal(size=len(states))
        return following[:, None].astype(np.float64), rewards, fatal & (following == stages - 1)

    usual = habit(lambda shown: custom[stage_of(shown)], generator.uniform(0.1, 0.3))
    if sometimes(generator, 0.7):
        change = tilting(usual, lambda shown: wanted[stage_of(shown)])
    else:
        change = dropping(usual, *map(int, generator.permutation(actions)[:2]))
    world = logged(horizon, actions, initial, step, usual, sheet, float(generator.choice([1.0, 0.95, 0.9])))
    return asking(world, sheet, change, generator, 0.1, 0.6)


def warehouse_cart(generator: np.random.Generator) -> World:
    """A cart on a floor of 20 to 56 places fetches from a shelf and brings to a dock; some places are slow, and wheels
    slip. Columns: two whole numbers for the place, and a flag: loaded.
    """
    size = np.array([whole(generator, 5, 8), whole(generator, 4, 7)])
    horizon, actions = whole(generator, 12, 25), 4
    ways = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    shelf = np.array([0, whole(generator, 0, int(size[1]) - 1)])
    dock = np.array([size[0] - 1, whole(generator, 0, int(size[1]) - 1)])
    slips, grips = generator.uniform(0.03, 0.2), generator.uniform(0.7, 1.0)
    slow = generator.exponential(0.12, tuple(size)) * (generator.random(tuple(size)) < 0.35)
    prize, pace = generator.uniform(1.0, 3.0), generator.uniform(0.01, 0.05)
    sharp, whims = generator.uniform(0.5, 1.5), generator.normal(0.0, 0.3, (*size, 2, actions))
    avoids, hurries = generator.uniform(0.0, 6.0), generator.uniform(0.3, 1.0)
    sheet = Sheet.drawn(generator, 3, plain=(0, 1, 2))

    def placed(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.clip(np.rint(rows[:, :2]), 0, size - 1).astype(np.int64), (rows[:, 2] > 0.5).astype(np.int64)

    def initial(count: int, noise: np.random.Generator) -> State:
        places = noise.integers(0, size, (count, 2))
        return np.column_stack([places, noise.random(count) < 0.3]).astype(np.float64)

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        place, loaded = placed(states)
        count = len(states)
        way = np.where(flips(np.full(count, slips), noise), noise.integers(0, actions, count), taken)
        place = np.clip(place + ways[way], 0, size - 1)
        brings = (place == dock).all(axis=1) & (loaded == 1)
        takes = (place == shelf).all(axis=1) & (loaded == 0) & flips(np.full(count, grips), noise)
        rewards = prize * brings - pace - slow[place[:, 0], place[:, 1]]
        following = np.column_stack([place, np.where(brings, 0, np.where(takes, 1, loaded))])
        return following.astype(np.float64), rewards, nowhere(states)

    def nearer(shown: Shown) -> Scores:
        place, loaded = placed(shown)
        goal = np.where(loaded[:, None] == 1, dock, shelf)
        after = np.clip(place[:, None, :] + ways, 0, size - 1)
        return (np.abs(place - goal).sum(axis=1)[:, None] - np.abs(after - goal[:, None, :]).sum(axis=2)).astype(float)

    def custom(shown: Shown) -> Scores:
        place, loaded = placed(shown)
        return sharp * nearer(shown) + whims[place[:, 0], place[:, 1], loaded]

    def wish(shown: Shown) -> Scores:
        after = np.clip(placed(shown)[0][:, None, :] + ways, 0, size - 1)
        return hurries * nearer(shown) - avoids * slow[after[..., 0], after[..., 1]]

    usual = habit(custom, generator.uniform(0.05, 0.15))
    change = tilting(usual, wish) if sometimes(generator, 0.7) else handing(usual, best(wish))
    world = logged(horizon, actions, initial, step, usual, sheet, float(generator.choice([1.0, 0.98, 0.95])))
    return asking(world, sheet, change, generator, 0.08, 0.5)
