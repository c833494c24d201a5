"""What worlds are written with: tables of rows that do not depend on each other, draws, and sums of signs."""

from __future__ import annotations

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
