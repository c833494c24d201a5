"""What the worlds of the fifth exam share: types, small functions, and the people whose habits make the logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

Rows = Float[np.ndarray, "batch columns"]
Places = Float[np.ndarray, "batch axes"]
"""What is made of the columns to judge a case by."""

Column = Float[np.ndarray, " batch"]
Flags = Bool[np.ndarray, " batch"]
Codes = Int[np.ndarray, " batch"]
Chances = Float[np.ndarray, "batch actions"]
Result = tuple[Rows, Column, Flags]
"""Next states, rewards, and which episodes the world ends."""

Rule = Callable[[Rows], Chances]
"""Chances of the actions, from the columns of the log in the order in which it has them."""

Pick = Callable[[Rows], Codes]
"""One action, or one leaf of a tree, for every row."""

Measure = Callable[[Rows], Column]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def integer(generator: np.random.Generator, least: int, most: int) -> int:
    """A whole number, both ends included."""
    return int(generator.integers(least, most + 1))


def chance(generator: np.random.Generator, of: float = 0.5) -> bool:
    return bool(generator.random() < of)


def happens(chances: Column, noise: np.random.Generator) -> Flags:
    return noise.random(len(chances)) < chances


def never(states: Rows) -> Flags:
    """No episode ends."""
    return np.zeros(len(states), dtype=bool)


def columns(*parts: np.ndarray) -> Rows:
    return np.column_stack(parts).astype(np.float64)


def certain(pick: Pick, actions: int) -> Rule:
    """No chance is left."""
    return lambda seen: np.eye(actions)[pick(seen)]


def at_least(rule: Rule, least: float) -> Rule:
    """Every action now and then, however little it fits."""

    def raised(seen: Rows) -> Chances:
        chances = rule(seen)
        return least + (1.0 - least * chances.shape[1]) * chances

    return raised


def mostly(pick: Pick, actions: int, keen: float) -> Rule:
    """What is prescribed, but for a share of cases in which any other action is as good."""
    table = np.full((actions, actions), (1.0 - keen) / (actions - 1))
    np.fill_diagonal(table, keen)
    return lambda seen: table[pick(seen)]


def leaves(sort: Pick, table: Float[np.ndarray, "leaves actions"]) -> Rule:
    """A tree of yes and no questions, with the chances of its own in every leaf."""
    return lambda seen: table[sort(seen)]


def answers(*questions: Flags) -> Codes:
    """The leaf to which the answers lead."""
    leaf = np.zeros(len(questions[0]), dtype=np.int64)
    for question in questions:
        leaf = 2 * leaf + question
    return leaf


def likeness(place: Callable[[Rows], Places], homes: Float[np.ndarray, "actions axes"], reach: float) -> Rule:
    """Every action has a textbook case; the nearer a case is to it the likelier the action, without a sharp edge."""

    def rule(seen: Rows) -> Chances:
        far = ((place(seen)[:, None, :] - homes) ** 2).sum(axis=2)
        weights = 1.0 / (1.0 + far / reach**2) ** 2
        return weights / weights.sum(axis=1, keepdims=True)

    return rule


def stairs(index: Measure, marks: Float[np.ndarray, " cuts"], blur: float) -> Rule:
    """Ordered actions, one higher for every mark passed; marks are misread, now and then by far (Cauchy)."""

    def rule(seen: Rows) -> Chances:
        passed = 0.5 + np.arctan((index(seen)[:, None] - marks) / blur) / np.pi
        edges = np.column_stack([np.ones(len(passed)), passed, np.zeros(len(passed))])
        return edges[:, :-1] - edges[:, 1:]

    return rule


def loyal(rule: Rule, before: Pick, sticks: float) -> Rule:
    """What was done the last time is done again in a share of cases."""

    def again(seen: Rows) -> Chances:
        chances = (1.0 - sticks) * rule(seen)
        chances[np.arange(len(seen)), before(seen)] += sticks
        return chances

    return again


def crew(rules: Sequence[Rule], shares: Float[np.ndarray, " people"]) -> Rule:
    """Several people, each with a rule; who is on duty is drawn anew each time."""

    def rule(seen: Rows) -> Chances:
        chances = shares[0] * rules[0](seen)
        for share, one in zip(shares[1:], rules[1:], strict=True):
            chances = chances + share * one(seen)
        return chances

    return rule
