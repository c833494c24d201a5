"""A polynomial of given terms, fitted from sums over steps: those of parts of a log add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.models.regression._polynomial import Polynomial, feature_blocks
from repbm.models.regression._ridge import Moments


@dataclass(frozen=True, eq=False)
class TermMoments:
    """Moments of the terms of a polynomial, action by action. Every output keeps its own terms."""

    terms: Int[np.ndarray, "terms dimensions"]
    own: tuple[Int[np.ndarray, " _"], ...]
    """The terms of every output."""
    of_actions: Sequence[Moments]

    @classmethod
    def of(
        cls,
        polynomial: Polynomial,
        positions: Float[np.ndarray, "rows dimensions"],
        actions: Int[np.ndarray, " rows"],
        targets: Float[np.ndarray, "rows outputs"],
        weights: Float[np.ndarray, " rows"],
    ) -> TermMoments:
        terms, own = polynomial.terms_of_outputs
        count = len(polynomial.coefficients)
        found = [Moments.zero(len(terms), targets.shape[1]) for _ in range(count)]
        for action, rows, x in feature_blocks(positions, actions, terms, count):
            found[action].add(x, targets[rows], weights[rows])
        return cls(terms, own, found)

    def __add__(self, other: TermMoments) -> TermMoments:
        """Of two parts, with the terms of the same polynomial."""
        added = [one + two for one, two in zip(self.of_actions, other.of_actions, strict=True)]
        return TermMoments(self.terms, self.own, added)

    def polynomial(self) -> Polynomial:
        """argmin sum w (y - x c)^2."""
        result = np.zeros((len(self.of_actions), len(self.terms), len(self.own)))
        for action, total in enumerate(self.of_actions):
            for output, own in enumerate(self.own):
                if len(own):
                    moments = Moments(total.gram[np.ix_(own, own)], total.cross[own, output : output + 1])
                    result[action, own, output] = moments.solutions([len(own)])[0][:, 0]
        return Polynomial.of(result, self.terms)
