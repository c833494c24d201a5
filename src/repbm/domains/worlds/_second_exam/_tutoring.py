"""A tutor with a long questionnaire."""

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
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def surveyed_pupils(generator: np.random.Generator) -> World:
    """Exercises of several difficulties teach most when they fit the pupil's skill; weariness slows it.

    Beside skill and weariness stand 10 to 20 answers to a questionnaire that matter for nothing: some are fixed, some
    wander, some are drawn anew each time. The columns are shuffled.
    """
    actions, horizon, answers = whole(generator, 3, 5), whole(generator, 6, 12), whole(generator, 10, 20)
    levels = np.linspace(-1.5, 1.5, actions) + generator.normal(0.0, 0.1, actions)
    fit, gain, tires = generator.uniform(0.6, 1.4), generator.uniform(0.2, 0.5), generator.uniform(0.1, 0.4)
    rests, loud = generator.uniform(0.5, 0.8), generator.uniform(0.05, 0.2)
    kept = generator.choice([0.0, 0.8, 1.0], answers)
    cautious, strong = generator.uniform(-0.8, 0.3), generator.uniform(0.2, 0.7)
    passing, graded = generator.uniform(0.5, 1.5), bool(generator.random() < 0.5)
    order = generator.permutation(answers + 2)
    gauge = Gauge.drawn(generator, answers + 2, -3.0, 3.0)

    def initial(count: int, noise: np.random.Generator) -> States:
        skill, weary = noise.normal(-0.3, 0.8, count), noise.exponential(0.4, count)
        return np.column_stack([skill, weary, noise.normal(size=(count, answers))])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        skill, weary, level = states[:, 0], states[:, 1], levels[taken]
        learned = gain * np.exp(-(((level - skill - 0.3) / fit) ** 2)) / (1.0 + weary)
        skill = np.clip(skill + learned + noise.normal(0.0, loud, len(skill)), -4.0, 4.0)
        weary = rests * weary + tires * sigmoid(level - skill) + noise.exponential(0.05, len(skill))
        fresh = noise.normal(size=(len(states), answers))
        survey = kept * states[:, 2:] + np.sqrt(1.0 - kept**2) * fresh
        solved = noise.random(len(skill)) < sigmoid(passing * (skill - level) - weary)
        rewards = solved * (level + 2.5) if graded else skill + 0.5 * solved
        return np.column_stack([skill, weary, survey]), rewards, unending(states)

    def behavior(states: States) -> Scores:
        wish = strong * (states[:, 0] - cautious)
        return floored(softmax(np.outer(wish, levels)), 0.2)

    def preference(states: States) -> Scores:
        return -((states[:, :1] + 0.3 - 0.3 * states[:, 1:2] - levels) ** 2)

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(gauge.read(seen)[:, np.argsort(order)]),
        observe=lambda states: gauge.show(states[:, order]),
        discount=1.0,
    )
