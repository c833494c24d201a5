"""What is said of individuals: what is expected, how far that may be off, and what may come of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri


@dataclass(frozen=True, eq=False)
class OutcomeShape:
    """How far outcomes lie from what was expected, in standard deviations: of some episodes, each with its weight.

    `prior` episodes of normal outcomes are added: without any that followed the policy the shape is normal.
    """

    distances: Float[np.ndarray, " episodes"]
    weights: Float[np.ndarray, " episodes"]
    prior: float

    def ends(self, level: float) -> tuple[float, float]:
        """Between these lie outcomes of the given share of individuals."""
        places = (np.arange(_NORMAL) + 0.5) / _NORMAL
        distances = np.concatenate([self.distances, ndtri(places)])
        weights = np.concatenate([self.weights, np.full(_NORMAL, self.prior / _NORMAL)])
        order = np.argsort(distances, kind="stable")
        reached = np.cumsum(weights[order])
        tails = np.array([(1 - level) / 2, (1 + level) / 2]) * reached[-1]
        low, high = distances[order][np.minimum(np.searchsorted(reached, tails), len(order) - 1)]
        return float(low), float(high)


_NORMAL = 2000


@dataclass(frozen=True, eq=False)
class IndividualValues:
    """Two things that are never to be mixed up: what is *expected* for individuals, and what may *come* of them.

    `values` are expected returns under the policy, `errors` their standard errors: from fitting, and from what the
    fitted form misses. Single outcomes lie around them by `deviations`, in a common `shape`. `logged` is what is
    expected with what is done now; `gain_errors` are the standard errors of `values - logged`.
    """

    values: Float[np.ndarray, " individuals"]
    errors: Float[np.ndarray, " individuals"]
    deviations: Float[np.ndarray, " individuals"]
    shape: OutcomeShape
    logged: Float[np.ndarray, " individuals"]
    gain_errors: Float[np.ndarray, " individuals"]

    def expected(self, level: float) -> tuple[Float[np.ndarray, " individuals"], Float[np.ndarray, " individuals"]]:
        """An interval for each expected return."""
        return _around(self.values, self.errors, level)

    def gains(self, level: float) -> tuple[Float[np.ndarray, " individuals"], Float[np.ndarray, " individuals"]]:
        """An interval for each difference to what is done now."""
        return _around(self.values - self.logged, self.gain_errors, level)

    def outcomes(self, level: float) -> tuple[Float[np.ndarray, " individuals"], Float[np.ndarray, " individuals"]]:
        """An interval for each outcome: wider, as it holds what chance does to one individual."""
        low, high = self.shape.ends(level)
        return self.values + low * self.deviations, self.values + high * self.deviations


def _around(
    middle: Float[np.ndarray, " individuals"], errors: Float[np.ndarray, " individuals"], level: float
) -> tuple[Float[np.ndarray, " individuals"], Float[np.ndarray, " individuals"]]:
    reach = float(ndtri(0.5 + level / 2)) * errors
    return middle - reach, middle + reach
