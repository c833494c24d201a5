"""Intervals of estimates that rest on a fitted critic: fit it again to resampled episodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtrit

from repbm.inference._intervals import Interval


@dataclass(frozen=True, eq=False)
class Refits:
    """Values of the same initial states by critics fitted to resampled logs, and how often each log held each episode.

    They vary as the critic does with its log, and as the mean does with the initial states. That the kind of critic may
    be wrong for this world is not in them.
    """

    values: Float[np.ndarray, "refits episodes"]
    counts: Int[np.ndarray, "refits episodes"]
    returns: Float[np.ndarray, "refits draws"] | None = None
    """What single episodes earn that the refitted models drew for the individuals of their own logs."""

    def interval(self, value: float, level: float) -> Interval:
        """value +- t * (standard deviation over refits of the mean over their own initial states)."""
        error = float(self.means.std(ddof=1))
        reach = self._quantile(level) * error
        return Interval(value - reach, value + reach, error)

    @property
    def means(self) -> Float[np.ndarray, " refits"]:
        """The mean value over the initial states of every resampled log."""
        return (self.values * self.counts).sum(axis=1) / self.counts.sum(axis=1)

    def individual_reach(self, level: float) -> Float[np.ndarray, " episodes"]:
        """Half the length of everyone's own interval."""
        return self._quantile(level) * self.values.std(axis=0, ddof=1)

    def _quantile(self, level: float) -> float:
        return float(stdtrit(len(self.values) - 1, 0.5 + level / 2))
