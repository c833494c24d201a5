"""Bounds on the value that need no model: they hold in any world, with the probability asked for."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from repbm.core import stream

_THRESHOLDS = 40
_BEYOND = 10.0
_SHARE = 20


def guaranteed_bounds(
    returns: Float[np.ndarray, " episodes"],
    log_weights: Float[np.ndarray, " episodes"],
    possible: tuple[float, float],
    level: float,
    seed: int = 0,
) -> tuple[float, float]:
    """With probability `level` the value lies between these, if the logged probabilities, and what is possible, are
    right.

    x_i = w_i (R_i - lowest) >= 0 has the mean V - lowest. Cut off at a threshold c the mean only falls, and for what is
    left the empirical Bernstein bound holds (Maurer & Pontil 2009; Thomas, Theocharous & Ghavamzadeh 2015): mean -
    sqrt(2 var log(2 / delta) / n) - 7 c log(2 / delta) / (3 (n - 1)). A twentieth of the episodes chooses c, the others
    tell. The upper bound is the lower one of -R. Both are wide: the price of believing in nothing else.
    """
    lowest, highest = possible
    weights = np.exp(np.minimum(log_weights, np.log(np.finfo(float).max) / 4))
    order = stream(seed, "guaranteed").permutation(len(returns))
    chosen, told = np.split(order, [max(2, len(order) // _SHARE)])
    if len(told) < 2:
        return possible
    delta = (1 - level) / 2

    def above(gains: Float[np.ndarray, " episodes"]) -> float:
        """A lower bound on the mean of these, none of which is negative."""
        known = gains[chosen][gains[chosen] > 0]
        if not len(known):
            return 0.0
        cuts = np.geomspace(known.min(), _BEYOND * known.max(), _THRESHOLDS).tolist()
        best = max(cuts, key=lambda cut: _bound(gains[chosen], cut, delta, len(told)))
        return max(0.0, _bound(gains[told], best, delta, len(told)))

    low = lowest + above(weights * (returns - lowest))
    return low, max(low, highest - above(weights * (highest - returns)))


def _bound(values: Float[np.ndarray, " some"], cut: float, delta: float, count: int) -> float:
    """The bound that `count` episodes like these would give."""
    kept, log = np.minimum(values, cut), float(np.log(2 / delta))
    return float(kept.mean() - np.sqrt(2 * kept.var(ddof=1) * log / count) - 7 * cut * log / (3 * (count - 1)))
