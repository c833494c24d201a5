"""A ward whose patients leave it one way or the other."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Gauge,
    Scores,
    States,
    Stepped,
    alternative,
    floored,
    sigmoid,
    softmax,
    squashed,
    whole,
)
from repbm.domains.worlds._world import World


def sepsis_ward(generator: np.random.Generator) -> World:
    """Vital signs worsen or mend under treatment until death or discharge, which alone are rewarded.

    Whoever is still there when the log stops has earned nothing. The state after the last step is not logged.
    """
    signs, actions, horizon = whole(generator, 3, 5), whole(generator, 2, 4), whole(generator, 8, 14)
    burden = generator.dirichlet(np.full(signs, 2.0)) * np.sqrt(signs)
    kept, worse = generator.uniform(0.75, 0.95, signs), generator.uniform(0.0, 0.2)
    dose = np.concatenate([[0.0], generator.uniform(0.3, 1.0, actions - 1)])
    helps = generator.dirichlet(np.ones(signs), actions) * dose[:, None] * signs * 0.8
    harms = generator.uniform(0.05, 0.3) * dose
    loud = generator.uniform(0.2, 0.5)
    dies, leaves = generator.uniform(-4.5, -3.3), generator.uniform(-3.3, -2.3)
    steep = generator.uniform(0.9, 1.8)
    prize, loss = float(generator.choice([1.0, 100.0])), float(generator.choice([0.0, -1.0, -2.0]))
    habit = generator.uniform(0.2, 0.9)
    gauge = Gauge.drawn(generator, signs, -2.0, 2.0)

    def initial(count: int, noise: np.random.Generator) -> States:
        return noise.normal(0.0, 0.7, (count, 1)) + noise.normal(0.4, 0.7, (count, signs))

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        relief = helps[taken] * sigmoid(2.0 * states) - harms[taken][:, None] * (states < 0.0)
        following = states * kept + worse - relief + noise.normal(0.0, loud, states.shape)
        following = squashed(following, 5.0)
        index = following @ burden
        dead = noise.random(len(states)) < sigmoid(dies + steep * index)
        gone = ~dead & (noise.random(len(states)) < sigmoid(leaves - steep * index))
        return following, prize * (1.0 * gone + loss * dead), dead | gone

    def behavior(states: States) -> Scores:
        return floored(softmax(habit * np.outer(states @ burden, dose)), 0.2)

    def preference(states: States) -> Scores:
        return sigmoid(2.0 * states) @ (helps * burden).T - harms * (states < 0.0).mean(axis=1, keepdims=True)

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(gauge.read(seen)),
        observe=gauge.show,
        last_state=False,
    )
