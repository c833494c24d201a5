"""The desk of an emergency department."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Scores,
    States,
    Stepped,
    alternative,
    floored,
    sigmoid,
    softmax,
    squashed,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def triage_desk(generator: np.random.Generator) -> World:
    """Patients come one by one and are sent home, to wait, or straight to a bed; columns are of every kind.

    Columns: the complaint as a code without order, whether an ambulance brought them, how many wait, heart rate,
    oxygen saturation as a share, the age in years.
    """
    actions, horizon, kinds = whole(generator, 2, 4), whole(generator, 6, 14), whole(generator, 3, 7)
    attention = np.linspace(0.0, 1.0, actions)
    grave, common = generator.normal(0.0, 0.9, kinds), generator.dirichlet(np.full(kinds, 3.0))
    brought, slow = generator.uniform(0.15, 0.4), generator.uniform(0.05, 0.25)
    weights = generator.uniform(0.2, 0.8, 4)
    arrivals, room = generator.uniform(0.8, 2.0), generator.uniform(1.2, 2.6)
    cost, missed = generator.uniform(0.1, 0.4), generator.uniform(0.8, 2.0)
    sharp, strict = generator.uniform(0.4, 1.2), generator.uniform(-0.5, 0.5)
    felt = grave + generator.normal(0.0, 0.8, kinds)
    codes = generator.permutation(kinds).astype(np.float64) + float(whole(generator, 0, 1))
    order = np.argsort(codes)

    def patients(count: int, noise: np.random.Generator) -> list[np.ndarray]:
        kind = noise.choice(kinds, count, p=common)
        by_car = noise.random(count) < brought * (1.0 + np.tanh(grave[kind]) * 0.5)
        pulse = 80.0 + 12.0 * noise.normal(size=count) + 10.0 * by_car
        oxygen = 1.0 - 0.1 * noise.beta(1.5, 4.0 - 1.5 * np.tanh(grave[kind]), count)
        return [kind, by_car, pulse, oxygen, np.rint(18.0 + 75.0 * noise.beta(1.6, 1.8, count))]

    def arranged(people: list[np.ndarray], waiting: np.ndarray) -> States:
        kind, by_car, pulse, oxygen, age = people
        return np.column_stack([codes[kind], 1.0 * by_car, waiting, pulse, oxygen, age])

    def initial(count: int, noise: np.random.Generator) -> States:
        return arranged(patients(count, noise), noise.poisson(3.0, count))

    def need(states: States, gravity: np.ndarray) -> np.ndarray:
        kind = order[np.rint(states[:, 0] - codes.min()).astype(np.int64)]
        signs = np.column_stack(
            [states[:, 1], np.abs(states[:, 3] - 80.0) / 15.0, (0.97 - states[:, 4]) * 40.0, states[:, 5] / 40.0 - 1.3]
        )
        return squashed(gravity[kind] + signs @ weights - 0.7, 4.0)

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        count, waiting = len(states), states[:, 2]
        ill = noise.random(count) < sigmoid(2.0 * need(states, grave))
        care = attention[taken]
        rewards = ill * (care * 1.0 - missed * (1.0 - care)) - cost * care - slow * np.minimum(waiting, 20.0) / 3.0
        served = noise.poisson(room * (1.0 - 0.6 * care))
        waiting = np.minimum(np.maximum(waiting - served, 0.0) + noise.poisson(arrivals, count), 40.0)
        return arranged(patients(count, noise), waiting), rewards, unending(states)

    def behavior(states: States) -> Scores:
        wish = sharp * need(states, felt) - 0.1 * (np.minimum(states[:, 2], 15.0) - 4.0)
        return floored(softmax(np.outer(wish, attention)), 0.2)

    def preference(states: States) -> Scores:
        wish = need(states, grave) + strict - 0.05 * np.minimum(states[:, 2], 15.0)
        return np.outer(wish, attention)

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=policy,
        discount=float(generator.choice([1.0, 0.97])),
    )
