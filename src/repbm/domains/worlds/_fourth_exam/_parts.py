"""What the fourth exam's worlds share: words for arrays, small functions, and the sheet that columns are written on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

State = Float[np.ndarray, "rows parts"]
Shown = Float[np.ndarray, "rows columns"]
"""The parts of a state that are written down, in the units that a world is told in."""

Scores = Float[np.ndarray, "rows actions"]
"""One number an action: its chance, or how well it is thought of."""

Amounts = Float[np.ndarray, " rows"]
Picks = Int[np.ndarray, " rows"]
Events = Bool[np.ndarray, " rows"]
Happening = tuple[State, Amounts, Events]
"""Next states, rewards, and which episodes end."""

Starting = Callable[[int, np.random.Generator], State]
Happens = Callable[[State, Picks, np.random.Generator], Happening]


def expit(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -40.0, 40.0)))


def gibbs(scores: Scores) -> Scores:
    """Chances whose logarithms are the scores but for a constant."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def bounded(x: np.ndarray, limit: float) -> np.ndarray:
    """About x near 0, and never as far out as the limit."""
    return x / np.sqrt(1.0 + (x / limit) ** 2)


def nowhere(rows: np.ndarray) -> Events:
    """No episode ends."""
    return np.zeros(len(rows), dtype=bool)


def flips(chances: np.ndarray, noise: np.random.Generator) -> Bool[np.ndarray, " rows"]:
    """One coin a row, which falls on its head with the row's chance."""
    return noise.random(len(chances)) < chances


def whole(generator: np.random.Generator, least: int, most: int) -> int:
    """A whole number, both ends included."""
    return int(generator.integers(least, most + 1))


def sometimes(generator: np.random.Generator, chance: float = 0.5) -> bool:
    return bool(generator.random() < chance)


def turn(generator: np.random.Generator, chance: float = 0.5) -> float:
    """1, or by some chance -1."""
    return -1.0 if sometimes(generator, chance) else 1.0


@dataclass(frozen=True, eq=False)
class Sheet:
    """How columns are written down: in which order, unit and from which origin. Flags are 0 and 1 on every sheet."""

    order: Int[np.ndarray, " columns"]
    unit: Float[np.ndarray, " columns"]
    origin: Float[np.ndarray, " columns"]

    @classmethod
    def drawn(cls, generator: np.random.Generator, columns: int, plain: Sequence[int] = ()) -> Sheet:
        """Units over four powers of ten, some measured downward, in shuffled order; but plain parts as they are."""
        unit = np.exp(generator.uniform(np.log(0.02), np.log(200.0), columns)) * generator.choice(
            [1, 1, 1, -1], columns
        )
        origin = unit * np.where(generator.random(columns) < 0.4, 0.0, generator.uniform(-20.0, 20.0, columns))
        unit[list(plain)], origin[list(plain)] = 1.0, 0.0
        order = generator.permutation(columns)
        return cls(order, unit[order], origin[order])

    def write(self, shown: Shown) -> Shown:
        return shown[:, self.order] * self.unit + self.origin

    def read(self, written: Shown) -> Shown:
        shown = np.empty_like(written)
        shown[:, self.order] = (written - self.origin) / self.unit
        return shown
