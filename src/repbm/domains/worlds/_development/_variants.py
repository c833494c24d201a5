"""Linear dynamics made harder: columns that mean nothing, long episodes, rewards with heavy tails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from repbm.domains.worlds._development._linear import Linear
from repbm.domains.worlds._development._parts import Outcome, Rows, between, by_chance, conduct, count
from repbm.domains.worlds._world import World


def irrelevant_columns(generator: np.random.Generator) -> World:
    """A small linear system somewhere among 15 to 20 columns that follow their own course and mean nothing."""
    horizon, actions = count(generator, 4, 12), count(generator, 2, 4)
    system = Linear.drawn(generator, count(generator, 1, 3), actions)
    useful, useless = system.components, count(generator, 15, 20)
    order = generator.permutation(useful + useless)
    memory = np.where(generator.random(useless) < 0.5, generator.uniform(0.5, 0.98, useless), 0.0)
    inside = np.argsort(order)[:useful]

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return np.hstack([system.initial(number, draws), draws.normal(size=(number, useless))])

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        following, rewards, ended = system.step(states[:, :useful], actions, draws)
        drift = memory * states[:, useful:] + np.sqrt(1 - memory**2) * draws.normal(size=(len(states), useless))
        return np.hstack([following, drift]), rewards, ended

    sample = system.initial(512, generator)
    acts, wanted = conduct(generator, system.scores, sample, horizon)
    return World(
        horizon,
        actions,
        initial,
        step,
        behavior=_of(acts, slice(0, useful)),
        policy=_of(wanted, inside),
        observe=lambda states: states[:, order],
    )


def _of(function: Callable[[Rows], Rows], columns: slice | np.ndarray) -> Callable[[Rows], Rows]:
    return lambda rows: function(rows[:, columns])


def long(generator: np.random.Generator) -> World:
    """40 to 60 steps, discounted: whole episodes share little with the policy, single steps much."""
    horizon, actions = count(generator, 40, 60), count(generator, 2, 4)
    system = Linear.drawn(generator, count(generator, 1, 6), actions)
    # The share is what an episode of 6 steps would keep; of 50 steps next to nothing is kept.
    behavior, policy = conduct(generator, system.scores, system.initial(512, generator), 6, (0.1, 0.5))
    return World(horizon, actions, system.initial, system.step, behavior, policy, discount=0.97)


def heavy_tails(generator: np.random.Generator) -> World:
    """A linear system whose rewards now and then are far from their mean: Student t with 3 degrees, or log-normal."""
    horizon, actions = count(generator, 1, 8), count(generator, 2, 4)
    system = Linear.drawn(generator, count(generator, 1, 5), actions)
    size, spread, skewed = between(generator, 0.3, 1.5), generator.uniform(0.7, 1.2), by_chance(generator, 0.5)

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        following, rewards, ended = system.step(states, actions, draws)
        if skewed:
            level = np.exp(0.5 * np.clip(rewards, -6, 4))
            return following, level * np.exp(spread * draws.normal(size=len(states))), ended
        return following, rewards + size * draws.standard_t(3, size=len(states)), ended

    behavior, policy = conduct(generator, system.scores, system.initial(512, generator), horizon)
    return World(horizon, actions, system.initial, step, behavior, policy)
