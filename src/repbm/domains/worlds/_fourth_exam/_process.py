"""Things that are kept in order: the paper of a mill, and a lake that is clear or green."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._fourth_exam._changes import asking, best, grading, habit, handing, logged, moving, tilting
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
    nowhere,
    sometimes,
    turn,
    whole,
)
from repbm.domains.worlds._world import World


def paper_mill(generator: np.random.Generator) -> World:
    """Qualities of paper swing and pull at one another; settings push them. Nearly linear, with noise in common.

    What is off its aim costs by the square, and some qualities sell in proportion.
    """
    parts, actions, horizon = whole(generator, 2, 6), whole(generator, 3, 6), whole(generator, 6, 16)
    turned, _ = np.linalg.qr(generator.normal(size=(parts, parts)))
    passing = generator.uniform(0.3, 0.8) * np.eye(parts) + 0.4 * turned
    passing *= generator.uniform(0.6, 0.92) / np.abs(np.linalg.eigvals(passing)).max()
    pushes = generator.normal(0.0, generator.uniform(0.25, 0.5), (actions, parts))
    pushes[0] = 0.0
    together = generator.normal(0.0, 0.25, (parts, parts)) + generator.uniform(0.2, 0.45) * np.eye(parts)
    aim, weigh = generator.normal(0.0, 0.4, parts), generator.exponential(0.15, parts)
    sells, effort = generator.normal(0.0, 0.3, parts), generator.exponential(0.1, actions)
    errors, sharp = generator.uniform(0.1, 0.5), generator.uniform(0.5, 1.6)
    custom, misjudged = generator.normal(0.0, 0.5, (parts, actions)), generator.normal(0.0, 0.25, actions)
    sheet = Sheet.drawn(generator, parts)

    def initial(count: int, noise: np.random.Generator) -> State:
        return noise.normal(0.0, 0.9, (count, parts))

    def worth(qualities: np.ndarray) -> np.ndarray:
        return 1.0 - ((qualities - aim) ** 2) @ weigh + qualities @ sells

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        shaken = noise.normal(size=states.shape) @ together
        following = bounded(states @ passing.T + pushes[taken] + shaken, 7.0)
        rewards = worth(following) - effort[taken] + errors * noise.normal(size=len(states))
        return following, rewards, nowhere(states)

    def ahead(shown: Shown) -> Scores:
        return worth((shown @ passing.T)[:, None, :] + pushes) - effort + misjudged

    def liking(shown: Shown) -> Scores:
        return bounded(shown @ custom + sharp * ahead(shown), 3.0)

    usual = habit(liking, generator.uniform(0.08, 0.25))
    world = logged(horizon, actions, initial, step, usual, sheet, float(generator.choice([1.0, 1.0, 0.96])))
    kind = whole(generator, 0, 2)
    change = (tilting(usual, ahead), handing(usual, best(ahead)), tilting(usual, lambda shown: -ahead(shown)))[kind]
    return asking(world, sheet, change, generator, 0.08, 0.6)


def lake_algae(generator: np.random.Generator) -> World:
    """A lake stays clear or stays green, and tips from one to the other; storms, now and then, wash in nutrients.

    Parts: greenness, nutrients, nutrients in the mud, and the season as a sine and a cosine. Less farming nearby costs.
    """
    actions, horizon = whole(generator, 2, 4), whole(generator, 10, 25)
    spared = np.linspace(0.0, 1.0, actions)
    pace, pulls = generator.uniform(0.3, 0.55), generator.uniform(0.8, 1.4)
    stays, inflow, held = generator.uniform(0.6, 0.85), generator.uniform(0.3, 0.6), generator.uniform(0.7, 1.0)
    sinks, returns = generator.uniform(0.05, 0.15), generator.uniform(0.1, 0.3)
    storms, kick, calm = generator.uniform(0.08, 0.2), generator.uniform(0.4, 1.0), generator.uniform(0.15, 0.3)
    summer, month = generator.uniform(0.1, 0.4), 2.0 * np.pi / whole(generator, 8, 14)
    visitors, farming = generator.uniform(0.8, 2.0), generator.uniform(0.05, 0.3)
    heeds, bias, marks = generator.uniform(0.3, 0.9, 2), generator.normal(0.0, 0.3), np.linspace(-0.3, 0.6, actions - 1)
    side = turn(generator, 0.3)
    sheet = Sheet.drawn(generator, 5)

    def initial(count: int, noise: np.random.Generator) -> State:
        green = np.clip(noise.normal(0.0, 0.8, count), -2.0, 2.0)
        phase = noise.uniform(0.0, 2.0 * np.pi, count)
        return np.column_stack(
            [green, noise.gamma(3.0, 0.3, count), noise.gamma(2.0, 0.3, count), np.sin(phase), np.cos(phase)]
        )

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        green, food, mud, sine, cosine = states.T
        count = len(states)
        storm = flips(np.full(count, storms), noise)
        washed = inflow * (1.0 - held * spared[taken]) + storm * noise.exponential(kick, count)
        drive = pulls * (bounded(food, 3.0) - 1.0) + summer * sine
        green = green + pace * (green - green**3 + drive) + calm * noise.normal(size=count) + 0.3 * storm
        food, mud = (
            np.clip(stays * food + washed + returns * mud * expit(2.0 * green) - sinks * food, 0.0, 6.0),
            np.clip(0.95 * mud + sinks * food - 0.5 * returns * mud * expit(2.0 * green), 0.0, 6.0),
        )
        green = np.clip(green, -2.2, 2.2)
        rewards = visitors * (expit(-3.0 * green) - 0.5) * (1.0 + 0.5 * sine) - farming * spared[taken]
        season = np.column_stack(
            [np.cos(month) * sine + np.sin(month) * cosine, np.cos(month) * cosine - np.sin(month) * sine]
        )
        return np.column_stack([green, food, mud, season]), rewards, nowhere(states)

    def worry(shown: Shown) -> Amounts:
        return heeds[0] * (shown[:, 1] - 1.0) + heeds[1] * 0.5 * shown[:, 0] + bias

    def wish(shown: Shown) -> Scores:
        return side * np.outer(expit(2.0 * (shown[:, 1] - 0.8)) + 0.4 * (np.abs(shown[:, 0]) < 0.7), spared) * 1.5

    if sometimes(generator, 0.35):
        usual = grading(worry, marks, generator.uniform(0.03, 0.08), 0.02)
        change = moving(worry, marks, -0.9 * side)
    else:
        usual = habit(lambda shown: np.outer(bounded(1.5 * worry(shown), 2.0), spared), generator.uniform(0.1, 0.3))
        change = tilting(usual, wish)
    world = logged(horizon, actions, initial, step, usual, sheet, float(generator.choice([1.0, 0.97, 0.93])))
    return asking(world, sheet, change, generator, 0.08, 0.5)
