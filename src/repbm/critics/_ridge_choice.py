"""Ridge regressions on sets of features, compared on held-out episodes: everything from sums over the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import cho_factor, cho_solve

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "_factors", {})

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
            for c, candidate in enumerate(candidates):
                chosen = self.sets[candidate[0]]
                found = self._solved(candidate, k, (whole - own)[chosen])
                errors[c] += found @ gram[np.ix_(chosen, chosen)] @ found - 2 * found @ own[chosen]
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
        known: dict[tuple[int, float, int], tuple[np.ndarray, tuple]] = self._factors  # pyright: ignore[reportAttributeAccessIssue]
        key = (*candidate, without)
        if key not in known:
            known[key] = self._factored(candidate, without)
        scale, factor = known[key]
        return cho_solve(factor, right / scale, check_finite=False) / scale

    def _factored(self, candidate: tuple[int, float], without: int) -> tuple[np.ndarray, tuple]:
        chosen = self.sets[candidate[0]]
        total = self.gram.sum(axis=0) - (self.gram[without] if without >= 0 else 0.0)
        total = total[np.ix_(chosen, chosen)]
        count = max(total[0, 0], 1.0)
        diagonal = np.diag(total)
        scale = np.sqrt(np.maximum(diagonal, 1e-8 * diagonal.max() + np.finfo(float).tiny))
        spread = np.maximum(diagonal - total[0] ** 2 / count, 0.0)
        spread[0] = 0.0
        system = total + np.diag(candidate[1] * spread)
        system = system / np.outer(scale, scale) + _TINY * np.eye(len(chosen))
        try:
            return scale, cho_factor(system, check_finite=False)
        except np.linalg.LinAlgError:
            return scale, cho_factor(system + 1e-6 * np.eye(len(chosen)), check_finite=False)
