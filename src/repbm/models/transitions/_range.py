"""Observations brought to a common range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.models.transitions._table import TransitionTable


@dataclass(frozen=True, eq=False)
class Range:
    """The box of all logged states: where a model has seen anything.

    Affine changes of the units of an observation change nothing that is computed from positions in the box.
    """

    center: Float[np.ndarray, " dimensions"]
    half_width: Float[np.ndarray, " dimensions"]

    @classmethod
    def of(cls, table: TransitionTable) -> Range:
        low, high = table.states.min(axis=0), table.states.max(axis=0)
        if table.followed.any():
            following = table.next_states[table.followed]
            low, high = np.minimum(low, following.min(axis=0)), np.maximum(high, following.max(axis=0))
        return cls._between(low, high)

    @classmethod
    def over(cls, states: Float[np.ndarray, "steps dimensions"]) -> Range:
        """The box of these states."""
        return cls._between(states.min(axis=0), states.max(axis=0))

    @classmethod
    def _between(cls, low: Float[np.ndarray, " dimensions"], high: Float[np.ndarray, " dimensions"]) -> Range:
        half_width = (high - low) / 2
        return cls((high + low) / 2, np.where(half_width > 0, half_width, 1.0))

    @property
    def low(self) -> Float[np.ndarray, " dimensions"]:
        return self.center - self.half_width

    @property
    def high(self) -> Float[np.ndarray, " dimensions"]:
        return self.center + self.half_width

    def counted(
        self, states: Float[np.ndarray, "steps dimensions"]
    ) -> tuple[Float[np.ndarray, " dimensions"], Float[np.ndarray, " dimensions"]]:
        """The box without the faces of columns of two values, such as 0 and 1: they are codes, which a model treats as
        numbers, so that every other prediction lies beyond one by a little and means nothing by it."""
        low, high = states.min(axis=0), states.max(axis=0)
        codes = ((states == low) | (states == high)).all(axis=0)
        return np.where(codes, -np.inf, self.low), np.where(codes, np.inf, self.high)

    def place(self, states: Float[np.ndarray, "steps dimensions"]) -> Float[np.ndarray, "steps dimensions"]:
        """Positions in the box, -1 to 1 in every dimension."""
        return (states - self.center) / self.half_width
