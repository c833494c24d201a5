"""Training that pays weeks later."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._third_exam._decisions import (
    asked,
    ladder,
    leanings,
    seen_whole,
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
    sign,
    within,
)
from repbm.domains.worlds._world import World


def athlete_season(generator: np.random.Generator) -> World:
    """A week of training tires at once and makes fit two to five weeks later; races count all along, or late only.

    Components: fitness, fatigue, the week, and the loads that are still to work, the next one to do so first.
    """
    actions, horizon, delay = count_of(generator, 2, 4), count_of(generator, 7, 15), count_of(generator, 2, 5)
    load = np.linspace(0.0, 1.0, actions)
    fit_stays, tired_stays = generator.uniform(0.85, 0.95), generator.uniform(0.4, 0.7)
    gain, strain = generator.uniform(0.3, 0.7), generator.uniform(0.4, 0.9)
    loud, errors = generator.uniform(0.05, 0.2), generator.uniform(0.2, 0.6)
    dulls = generator.uniform(0.5, 1.2)
    races = horizon - count_of(generator, 2, 4) if either(generator) else 0
    cuts = np.sort(generator.normal(0.3, 0.5, actions - 1))
    plan, rest = generator.uniform(0.3, 1.0), generator.uniform(0.5, 1.2)
    moved = generator.uniform(0.2, 0.5) * sign(generator)
    dress = Dress.drawn(generator, 3 + delay)

    def initial(count: int, noise: np.random.Generator) -> States:
        fitness, fatigue = noise.normal(1.0, 0.5, count), noise.exponential(0.5, count)
        return np.column_stack([fitness, fatigue, np.zeros(count), load[noise.integers(0, actions, (count, delay))]])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        fitness, fatigue, week = states[:, :3].T
        coming, count = states[:, 3:], len(states)
        fitness = (
            fit_stays * fitness + gain * coming[:, 0] * np.exp(-0.2 * fitness**2) + loud * noise.normal(size=count)
        )
        fatigue = np.maximum(tired_stays * fatigue + strain * load[taken] ** 1.5 + loud * noise.normal(size=count), 0.0)
        form = within(fitness, 5.0) - dulls * fatigue + errors * noise.normal(size=count)
        rewards = np.where(week >= races, form, 0.0)
        return np.column_stack([fitness, fatigue, week + 1.0, coming[:, 1:], load[taken]]), rewards, going_on(states)

    def ready(sights: Sights) -> Numbers:
        return plan * (1.5 - sights[:, 0]) - rest * (sights[:, 1] - 0.6) + 0.2

    def wish(sights: Sights) -> Chances:
        early = np.where(sights[:, 2] + delay < horizon, 1.0, -1.0)
        return np.outer(early * (0.5 + np.tanh(ready(sights))), load)

    if either(generator):
        usual = ladder(ready, cuts, 0.7 * width_of(generator, horizon), slip_of(generator, horizon, 0.4, 0.8))
        rules = shifted(ready, cuts, moved)
    else:
        usual = weighing(lambda sights: np.outer(within(2.0 * ready(sights), 2.0), load), generator.uniform(0.1, 0.25))
        rules = leanings(usual, wish)
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    return asked(world, dress, rules, generator, 0.06, 0.5)
