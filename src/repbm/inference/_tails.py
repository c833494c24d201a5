"""How heavy the tail of importance weights is: Pareto's k (Vehtari, Simpson, Gelman, Yao & Gabry 2015-2024)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

_FEWEST = 5
_PRIOR_WEIGHT, _PRIOR = 10.0, 0.5


def pareto_k(log_weights: Float[np.ndarray, " episodes"]) -> float:
    """k of a generalised Pareto distribution of the largest weights: above 0.7 their mean is not to be trusted.

    The largest min(n / 5, 3 sqrt(n)) are the tail. Infinite where there are too few positive weights to tell.
    """
    finite = log_weights[np.isfinite(log_weights)]
    n = len(log_weights)
    size = int(np.ceil(min(0.2 * n, 3 * np.sqrt(n))))
    if size < _FEWEST or len(finite) <= size:
        return float("inf")
    ordered = np.sort(finite)[-size - 1 :]
    # In units of the largest: weights may be beyond floating point.
    tail = np.exp(ordered[1:] - ordered[-1]) - np.exp(ordered[0] - ordered[-1])
    tail = tail[tail > 0]
    if len(tail) < _FEWEST:
        return float("-inf")
    return _shape(tail)


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
