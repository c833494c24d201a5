"""A dose that the guideline forbids to some."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Gauge,
    Scores,
    States,
    Stepped,
    floored,
    sigmoid,
    softmax,
    squashed,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def forbidden_dose(generator: np.random.Generator) -> World:
    """The strongest dose was never given to those with weak kidneys; the policy nearly always gives it to them.

    There it does much harm or much good, otherwise than elsewhere, and no row of the log shows which.
    """
    others, actions, horizon = whole(generator, 1, 3), whole(generator, 2, 4), whole(generator, 4, 10)
    doses = np.linspace(0.0, 1.0, actions)
    edge, sure = generator.uniform(-0.7, 0.1), generator.uniform(0.93, 0.99)
    effect, away = generator.uniform(0.3, 0.9), generator.uniform(1.5, 3.0) * float(generator.choice([-1.0, 1.0]))
    kept, loud = generator.uniform(0.6, 0.9, others), generator.uniform(0.2, 0.5)
    steady, weight = generator.uniform(0.9, 0.99), generator.normal(0.0, 0.6, others)
    habit = generator.normal(0.0, 0.5, (others + 1, actions))
    elsewhere = generator.normal(0.0, 0.2, actions)
    gauge = Gauge.drawn(generator, others + 1, -2.0, 3.0)

    def initial(count: int, noise: np.random.Generator) -> States:
        return noise.normal(size=(count, others + 1))

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        kidneys, rest = states[:, 0], states[:, 1:]
        weak, dose = sigmoid(8.0 * (edge - kidneys)), doses[taken]
        felt = effect * dose * (1.0 - weak) + away * weak * (dose == 1.0)
        rewards = felt + np.tanh(rest @ weight) + loud * noise.normal(size=len(states))
        rest = squashed(kept * rest - 0.3 * dose[:, None] + loud * noise.normal(size=rest.shape), 6.0)
        kidneys = steady * kidneys + np.sqrt(1.0 - steady**2) * noise.normal(size=len(states))
        return np.column_stack([kidneys, rest]), rewards, unending(states)

    def behavior(states: States) -> Scores:
        chances = floored(softmax(squashed(states @ habit, 2.0)), 0.2)
        chances[states[:, 0] < edge, -1] = 0.0
        return chances / chances.sum(axis=1, keepdims=True)

    def policy(seen: States) -> Scores:
        states = gauge.read(seen)
        strongest = np.full(actions, (1.0 - sure) / (actions - 1))
        strongest[-1] = sure
        chances = floored(softmax(squashed(states @ habit + elsewhere, 2.0)), 0.2)
        return np.where(states[:, :1] < edge, strongest, chances)

    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=policy,
        observe=gauge.show,
        discount=float(generator.choice([1.0, 0.95])),
        answerable=False,
    )
