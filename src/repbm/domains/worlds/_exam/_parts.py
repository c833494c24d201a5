"""What the worlds of the exam have in common: types, draws, and customs by which actions are chosen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int

Table = Float[np.ndarray, "batch columns"]
Vector = Float[np.ndarray, " batch"]
Mask = Bool[np.ndarray, " batch"]
Choice = Int[np.ndarray, " batch"]
Grid = Float[np.ndarray, "batch actions"]
Signs = Float[np.ndarray, "batch signs"]
"""What people make of a row."""

PerAction = Float[np.ndarray, " actions"]
Moved = tuple[Table, Vector, Mask]
"""The next states, the rewards, and where the world is over."""

Custom = Callable[[Table], Grid]
"""How probable every action is, by what is seen."""

Path = Callable[[float], Custom]
"""Customs that lead away from one: at 0 it, at 1 the farthest."""


def whole(generator: np.random.Generator, low: int, high: int) -> int:
    """From low to high, both included."""
    return int(generator.integers(low, high + 1))


def sign(generator: np.random.Generator) -> float:
    return float(generator.choice([-1.0, 1.0]))


def spread_out(generator: np.random.Generator, low: float, high: float) -> float:
    """From low to high, uniform in its logarithm."""
    return float(np.exp(generator.uniform(np.log(low), np.log(high))))


def rise(x: np.ndarray) -> np.ndarray:
    """From 0 to 1, logistic."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -40.0, 40.0)))


def occurs(odds: Vector, noise: np.random.Generator) -> Mask:
    return noise.random(len(odds)) < odds


def table(*columns: np.ndarray) -> Table:
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def nobody(states: Table) -> Mask:
    return np.zeros(len(states), dtype=bool)


def everybody(states: Table) -> Mask:
    return np.ones(len(states), dtype=bool)


def codes(column: Vector) -> Choice:
    """A column of whole numbers as such."""
    return np.rint(column).astype(np.int64)


def chosen(values: Grid, taken: Choice) -> Vector:
    """Of every row what belongs to its action."""
    return values[np.arange(len(taken)), taken]


def weighed(signs: Signs, weights: np.ndarray) -> np.ndarray:
    """Sums of signs, one or one for every action. Not by a product of matrices, whose threads wait for each other."""
    return np.einsum("bs,s...->b...", signs, weights)


def floored(weights: Grid, least: float) -> Grid:
    """Weights as probabilities, none below least."""
    shares = weights / weights.sum(axis=1, keepdims=True)
    return least + (1.0 - least * shares.shape[1]) * shares


def soft(scores: Callable[[Table], Grid], least: float) -> Custom:
    """The likelier the higher the score, and never less than least."""

    def custom(seen: Table) -> Grid:
        liked = scores(seen)
        return floored(np.exp(liked - liked.max(axis=1, keepdims=True)), least)

    return custom


def firm(pick: Callable[[Table], Choice], actions: int) -> Custom:
    """One action in every row."""
    return lambda seen: np.eye(actions)[pick(seen)]


def blend(one: Custom, other: Custom, share: float) -> Custom:
    """The other custom in a share of all decisions."""
    return lambda seen: (1.0 - share) * one(seen) + share * other(seen)


def toward(usual: Custom, other: Custom) -> Path:
    return lambda size: blend(usual, other, size)


def leaning(usual: Custom, wish: Callable[[Table], Grid], most: float) -> Path:
    """What is wished for becomes likelier, what is not becomes rarer; what is never done stays undone."""

    def path(size: float) -> Custom:
        def custom(seen: Table) -> Grid:
            odds = usual(seen) * np.exp(size * most * np.clip(wish(seen), -3.0, 3.0))
            return odds / odds.sum(axis=1, keepdims=True)

        return custom

    return path


def never_there(custom: Custom, action: int, there: Callable[[Table], Mask]) -> Custom:
    """The custom, but that an action is never taken in a region: the others share what it had."""

    def kept(seen: Table) -> Grid:
        odds = custom(seen).copy()
        odds[there(seen), action] = 0.0
        return odds / odds.sum(axis=1, keepdims=True)

    return kept


def instead_there(custom: Custom, action: int, there: Callable[[Table], Mask], share: float) -> Custom:
    """The custom, but that an action is taken in a share of all cases of a region."""

    def daring(seen: Table) -> Grid:
        odds = custom(seen)
        return np.where(there(seen)[:, None], (1.0 - share) * odds + share * np.eye(odds.shape[1])[action], odds)

    return daring
