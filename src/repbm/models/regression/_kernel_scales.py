"""How far a kernel should reach in every direction: by the likelihood of a part of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_solve
from scipy.optimize import minimize

_ROUNDS = 60
_SETTLED = 1e-5
_START = 3.0
_WIDEST = 300.0
_NARROWEST = 0.05
_LEAST_NOISE = 1e-11
_START_NOISES = (1e-2, 1e-6)

Part = tuple[Float[np.ndarray, "_ _"], Float[np.ndarray, "_ _"]]
"""Positions (rows, dimensions) and what is to be explained there (rows, outputs), in comparable units."""
_MORE_NOISE = (0.0, 1e-9, 1e-7, 1e-5)
"""Rounding alone can make a covariance of equal rows indefinite."""


@dataclass(frozen=True, eq=False)
class KernelScales:
    """A length for every dimension, and the variance of the noise as a share of that of the function.

    `noise_deviation` is the standard deviation of the noise in the output that has most of it.
    """

    lengths: Float[np.ndarray, " dimensions"]
    noise: float
    noise_deviation: float


def likely_scales(parts: Sequence[Part]) -> KernelScales:
    """The lengths l and the noise under which the parts (one an action, alike but independent) are most likely.

    -log p = sum over parts of P log|L| + N/2 sum_k log s_k^2,   C = LL' = m(|x - x'|) + noise I,  x_j = z_j / l_j,
    for P outputs y_k of N rows, each with the variance of its own that suits it best: s_k^2 = y_k' C^-1 y_k / N.
    """
    spread = np.concatenate([positions for positions, _ in parts]).std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    scaled = [(positions / unit, outputs) for positions, outputs in parts]
    # From a start without noise a noisy world can look like noise alone, and the other way round.
    starts = [np.log(np.append(np.full(len(unit), _START), noise)) for noise in _START_NOISES]
    best, _ = min((_descended(scaled, start) for start in starts), key=lambda end: end[1])
    noise = float(np.exp(best[-1]))
    most = max(float(_unlikelihood(best, *part)[2].max()) for part in scaled)
    return KernelScales(unit * np.exp(best[:-1]), noise, float(np.sqrt(noise * most)))


def _descended(parts: Sequence[Part], start: np.ndarray) -> tuple[np.ndarray, float]:
    """The parameters of the least -log p downhill from a start, and its value."""

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        found = [_unlikelihood(parameters, *part) for part in parts]
        return sum(value for value, _, _ in found), np.sum([slope for _, slope, _ in found], axis=0)

    bounds = [(np.log(_NARROWEST), np.log(_WIDEST))] * (len(start) - 1) + [(np.log(_LEAST_NOISE), 0.0)]
    options = {"maxiter": _ROUNDS, "ftol": _SETTLED}
    end = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return end.x, float(end.fun)


def _unlikelihood(
    parameters: np.ndarray, positions: np.ndarray, outputs: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """-log p of one part, its gradient in logarithms of lengths and noise, and the variances s_k^2.

    The gradient is written out. By automatic differentiation, which the tests compare, it is no more exact; with rows
    padded to one shape it takes 1.2 times as long for 256 of them and 15 times for 40, and compiles for 2 seconds,
    where a whole search takes less than one.
    """
    count, several = outputs.shape
    x = positions / np.exp(parameters[:-1])
    noise = np.exp(parameters[-1])
    norms = (x * x).sum(axis=1)
    squares = np.maximum(norms[:, None] + norms - 2 * x @ x.T, 0.0)
    np.fill_diagonal(squares, 0.0)
    s = np.sqrt(5 * squares)
    decay = np.exp(-s)
    covariance = (1 + s + s * s / 3) * decay
    covariance[np.diag_indices(count)] += noise
    factor = _factored(covariance)
    inverse = cho_solve((factor, True), np.eye(count))
    solved = inverse @ outputs
    variances = np.maximum((outputs * solved).sum(axis=0) / count, np.finfo(float).tiny)
    value = several * np.log(np.diag(factor)).sum() + count / 2 * np.log(variances).sum()
    outer = (several * inverse - (solved / variances) @ solved.T) / 2
    # d m / d log l_j = 5/3 (1 + s) exp(-s) (x_j - x'_j)^2, summed against the outer factor without the differences.
    pull = outer * (5 / 3 * (1 + s) * decay)
    slopes = 2 * (pull.sum(axis=1) @ (x * x) - (x * (pull @ x)).sum(axis=0))
    return float(value), np.append(slopes, noise * np.trace(outer)), variances


def _factored(covariance: Float[np.ndarray, "rows rows"]) -> Float[np.ndarray, "rows rows"]:
    """The Cholesky factor L; of rows that are all but equal, with as little more noise as that needs."""
    for more in _MORE_NOISE:
        try:
            return np.linalg.cholesky(covariance + more * np.eye(len(covariance)) if more else covariance)
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the covariance has no Cholesky factor")
