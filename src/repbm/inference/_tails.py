"""How heavy the tail of importance weights is: Pareto's k (Vehtari, Simpson, Gelman, Yao & Gabry 2015-2024)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

_FEWEST = 5
_NOTHING = 1e-200
"""Smaller than this share of the largest, weights are as good as 0."""
_PRIOR_WEIGHT, _PRIOR = 10.0, 0.5


def pareto_k(log_weights: Float[np.ndarray, " episodes"]) -> float:
    """k of a generalised Pareto distribution of the largest weights: above 0.7 their mean is not to be trusted.

    The largest min(n / 5, 3 sqrt(n)) are the tail. Infinite where there are too few positive weights to tell, and minus
    infinity where all are equal. Weights that are equal, as in a trial with fixed shares, are spread over the gaps to
    their neighbors first: such a distribution is made for numbers that are all different.
    """
    finite = log_weights[np.isfinite(log_weights)]
    n = len(log_weights)
    size = int(np.ceil(min(0.2 * n, 3 * np.sqrt(n))))
    if size < _FEWEST or len(finite) <= size:
        return float("inf")
    # In units of the largest: weights may be beyond floating point. Rounded: sums of the same ratios are equal.
    ordered = _spread(np.exp(np.round(np.sort(finite) - finite.max(), 9)))[-size - 1 :]
    tail = ordered[1:] - ordered[0]
    tail = tail[tail > 0]
    if len(tail) < _FEWEST:
        return float("-inf")
    return _shape(tail)


def _spread(ordered: Float[np.ndarray, " weights"]) -> Float[np.ndarray, " weights"]:
    """Equal numbers evenly between the middles of the gaps below and above them; others as they are."""
    levels, first, counts = np.unique(ordered, return_index=True, return_counts=True)
    if len(levels) == 1 or len(levels) == len(ordered):
        return ordered
    middles = (levels[1:] + levels[:-1]) / 2
    low = np.concatenate([[levels[0] - (middles[0] - levels[0])], middles])
    high = np.concatenate([middles, [levels[-1] + (levels[-1] - middles[-1])]])
    level = np.repeat(np.arange(len(levels)), counts)
    place = (np.arange(len(ordered)) - first[level] + 0.5) / counts[level]
    tied = (counts > 1) & (levels > _NOTHING)
    return np.where(tied[level], low[level] + place * (high - low)[level], ordered)


def _shape(x: Float[np.ndarray, " tail"]) -> float:
    """The posterior mean of k from exceedances in rising order (Zhang & Stephens 2009), drawn a little towards 0.5.

    The likelihood is a function of b = k / sigma alone: k(b) = mean log(1 - b x), and b is averaged over a grid.
    """
    n = len(x)
    points = 30 + int(np.sqrt(n))
    grid = 1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    grid = grid / (3 * x[int(n / 4 + 0.5) - 1]) + 1 / x[-1]
    k = np.log1p(-grid[:, None] * x).mean(axis=1)
    likelihood = n * (np.log(-grid / k) - k - 1)
    weights = np.exp(likelihood - likelihood.max())
    b = (grid * weights).sum() / weights.sum()
    found = float(np.log1p(-b * x).mean())
    return (n * found + _PRIOR_WEIGHT * _PRIOR) / (n + _PRIOR_WEIGHT)
