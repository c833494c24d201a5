"""What the worlds of the third exam have in common: small functions, and the dress in which columns are logged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

States = Float[np.ndarray, "batch components"]
Sights = Float[np.ndarray, "batch sights"]
"""What is to be seen of states, in the units that the world is written in."""

Chances = Float[np.ndarray, "batch actions"]
Numbers = Float[np.ndarray, " batch"]
Taken = Int[np.ndarray, " batch"]
Outcome = tuple[States, Numbers, Bool[np.ndarray, " batch"]]
"""Next states, rewards, and which episodes the world ends."""

Initial = Callable[[int, np.random.Generator], States]
Step = Callable[[States, Taken, np.random.Generator], Outcome]

Rule = Callable[[Sights], Chances]
"""Chances of the actions from what is seen."""

Scoring = Callable[[Sights], Chances]
"""A number for every action, the better the higher, from what is seen."""

Index = Callable[[Sights], Numbers]
"""One number, by which ordered actions are chosen."""


def logistic(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def soft(scores: Chances) -> Chances:
    """Chances in proportion to the exponentials of the scores."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def within(x: np.ndarray, bound: float) -> np.ndarray:
    """Nearly x where it is small; never beyond the bound."""
    return bound * np.tanh(x / bound)


def going_on(states: States) -> Bool[np.ndarray, " batch"]:
    return np.zeros(len(states), dtype=bool)


def count_of(generator: np.random.Generator, least: int, most: int) -> int:
    return int(generator.integers(least, most, endpoint=True))


def either(generator: np.random.Generator, chance: float = 0.5) -> bool:
    return bool(generator.random() < chance)


def sign(generator: np.random.Generator) -> float:
    return 1.0 if either(generator) else -1.0


@dataclass(frozen=True, eq=False)
class Dress:
    """The order and the units in which columns are logged."""

    order: Int[np.ndarray, " sights"]
    factor: Float[np.ndarray, " sights"]
    zero: Float[np.ndarray, " sights"]

    @classmethod
    def drawn(cls, generator: np.random.Generator, columns: int) -> Dress:
        """Shuffled columns in anything from thousandths to thousands, some of them counted from another zero."""
        factor = generator.choice([0.001, 0.1, 1.0, 1.0, 1.8, 10.0, 60.0, 1000.0], columns)
        zero = np.where(generator.random(columns) < 0.5, 0.0, factor * generator.uniform(-10.0, 40.0, columns))
        return cls(generator.permutation(columns), factor, zero)

    def on(self, sights: Sights) -> Sights:
        return sights[:, self.order] * self.factor + self.zero

    def off(self, seen: Sights) -> Sights:
        bare = np.empty_like(seen)
        bare[:, self.order] = (seen - self.zero) / self.factor
        return bare
