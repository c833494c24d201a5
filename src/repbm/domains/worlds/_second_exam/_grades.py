"""A machine whose wear is graded."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import Actions, Columns, Scores, States, Stepped, alternative, whole
from repbm.domains.worlds._world import World


def wear_grades(generator: np.random.Generator) -> World:
    """A table: a few grades of wear, a few kinds of service; the grade is logged as one code or as flags.

    Grades drift to worse ones, service moves them back, and in some draws the last grade ends the episode.
    """
    grades, actions, horizon = whole(generator, 4, 8), whole(generator, 2, 3), whole(generator, 6, 15)
    place = np.arange(grades)
    wear = generator.uniform(0.3, 1.2)
    service = np.concatenate([[0.0], np.sort(generator.uniform(1.0, 4.0, actions - 1))])
    centre = np.clip(place[:, None] + wear - service, 0, grades - 1)
    likely = np.exp(-((place - centre[..., None]) ** 2) / generator.uniform(0.6, 1.6))
    moves = likely * generator.gamma(2.0, 1.0, likely.shape) + 1e-3
    moves /= moves.sum(axis=2, keepdims=True)
    output = np.sort(generator.uniform(0.0, 1.0, grades))[::-1]
    table = output[:, None] - generator.uniform(0.1, 0.3) * service + generator.normal(0.0, 0.05, (grades, actions))
    fails = grades - 1 if generator.random() < 0.4 else -1
    bang, unit = -generator.uniform(0.5, 2.0), 10.0 ** generator.uniform(0.0, 3.0)
    habit = generator.dirichlet(np.full(actions, 4.0), grades) * 0.85 + 0.15 / actions
    jitter, discount = generator.uniform(0.0, 0.3), float(generator.choice([1.0, 0.95, 0.9]))
    flags, sorted_codes = generator.random(2) < 0.5
    labels = 1.0 * (place if sorted_codes else generator.permutation(grades))
    starts = generator.dirichlet(np.full(grades - 1, 2.0))

    def initial(count: int, noise: np.random.Generator) -> States:
        return noise.choice(grades - 1, count, p=starts).astype(np.float64)[:, None]

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        now = states[:, 0].astype(np.int64)
        steps = moves.cumsum(axis=2)[now, taken]
        following = np.minimum((steps < noise.random((len(now), 1))).sum(axis=1), grades - 1)
        ended = following == fails
        rewards = table[now, taken] + bang * ended + jitter * noise.normal(size=len(now))
        return following.astype(np.float64)[:, None], unit * rewards, ended

    def observe(states: States) -> Columns:
        now = states[:, 0].astype(np.int64)
        return np.eye(grades)[now] if flags else labels[now][:, None]

    def read(seen: Columns) -> States:
        now = seen.argmax(axis=1) if flags else np.argsort(labels)[np.rint(seen[:, 0]).astype(np.int64)]
        return now.astype(np.float64)[:, None]

    def behavior(states: States) -> Scores:
        return habit[states[:, 0].astype(np.int64)]

    values = np.zeros((grades, actions))
    for _ in range(horizon):
        onward = (habit * values).sum(axis=1) * (place != fails) + bang * (place == fails)
        values = table + discount * moves @ onward

    def preference(states: States) -> Scores:
        return values[states[:, 0].astype(np.int64)]

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(read(seen)),
        observe=observe,
        discount=discount,
    )
