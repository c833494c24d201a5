"""How far the next state, or the reward, scatters, as a function of the state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.models.regression._features import exponents, features

_DEGREE = 2
_ROWS_A_TERM = 10
_ROUNDS = 12
_RIDGE = 1e-3
_EXTREME = 0.01
_SMALLEST, _LARGEST = -8.0, 4.0


@dataclass(frozen=True, eq=False)
class Spread:
    """exp(score / 2) for every component, the score a polynomial of the position, between `least` and `most`."""

    coefficients: Float[np.ndarray, "features outputs"]
    least: Float[np.ndarray, " outputs"]
    most: Float[np.ndarray, " outputs"]
    degree: int

    def __call__(self, positions: Float[np.ndarray, "rows dimensions"]) -> Float[np.ndarray, "rows outputs"]:
        x = features(positions, exponents(positions.shape[1], self.degree), np)
        return np.exp(np.clip(x @ self.coefficients, self.least, self.most) / 2)

    def raised(self, degree: int, dimensions: int) -> Spread:
        """The same with terms of a higher degree, of coefficients 0."""
        size = len(exponents(dimensions, degree))
        coefficients = np.zeros((size, len(self.least)))
        coefficients[: len(self.coefficients)] = self.coefficients
        return Spread(coefficients, self.least, self.most, degree)


def fit_spread(
    positions: Float[np.ndarray, "rows dimensions"], residuals: Float[np.ndarray, "rows outputs"], varies: bool
) -> Spread:
    """The likeliest variances of normal residuals, by Fisher scoring; constants if the spread does not vary.

    Of the logarithm of a variance, the rounds are plain regressions with one and the same matrix.
    """
    dimensions = positions.shape[1]
    squares = residuals**2
    usual = np.log(np.maximum(squares.mean(axis=0), np.finfo(float).tiny))
    degree = _DEGREE if varies else 0
    while degree and _ROWS_A_TERM * len(exponents(dimensions, degree)) > len(positions):
        degree -= 1
    if degree == 0:
        return Spread(usual[None], usual, usual, 0)
    x = features(positions, exponents(dimensions, degree), np)
    gram = x.T @ x
    gram[np.diag_indices(len(gram))] += _RIDGE * len(x)
    # Relative to the usual variance: the ridge draws towards it, and a component without any noise is no trouble.
    ratio = squares / np.exp(usual)
    score, coefficients = np.zeros_like(squares), np.zeros((x.shape[1], residuals.shape[1]))
    for _ in range(_ROUNDS):
        coefficients = np.linalg.solve(gram, x.T @ (score + ratio * np.exp(-score) - 1))
        score = np.clip(x @ coefficients, _SMALLEST, _LARGEST)
    coefficients[0] += usual
    least, most = usual + np.quantile(score, (_EXTREME, 1 - _EXTREME), axis=0)
    return Spread(coefficients, least, most, degree)
