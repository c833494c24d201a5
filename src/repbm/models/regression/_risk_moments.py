"""A polynomial of given terms, fitted anew for any strength of one of two risks, and without any fold: from sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.models.regression._polynomial import Polynomial, feature_blocks
from repbm.models.regression._ridge import Moments
from repbm.models.regression._term_moments import TermMoments

_ByFold = list[list[Moments]]
"""Of every fold, and in it of every action."""


@dataclass(frozen=True, eq=False)
class RiskMoments:
    """Moments of the terms of a polynomial under the log and under the policy, fold by fold and action by action.

    Both risks are sums over steps, so that behavior + strength * target, without a fold or with all, is a sum of these:
    the rows are gone through once. Every output keeps its own terms.
    """

    terms: Int[np.ndarray, "terms dimensions"]
    own: tuple[Int[np.ndarray, " _"], ...]
    """The terms of every output."""
    behavior: _ByFold
    target: _ByFold

    @classmethod
    def of(
        cls,
        polynomial: Polynomial,
        positions: Float[np.ndarray, "rows dimensions"],
        actions: Int[np.ndarray, " rows"],
        targets: Float[np.ndarray, "rows outputs"],
        weights: Float[np.ndarray, " rows"],
        marginal: Float[np.ndarray, " rows"],
        folds: Int[np.ndarray, " rows"],
        fold_count: int,
    ) -> RiskMoments:
        """`weights` count in both risks, times `marginal` in that under the policy."""
        terms, own = polynomial.terms_of_outputs
        count = len(polynomial.coefficients)
        sums = [
            [[Moments.zero(len(terms), targets.shape[1]) for _ in range(count)] for _ in range(fold_count)]
            for _ in range(2)
        ]
        for action, rows, x in feature_blocks(positions, actions, terms, count):
            for k in range(fold_count):
                here = np.flatnonzero(folds[rows] == k)
                kept = rows[here]
                for each, w in zip(sums, (weights[kept], weights[kept] * marginal[kept]), strict=True):
                    each[k][action].add(x[here], targets[kept], w)
        return cls(terms, own, sums[0], sums[1])

    def polynomial(self, strength: float, without: int | None = None) -> Polynomial:
        """argmin of behavior + strength * target, by the rows of all folds but one."""
        kept = [k for k in range(len(self.behavior)) if k != without]
        totals = []
        for action in range(len(self.behavior[0])):
            total = Moments.zero(len(self.terms), len(self.own))
            for k in kept:
                total = total + self.behavior[k][action] + self.target[k][action].times(strength)
            totals.append(total)
        return TermMoments(self.terms, self.own, totals).polynomial()
