"""A few rows that stand for all: kernel matrices of low rank."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import solve_triangular

from repbm.models.regression._kernel import matern

_BLOCK = 64
_ALIKE = 1e-3
"""Rows of a block that the others leave so small a share of the variance bring nothing but large coefficients."""


def pivoted_cholesky(
    x: Float[np.ndarray, "rows dimensions"], most: int, enough: float, generator: np.random.Generator
) -> tuple[Int[np.ndarray, " chosen"], Float[np.ndarray, "rows chosen"]]:
    """Rows c to center kernels on, at most `most`, and the factor F = m(x, c) L^-T, where LL' = m(c, c).

    FF' is nearly m(x, x), and F[c] = L. Drawn in proportion to the variance that those before leave unexplained, a
    block at a time, until no row has more than `enough` of it left (Chen, Epperly, Tropp & Webber 2023, "Randomly
    pivoted Cholesky").
    """
    most = min(most, len(x))
    factor, left = np.zeros((len(x), most)), np.ones(len(x))
    chosen: list[int] = []
    while len(chosen) < most and left.max() > enough:
        known = len(chosen)
        size = min(_BLOCK, most - known, int((left > enough).sum()))
        drawn = np.unique(generator.choice(len(x), size, p=left / left.sum()))
        columns = matern(x, x[drawn]) - factor[:, :known] @ factor[drawn, :known].T
        kept, inner = _independent(columns[drawn])
        factor[:, known : known + len(kept)] = solve_triangular(inner, columns[:, kept].T, lower=True).T
        chosen += drawn[kept].tolist()
        left = np.maximum(left - (factor[:, known : len(chosen)] ** 2).sum(axis=1), 0.0)
        left[chosen] = 0.0
    return np.asarray(chosen, dtype=np.int64), factor[:, : len(chosen)]


def _independent(gram: Float[np.ndarray, "size size"]) -> tuple[list[int], np.ndarray]:
    """Rows of a small kernel matrix, the largest first, that are not nearly sums of others; their Cholesky factor."""
    size = len(gram)
    factor, left = np.zeros((size, size)), np.diag(gram).copy()
    kept: list[int] = []
    least = _ALIKE * left.max()
    while len(kept) < size:
        best = int(left.argmax())
        if left[best] <= least:
            break
        known = len(kept)
        factor[:, known] = (gram[:, best] - factor[:, :known] @ factor[best, :known]) / np.sqrt(left[best])
        left -= factor[:, known] ** 2
        left[best] = -np.inf
        kept.append(best)
    return kept, factor[kept][:, : len(kept)]
