"""Fields: which variety to sow, and what to do about locusts."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from repbm.domains.worlds._third_exam._decisions import asked, firm, leanings, seen_whole, weighing
from repbm.domains.worlds._third_exam._parts import (
    Chances,
    Dress,
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


def seed_trial(generator: np.random.Generator) -> World:
    """One decision: every variety has soils and weather that it likes best, and yields less the further off.

    A few columns of a field count for all varieties alike, in a curve. Advice is without chance, and not always good.
    """
    columns, actions = count_of(generator, 2, 8), count_of(generator, 2, 5)
    matter = count_of(generator, 2, min(columns, 3))
    best, tolerant = generator.normal(0.0, 1.0, (actions, matter)), generator.uniform(1.0, 2.5, (actions, matter))
    peak, errors = generator.uniform(2.0, 5.0, actions), generator.uniform(0.3, 1.0)
    common, bent = generator.normal(0.0, 0.5, columns), generator.normal(0.0, 0.7, columns)
    custom, believed = (
        generator.normal(0.0, generator.uniform(0.4, 1.0), (columns, actions)),
        generator.normal(0.0, 0.6, (actions, matter)),
    )
    misses = generator.normal(0.0, 0.6, actions)
    root = np.linalg.cholesky(0.7 * np.eye(columns) + 0.3)
    dress = Dress.drawn(generator, columns)

    def initial(count: int, noise: np.random.Generator) -> States:
        return noise.normal(size=(count, columns)) @ root.T

    def fit(fields: Sights, ideal: Float[np.ndarray, "actions matter"]) -> Chances:
        off = (fields[:, None, :matter] - ideal) / tolerant
        return np.exp(-(off**2).sum(axis=2))

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        suited = (peak * fit(states, best))[np.arange(len(states)), taken]
        rest = states @ common + np.sin(states @ bent)
        return states, suited + rest + errors * noise.normal(size=len(states)), ~going_on(states)

    def wish(fields: Sights) -> Chances:
        return peak * fit(fields, best + believed) + misses

    def habit(fields: Sights) -> Chances:
        return within(fields @ custom, 2.0)

    usual = weighing(habit, generator.uniform(0.1, 0.3))
    world = seen_whole(1, actions, initial, step, usual, dress)
    return asked(world, dress, firm(habit, wish), generator, 0.06, 0.5)


def locust_fields(generator: np.random.Generator) -> World:
    """A swarm settles or moves on, nothing between: density jumps up or down, as the green and the spraying have it.

    Components: density, green, moisture, and swarms nearby.
    """
    actions, horizon = count_of(generator, 2, 4), count_of(generator, 5, 11)
    spray = np.linspace(0.0, 1.0, actions)
    settles, leaves = generator.uniform(1.2, 2.2), generator.uniform(1.0, 2.0)
    draws, scares = generator.uniform(0.4, 1.0), generator.uniform(0.8, 2.0)
    grows, poisons = generator.uniform(0.2, 0.5), generator.uniform(0.0, 0.25)
    price, ruin = generator.uniform(0.1, 0.6), generator.uniform(0.8, 2.0)
    near, loud = generator.uniform(0.5, 0.9), generator.uniform(0.05, 0.2)
    custom, bias = generator.normal(0.0, 0.4, 4), generator.normal(0.0, 0.4)
    dress = Dress.drawn(generator, 4)

    def initial(count: int, noise: np.random.Generator) -> States:
        side = np.where(noise.random(count) < 0.4, 1.0, -1.0)
        density = side + 0.3 * noise.normal(size=count)
        return np.column_stack([density, noise.normal(size=(count, 3)) * [0.8, 1.0, 1.0]])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        density, green, moisture, nearby = states.T
        count, sprayed = len(states), spray[taken]
        comes = noise.random(count) < logistic(draws * (green + nearby) + 0.5 * density - scares * sprayed - 0.2)
        density = 0.4 * density + np.where(comes, settles, -leaves) + loud * noise.normal(size=count)
        eaten = logistic(2.0 * density - 1.0)
        rewards = 0.5 * green + 1.0 - ruin * eaten - price * sprayed
        green = within(0.7 * green + grows * moisture - eaten - poisons * sprayed + 0.4, 3.0)
        moisture = 0.8 * moisture + 0.6 * noise.normal(size=count)
        nearby = near * nearby + np.sqrt(1.0 - near**2) * noise.normal(size=count)
        return np.column_stack([density, green, moisture, nearby]), rewards, going_on(states)

    def habit(sights: Sights) -> Chances:
        return np.outer(within(sights @ custom + bias, 2.0), spray)

    def wish(sights: Sights) -> Chances:
        return np.outer(
            turned * within(1.2 * (draws * (sights[:, 1] + sights[:, 3]) + 0.5 * sights[:, 0]) + 0.5, 3.0), spray
        )

    turned = sign(generator) if either(generator, 0.4) else 1.0
    usual = weighing(habit, generator.uniform(0.1, 0.25))
    world = seen_whole(horizon, actions, initial, step, usual, dress, float(generator.choice([1.0, 0.97])))
    return asked(world, dress, leanings(usual, wish), generator, 0.08, 0.5)
