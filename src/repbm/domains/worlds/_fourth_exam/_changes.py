"""Habits that make the logs of the fourth exam, and changes of them: from hardly any to all that is wished for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from repbm.core import draw
from repbm.domains.worlds._fourth_exam._parts import (
    Amounts,
    Happens,
    Scores,
    Sheet,
    Shown,
    Starting,
    bounded,
    expit,
    gibbs,
)
from repbm.domains.worlds._world import Probabilities, World

Rule = Callable[[Shown], Scores]
"""Chances of the actions from what is shown."""

Liking = Callable[[Shown], Scores]
"""How well the actions are thought of, from what is shown."""

Index = Callable[[Shown], Amounts]

Change = Callable[[float], Rule]
"""A policy for every boldness between 0 and 1."""

_LEAST = 0.02
_HALVINGS = 5
_PILOTS = 400


def habit(liking: Liking, floor: float) -> Rule:
    """What is liked more is done more often, and everything now and then."""

    def rule(shown: Shown) -> Scores:
        chances = gibbs(liking(shown))
        return (1.0 - floor) * chances + floor / chances.shape[1]

    return rule


def grading(index: Index, marks: np.ndarray, blur: float, floor: float) -> Rule:
    """Actions in an order: one further for every mark that the index passes, with marks that are blurred."""

    def rule(shown: Shown) -> Scores:
        passed = expit((index(shown)[:, None] - marks) / blur)
        edges = np.column_stack([np.ones(len(passed)), passed, np.zeros(len(passed))])
        return (1.0 - floor) * -np.diff(edges, axis=1) + floor / (len(marks) + 1)

    return rule


def graded(index: Index, marks: np.ndarray) -> Rule:
    """The same without blur: no chance is left in it."""
    return lambda shown: np.eye(len(marks) + 1)[(index(shown)[:, None] > marks).sum(axis=1)]


def best(liking: Liking) -> Rule:
    """Always the action that is liked most."""

    def rule(shown: Shown) -> Scores:
        scores = liking(shown)
        return np.eye(scores.shape[1])[scores.argmax(axis=1)]

    return rule


def tilting(usual: Rule, wish: Liking, most: float = 3.0) -> Change:
    """The odds of what is wished for rise, those of the rest fall."""

    def change(boldness: float) -> Rule:
        def rule(shown: Shown) -> Scores:
            wished = wish(shown)
            wished = bounded(wished - wished.mean(axis=1, keepdims=True), 1.5)
            return gibbs(np.log(usual(shown)) + most * boldness * wished)

        return rule

    return change


def handing(usual: Rule, rule: Rule) -> Change:
    """Some share of decisions is handed over to a rule."""
    return lambda boldness: lambda shown: (1.0 - boldness) * usual(shown) + boldness * rule(shown)


def steering(custom: Liking, wish: Liking) -> Change:
    """Without chance: the best action by custom and wish together, in which the wish weighs more and more."""
    return lambda boldness: best(lambda shown: (1.0 - boldness) * custom(shown) + boldness * wish(shown))


def moving(index: Index, marks: np.ndarray, far: float) -> Change:
    """Without chance: ordered actions whose marks are moved, at most so far."""
    return lambda boldness: graded(index, marks + far * boldness)


def grouping(usual: Rule, rule: Rule, index: Index, low: float, high: float) -> Change:
    """A rule for those alone whose index is beyond some point between high and low; as usual for the others."""

    def change(boldness: float) -> Rule:
        point = high + boldness * (low - high)
        return lambda shown: np.where((index(shown) > point)[:, None], rule(shown), usual(shown))

    return change


def dropping(usual: Rule, action: int, instead: int) -> Change:
    """One action is done less and less, at last never, and another one in its place."""

    def change(boldness: float) -> Rule:
        def rule(shown: Shown) -> Scores:
            chances = usual(shown).copy()
            moved = boldness * chances[:, action]
            chances[:, action] -= moved
            chances[:, instead] += moved
            return chances

        return rule

    return change


def followed_share(world: World, policy: Probabilities, seed: int) -> float:
    """The effective size of weights of whole episodes as a share of a log: 1 / E[weight], where the policy acts.

    Weights of the policy's own episodes tell it better than those of a log, which seldom holds the largest ones.
    """
    generator = np.random.default_rng(seed)
    weights, who, states = np.ones(_PILOTS), np.arange(_PILOTS), world.initial(_PILOTS, generator)
    for _ in range(world.horizon):
        wanted, usual = policy(world.observe(states)), world.behavior(states)
        taken = draw(wanted, generator)
        rows = np.arange(len(who))
        weights[who] *= wanted[rows, taken] / usual[rows, taken]
        states, _, ended = world.step(states, taken, generator)
        who, states = who[~ended], states[~ended]
        if not len(who):
            break
    return float(1.0 / weights.mean())


def asking(
    world: World, sheet: Sheet, change: Change, generator: np.random.Generator, low: float = 0.1, high: float = 0.6
) -> World:
    """The world with as bold a change as leaves an effective share of the log, drawn between low and high.

    Where no change leaves so much it is the least one.
    """
    share = float(np.exp(generator.uniform(np.log(low), np.log(high))))
    seed = int(generator.integers(1 << 31))

    def policy(boldness: float) -> Probabilities:
        rule = change(boldness)
        return lambda seen: rule(sheet.read(seen))

    if followed_share(world, policy(1.0), seed) >= share:
        return replace(world, policy=policy(1.0))
    near, far = _LEAST, 1.0
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(near * far))
        enough = followed_share(world, policy(middle), seed) >= share
        near, far = (middle, far) if enough else (near, middle)
    return replace(world, policy=policy(near))


def logged(
    horizon: int, actions: int, initial: Starting, step: Happens, usual: Rule, sheet: Sheet, discount: float = 1.0
) -> World:
    """A world whose first parts are shown, as many as the sheet has columns, and where all goes on as usual."""
    columns = len(sheet.order)
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=lambda states: usual(states[:, :columns]),
        policy=lambda seen: usual(sheet.read(seen)),
        observe=lambda states: sheet.write(states[:, :columns]),
        discount=discount,
    )
