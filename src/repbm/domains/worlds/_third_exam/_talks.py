"""Conversations with customers, in a finite table of states."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._third_exam._decisions import asked, firm, leanings, seen_whole, slip_of, weighing
from repbm.domains.worlds._third_exam._parts import (
    Chances,
    Dress,
    Outcome,
    Sights,
    States,
    Taken,
    count_of,
    either,
    logistic,
)
from repbm.domains.worlds._world import World


def support_chat(generator: np.random.Generator) -> World:
    """A table: the topic and the mood of a customer, both whole numbers; an answer solves the matter, or shifts them.

    Customers who are solved leave, glad or not; those in the worst mood may leave unsolved.
    """
    topics, moods = count_of(generator, 3, 5), count_of(generator, 3, 4)
    actions, horizon = count_of(generator, 3, 5), count_of(generator, 5, 10)
    solves = logistic(generator.normal(-1.0, 0.9, (topics, moods, actions)))
    better = logistic(generator.normal(-0.8, 0.8, (topics, moods, actions)))
    worse = (1.0 - better) * logistic(generator.normal(-0.3, 0.8, (topics, moods, actions)))
    turns = generator.dirichlet(np.full(topics, 0.4), (topics, actions)) * 0.5
    turns += 0.5 * np.eye(topics)[:, None, :]
    cost, glad = generator.exponential(0.2, actions), np.cumsum(generator.uniform(0.1, 0.6, moods))
    angry, leaves = generator.uniform(0.5, 2.0), generator.uniform(0.2, 0.6)
    mix = generator.dirichlet(np.full(topics, 2.0))
    custom = generator.normal(0.0, 0.7, (topics, moods, actions))
    blur = generator.normal(0.0, 0.3, (topics, moods, actions))
    sense, sharp = generator.uniform(0.0, 1.0), generator.uniform(1.5, 4.0)
    dress = Dress.drawn(generator, 2)

    def cell(states: States) -> tuple[np.ndarray, np.ndarray]:
        whole = np.clip(np.rint(states), 0, [topics - 1, moods - 1]).astype(np.int64)
        return whole[:, 0], whole[:, 1]

    def initial(count: int, noise: np.random.Generator) -> States:
        topic = noise.choice(topics, count, p=mix)
        return np.column_stack([topic, noise.integers(0, moods, count)]).astype(np.float64)

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        topic, mood = cell(states)
        count, at = len(states), (topic, mood, taken)
        solved = noise.random(count) < solves[at]
        lost = ~solved & (mood == 0) & (noise.random(count) < leaves)
        rewards = np.where(solved, glad[mood], 0.0) - angry * lost - cost[taken]
        roll = noise.random(count)
        mood = np.clip(mood + (roll < better[at]) - (roll > 1.0 - worse[at]), 0, moods - 1)
        into = (turns[topic, taken].cumsum(axis=1) < noise.random((count, 1))).sum(axis=1)
        return np.column_stack([np.minimum(into, topics - 1), mood]).astype(np.float64), rewards, solved | lost

    def habit(sights: Sights) -> Chances:
        return custom[cell(sights)] + sense * wish(sights)

    def wish(sights: Sights) -> Chances:
        return (2.0 * solves + 0.7 * (better - worse) - cost + blur)[cell(sights)]

    if either(generator):
        usual = weighing(habit, generator.uniform(0.05, 0.2))
        rules = leanings(usual, wish)
    else:
        usual = weighing(lambda sights: sharp * habit(sights), slip_of(generator, 4, 0.6, 0.9))
        rules = firm(habit, wish)
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    return asked(world, dress, rules, generator, 0.08, 0.6)
