"""Ridge regressions on sets of features, compared on held-out episodes: everything from sums over the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import get_lapack_funcs

_FACTORED, _SOLVED = get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)
"""LAPACK itself: there are thousands of small systems, and what usually stands around it takes longer than it does."""
_TINY = 1e-10
"""A penalty that serves coefficients which nothing determines."""
_NONE = (0.0,)
"""The penalties of the constant alone."""
SELDOM = 1.5
"""Candidates are compared again with so many times as many steps left: what is best hardly changes between."""


@dataclass(frozen=True, eq=False)
class RidgeChoice:
    """Least squares of one action on several sets of features, each with several penalties.

    `gram` holds sum x x' of every fold of the episodes; the first feature is the constant, which is not penalized.
    A penalty is a share of the variance of each feature, so that units do not matter.
    """

    gram: Float[np.ndarray, "folds features features"]
    sets: tuple[Int[np.ndarray, " _"], ...]
    penalties: tuple[float, ...]
    _systems: dict[tuple[int, int], _System] = field(default_factory=dict)

    @property
    def candidates(self) -> list[tuple[int, float]]:
        """Sets by their number, with a penalty; nothing else than the constant needs none."""
        return [(s, p) for s, chosen in enumerate(self.sets) for p in (self.penalties if len(chosen) > 1 else _NONE)]

    def best(self, moments: Float[np.ndarray, "folds features"]) -> tuple[int, float]:
        """The candidate of the least squared error on every fold by a fit to the others, for targets y with sum x y.

        The error is sum (y - x'c)^2 = sum y^2 - 2 c' sum x y + c' (sum x x') c; the first term is common to all.
        """
        candidates = self.candidates
        if len(candidates) == 1:
            return candidates[0]
        whole = moments.sum(axis=0)
        errors = np.zeros(len(candidates))
        for k, (gram, own) in enumerate(zip(self.gram, moments, strict=True)):
            rest, place = whole - own, 0
            for number, chosen in enumerate(self.sets):
                inner, seen = _among(gram, chosen), own[chosen]
                scale, factors = self._factored(number, k, self.penalties if len(chosen) > 1 else _NONE)
                right = rest[chosen] / scale
                for factor in factors:
                    found = _SOLVED(factor, right)[0] / scale
                    errors[place] += found @ inner @ found - 2 * found @ seen
                    place += 1
        return candidates[int(np.argmin(errors))]

    def coefficients(
        self, candidate: tuple[int, float], moments: Float[np.ndarray, "folds features"], without: int = -1
    ) -> Float[np.ndarray, " features"]:
        """Those of a candidate, fitted to all folds but one; 0 for features that it does not have."""
        chosen = self.sets[candidate[0]]
        total = moments.sum(axis=0) - (moments[without] if without >= 0 else 0.0)
        result = np.zeros(self.gram.shape[1])
        scale, (factor,) = self._factored(candidate[0], without, (candidate[1],))
        result[chosen] = _SOLVED(factor, total[chosen] / scale)[0] / scale
        return result

    def _factored(
        self, number: int, without: int, penalties: tuple[float, ...]
    ) -> tuple[Float[np.ndarray, " chosen"], list[Float[np.ndarray, "chosen chosen"]]]:
        """The units of a set of features, and Cholesky factors of its normal equations in these, by penalty.

        Thousands of small systems: all in one place, and each made once.
        """
        if (number, without) not in self._systems:
            chosen = self.sets[number]
            total = _among(self._totals[without], chosen)
            diagonal = total.diagonal()
            scale = np.sqrt(np.maximum(diagonal, 1e-8 * diagonal.max() + np.finfo(float).tiny))
            spread = np.maximum(diagonal - total[0] ** 2 / max(total[0, 0], 1.0), 0.0)
            spread[0] = 0.0
            matrix = np.asfortranarray(total / np.outer(scale, scale))
            self._systems[number, without] = _System(matrix, diagonal, scale, spread, {})
        matrix, diagonal, scale, spread, known = self._systems[number, without]
        for penalty in penalties:
            if penalty not in known:
                raised = (diagonal + penalty * spread) / (scale * scale) + _TINY
                for more in (0.0, 1e-6):
                    system = matrix.copy(order="F")
                    np.fill_diagonal(system, raised + more)
                    factor, fault = _FACTORED(system, clean=False, overwrite_a=True)
                    if not fault:
                        known[penalty] = factor
                        break
                else:
                    raise np.linalg.LinAlgError("the normal equations have no Cholesky factor")
        return scale, [known[penalty] for penalty in penalties]

    @cached_property
    def _totals(self) -> list[Float[np.ndarray, "features features"]]:
        """sum x x' without each of the folds; the last is that of all."""
        total = self.gram.sum(axis=0)
        return [*(total - own for own in self.gram), total]


def _among(
    gram: Float[np.ndarray, "features features"], chosen: Int[np.ndarray, " chosen"]
) -> Float[np.ndarray, "chosen chosen"]:
    """The products of these features; mostly they are the first ones, which are copied in a twentieth of the time."""
    count = len(chosen)
    first = bool((chosen == np.arange(count)).all())
    return gram[:count, :count].copy() if first else gram[np.ix_(chosen, chosen)]


def grams(
    x: Float[np.ndarray, "rows features"], folds: Int[np.ndarray, " rows"], count: int
) -> Float[np.ndarray, "folds features features"]:
    """sum x x' of every fold."""
    return np.stack([x[folds == k].T @ x[folds == k] for k in range(count)])


def moments(
    x: Float[np.ndarray, "rows features"], y: Float[np.ndarray, " rows"], folds: Int[np.ndarray, " rows"], count: int
) -> Float[np.ndarray, "folds features"]:
    """sum x y of every fold."""
    return np.stack([y[folds == k] @ x[folds == k] for k in range(count)])


@dataclass(frozen=True, eq=False)
class FoldRegression:
    """Ridge regressions on x, the constant first, each fitted to all folds of the rows but one."""

    x: Float[np.ndarray, "rows features"]
    folds: Int[np.ndarray, " rows"]
    penalties: tuple[float, ...]

    @cached_property
    def _choice(self) -> RidgeChoice:
        gram = grams(self.x, self.folds, int(self.folds.max()) + 1)
        return RidgeChoice(gram, (np.arange(self.x.shape[1]),), self.penalties)

    def told(self, y: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " rows"]:
        """y as it is predicted by what the other folds teach, with the best penalty."""
        count = len(self._choice.gram)
        sums = moments(self.x, y, self.folds, count)
        best = self._choice.best(sums)
        every = np.stack([self._choice.coefficients(best, sums, k) for k in range(count)])
        return np.einsum("kf,kf->k", self.x, every[self.folds])


class _System(NamedTuple):
    """The normal equations of a set of features, in units of these, and their Cholesky factors by penalty."""

    matrix: np.ndarray
    diagonal: np.ndarray
    """Of sum x x' itself."""
    scale: np.ndarray
    spread: np.ndarray
    """The variance of each feature, times the rows."""
    factors: dict[float, np.ndarray]
