"""Few terms of many: orthogonal forward selection from moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import get_lapack_funcs

from repbm.models.regression._ridge import Moments

_COLLINEAR = 1e-9
(_SOLVED,) = get_lapack_funcs(("trtrs",), dtype=np.float64)
"""LAPACK itself: there are thousands of small systems, and what usually stands around it takes longer than it does."""


@dataclass(frozen=True, eq=False)
class Path:
    """Terms in the order of what they explain, and coefficients of the first t of them for every t.

    `factors[a]` is the Cholesky factor L of the chosen terms' moments, `turned` are L^-1 x'Wy: the first t terms have
    the coefficients L_t^-T turned_t.
    """

    chosen: Int[np.ndarray, " steps"]
    factors: Float[np.ndarray, "actions steps steps"]
    turned: Float[np.ndarray, "actions steps"]

    def coefficients(self, action: int, count: int) -> Float[np.ndarray, " count"]:
        factor = self.factors[action, :count, :count]
        # A term that an action cannot tell from others has nothing on its diagonal, and no coefficient.
        known = factor.diagonal() > 0
        result = np.zeros(count)
        right = self.turned[action, :count]
        if known.all():
            result[:] = _SOLVED(factor.T, right)[0]
        elif known.any():
            result[known] = _SOLVED(factor[np.ix_(known, known)].T, right[known])[0]
        return result

    def predictions(self, action: int, x: Float[np.ndarray, "rows features"]) -> Float[np.ndarray, "rows counts"]:
        """With the first 1, 2, ... terms."""
        size = len(self.chosen)
        every = np.zeros((size, size))
        for t in range(size):
            every[: t + 1, t] = self.coefficients(action, t + 1)
        return x[:, self.chosen] @ every


def forward_path(moments: list[Moments], output: int, most: int) -> Path:
    """The term that explains most of what is left, again and again; one order for all actions, which differ in
    coefficients. The constant goes first."""
    gram = np.stack([each.gram for each in moments])
    left = np.stack([each.cross[:, output] for each in moments])
    diagonal = np.einsum("aff->af", gram).copy()
    least = _COLLINEAR * np.maximum(diagonal, np.finfo(float).tiny)
    actions, size = diagonal.shape
    most = min(most, size)
    rows = np.zeros((actions, most, size))
    turned = np.zeros((actions, most))
    chosen: list[int] = []
    for t in range(most):
        usable = diagonal > least
        gains = np.where(usable, left**2 / np.where(usable, diagonal, 1.0), 0.0).sum(axis=0)
        gains[chosen] = -1.0
        best = 0 if t == 0 else int(gains.argmax())
        if t and gains[best] <= 0:
            break
        fine = usable[:, best]
        root = np.sqrt(np.where(fine, diagonal[:, best], 1.0))
        row = gram[:, best] - np.einsum("atf,at->af", rows[:, :t], rows[:, :t, best])
        row = np.where(fine[:, None], row / root[:, None], 0.0)
        turned[:, t] = np.where(fine, left[:, best] / root, 0.0)
        rows[:, t] = row
        diagonal = diagonal - row**2
        left = left - row * turned[:, t, None]
        chosen.append(best)
    order = np.asarray(chosen, dtype=np.int64)
    return Path(order, rows[:, : len(order)][:, :, order].swapaxes(1, 2), turned[:, : len(order)])
