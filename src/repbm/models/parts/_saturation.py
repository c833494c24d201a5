"""Saturation: values at which the world stops a state, found in the log as point masses."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from repbm.core import FitRules
from repbm.models.parts._part import Part, static
from repbm.models.transitions._arrays import AnyArray, module_of
from repbm.models.transitions._table import TransitionTable


class Saturation(Part):
    """A predicted component beyond `low` or `high` becomes that value; others may then be set to values of their own.

    `reset_low[j, k]` is what component k becomes when component j is stopped at its low value; NaN leaves it alone.
    """

    low: Float[AnyArray, " dimensions"]
    high: Float[AnyArray, " dimensions"]
    reset_low: Float[AnyArray, "dimensions dimensions"]
    reset_high: Float[AnyArray, "dimensions dimensions"]
    dimensions: tuple[int, ...] = static()
    """The components that are stopped at all."""

    def __call__(self, states: Float[AnyArray, "*batch dimensions"]) -> Float[AnyArray, "*batch dimensions"]:
        numpy = module_of(states)
        result = numpy.clip(states, self.low, self.high)
        for j in self.dimensions:
            for hit, reset in (
                (states[..., j] <= self.low[j], self.reset_low[j]),
                (states[..., j] >= self.high[j], self.reset_high[j]),
            ):
                result = numpy.where(hit[..., None] & ~numpy.isnan(reset), reset, result)
        return result

    def decides(self, next_states: Float[np.ndarray, "steps dimensions"]) -> Bool[np.ndarray, " steps"]:
        """Which of these next states a stop has decided, at least in part."""
        return ((next_states == self.low) | (next_states == self.high)).any(axis=1)


def find_saturation(table: TransitionTable, rules: FitRules) -> tuple[Saturation, Bool[np.ndarray, "steps dimensions"]]:
    """The saturation of a log, and which components of which next states it decides (they tell a smooth model nothing).

    A component counts as stopped at its extreme value if the log shows many different values of it and this one, to the
    last digit, again and again.
    """
    size = table.states.shape[1]
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    reset = {-1: np.full((size, size), np.nan), 1: np.full((size, size), np.nan)}
    decided = np.zeros(table.next_states.shape, dtype=bool)
    stopped: list[int] = []
    if not table.followed.any():
        return Saturation(low, high, reset[-1], reset[1], ()), decided
    following = table.next_states[table.followed]
    for j in range(size):
        column = following[:, j]
        if len(np.unique(column[: 100 * rules.saturation_values])) < rules.saturation_values:
            continue
        for side, value, bounds in ((-1, column.min(), low), (1, column.max(), high)):
            hits = column == value
            # A state that simply stays where it was is no evidence of a stop.
            moved = hits & (table.states[table.followed, j] != value)
            if moved.sum() < rules.saturation_hits or hits.mean() > rules.largest_saturation_share:
                continue
            bounds[j] = value
            stopped.append(j)
            constant = following[hits].min(axis=0) == following[hits].max(axis=0)
            constant[j] = False
            reset[side][j, constant] = following[hits][0, constant]
            decided[np.flatnonzero(table.followed)[hits], j] = True
            decided[np.ix_(np.flatnonzero(table.followed)[hits], np.flatnonzero(constant))] = True
    return Saturation(low, high, reset[-1], reset[1], tuple(dict.fromkeys(stopped))), decided
