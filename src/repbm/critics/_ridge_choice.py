"""Ridge regressions on sets of features, compared on held-out episodes: everything from sums over the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import get_lapack_funcs

_FACTORED, _SOLVED = get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)
"""LAPACK itself: there are thousands of small systems, and what usually stands around it takes longer than it does."""
_TINY = 1e-10
"""A penalty that serves coefficients which nothing determines."""
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
        return [(s, p) for s, chosen in enumerate(self.sets) for p in (self.penalties if len(chosen) > 1 else (0.0,))]

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
            rest, inner = whole - own, [gram[np.ix_(chosen, chosen)] for chosen in self.sets]
            for c, candidate in enumerate(candidates):
                chosen = self.sets[candidate[0]]
                found = self._solved(candidate, k, rest[chosen])
                errors[c] += found @ inner[candidate[0]] @ found - 2 * found @ own[chosen]
        return candidates[int(np.argmin(errors))]

    def coefficients(
        self, candidate: tuple[int, float], moments: Float[np.ndarray, "folds features"], without: int = -1
    ) -> Float[np.ndarray, " features"]:
        """Those of a candidate, fitted to all folds but one; 0 for features that it does not have."""
        chosen = self.sets[candidate[0]]
        total = moments.sum(axis=0) - (moments[without] if without >= 0 else 0.0)
        result = np.zeros(self.gram.shape[1])
        result[chosen] = self._solved(candidate, without, total[chosen])
        return result

    def _solved(self, candidate: tuple[int, float], without: int, right: np.ndarray) -> np.ndarray:
        system = self._system(candidate[0], without)
        return _SOLVED(system.factor(candidate[1]), right / system.scale)[0] / system.scale

    def _system(self, number: int, without: int) -> _System:
        if (number, without) not in self._systems:
            chosen = self.sets[number]
            self._systems[number, without] = _System.of(self._totals[without][np.ix_(chosen, chosen)])
        return self._systems[number, without]

    @cached_property
    def _totals(self) -> list[Float[np.ndarray, "features features"]]:
        """sum x x' without each of the folds; the last is that of all."""
        total = self.gram.sum(axis=0)
        return [*(total - own for own in self.gram), total]


@dataclass(frozen=True, eq=False)
class _System:
    """The normal equations of a set of features, in units of these, and their Cholesky factors by penalty."""

    matrix: Float[np.ndarray, "features features"]
    scale: Float[np.ndarray, " features"]
    spread: Float[np.ndarray, " features"]
    """The variance of each feature, times the rows."""
    _factors: dict[float, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, total: Float[np.ndarray, "features features"]) -> _System:
        count = max(total[0, 0], 1.0)
        diagonal = total.diagonal()
        scale = np.sqrt(np.maximum(diagonal, 1e-8 * diagonal.max() + np.finfo(float).tiny))
        spread = np.maximum(diagonal - total[0] ** 2 / count, 0.0)
        spread[0] = 0.0
        return cls(total, scale, spread)

    @cached_property
    def _scaled(self) -> Float[np.ndarray, "features features"]:
        return np.asfortranarray(self.matrix / np.outer(self.scale, self.scale))

    def factor(self, penalty: float) -> Float[np.ndarray, "features features"]:
        if penalty not in self._factors:
            diagonal = (self.matrix.diagonal() + penalty * self.spread) / (self.scale * self.scale) + _TINY
            factor, fault = self._factored(diagonal)
            if fault:
                factor, fault = self._factored(diagonal + 1e-6)
            if fault:
                raise np.linalg.LinAlgError("the normal equations have no Cholesky factor")
            self._factors[penalty] = factor
        return self._factors[penalty]

    def _factored(self, diagonal: Float[np.ndarray, " features"]) -> tuple[np.ndarray, int]:
        system = self._scaled.copy(order="F")
        np.fill_diagonal(system, diagonal)
        return _FACTORED(system, clean=False, overwrite_a=True)
