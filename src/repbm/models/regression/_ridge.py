"""Weighted least squares in closed form, from moments; nested models at the cost of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import solve_triangular

_TINY = 1e-13


@dataclass(frozen=True, eq=False)
class Moments:
    """x'Wx and x'Wy of a regression of several outputs on features; moments of parts of the data add up."""

    gram: Float[np.ndarray, "features features"]
    cross: Float[np.ndarray, "features outputs"]

    @classmethod
    def zero(cls, features: int, outputs: int) -> Moments:
        return cls(np.zeros((features, features)), np.zeros((features, outputs)))

    def add(self, x: Float[np.ndarray, "rows features"], y: Float[np.ndarray, "rows outputs"], w: np.ndarray) -> None:
        """Add rows, in place."""
        root = np.sqrt(w)[:, None]
        # A matrix times its own transpose takes half the time of a product of two.
        weighted = x * root
        self.gram[...] += weighted.T @ weighted
        self.cross[...] += weighted.T @ (y * root)

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.gram + other.gram, self.cross + other.cross)

    def times(self, factor: float) -> Moments:
        return Moments(factor * self.gram, factor * self.cross)

    def solutions(self, sizes: list[int]) -> list[Float[np.ndarray, "features outputs"]]:
        """Coefficients with the first `size` features only, for every size; the others are 0.

        argmin_c sum w (y - x c)^2 + a tiny multiple of |c|^2. One Cholesky factor serves all sizes: that of a leading
        block of a matrix is the leading block of its factor. The penalty grows until there is a factor.
        """
        diagonal = np.sqrt(np.maximum(np.diag(self.gram), np.finfo(float).tiny))
        scaled = self.gram / np.outer(diagonal, diagonal)
        penalty = _TINY
        while True:
            try:
                factor = np.linalg.cholesky(scaled + penalty * np.eye(len(scaled)))
                break
            except np.linalg.LinAlgError:
                penalty *= 10
        half = solve_triangular(factor, self.cross / diagonal[:, None], lower=True)
        result = []
        for size in sizes:
            found = np.zeros_like(self.cross)
            found[:size] = solve_triangular(factor[:size, :size].T, half[:size], lower=False)
            result.append(found / diagonal[:, None])
        return result
