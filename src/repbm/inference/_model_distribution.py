"""Beyond the mean, in a fitted model: how returns of single episodes are spread that follow the policy there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv, ndtri, stdtrit

from repbm.core import DistributionRules
from repbm.inference._distribution import ReturnFigure, figures_of, named_figures

_ROUNDING = 1e-9


@dataclass(frozen=True)
class ModelDistribution:
    """How returns are spread under the policy in a model: as good as the model, whatever the log supports.

    No figures, and the `reason`, where the model does not tell. `distance` is the largest gap between the shares of
    returns up to any number, of episodes that were left out and of the same individuals in a model of the others that
    does what is done now (Kolmogorov-Smirnov); `largest_distance` is what chance explains. `refits`: so many models of
    resampled logs are in the intervals, which else are those of as many episodes in the model as are logged, and do not
    say how well the model is known.
    """

    model: str
    """The critic that it stands behind."""
    returns: int = 0
    """So many were drawn."""
    refits: int = 0
    distance: float | None = None
    largest_distance: float | None = None
    figures: tuple[ReturnFigure, ...] = ()
    reason: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> ModelDistribution:
        return cls(**{**stored, "figures": tuple(ReturnFigure(**figure) for figure in stored["figures"])})


def model_figures(
    drawn: Float[np.ndarray, " draws"],
    logged: Float[np.ndarray, " episodes"],
    level: float,
    thresholds: Sequence[float] = (),
    rules: DistributionRules = DistributionRules(),  # noqa: B008 - frozen
    refitted: Float[np.ndarray, "refits draws"] | None = None,
    sign: int = 1,
) -> tuple[ReturnFigure, ...]:
    """Quantiles, the mean of the worst and shares below thresholds of returns that a model drew for logged individuals.

    Intervals are those of as many episodes as are logged, had they followed the policy in the model: chance, and which
    individuals were logged. With returns that models of resampled logs drew for the individuals of these logs, also
    Student's t of the figures over `refitted`; the wider counts.
    """
    # What sums of rounded rewards miss must not count as less.
    asked, thresholds = thresholds, [at - _ROUNDING * max(1.0, abs(at)) for at in thresholds]
    told = figures_of(drawn, np.ones(len(drawn)), thresholds, rules, sign)
    low, high = _sampled_ends(np.sort(drawn), told, len(logged), level, rules, sign)
    if refitted is not None:
        again = np.stack([figures_of(one, np.ones(len(one)), thresholds, rules, sign) for one in refitted])
        reach = stdtrit(len(again) - 1, 0.5 + level / 2) * again.std(axis=0, ddof=1)
        low, high = np.minimum(low, told - reach), np.maximum(high, told + reach)
    shares = slice(len(rules.quantiles) + 1, None)
    low[shares], high[shares] = np.maximum(low[shares], 0.0), np.minimum(high[shares], 1.0)
    now = figures_of(logged, np.ones(len(logged)), thresholds, rules, sign)
    return named_figures(told, list(zip(low.tolist(), high.tolist(), strict=True)), now, asked, rules)


def _sampled_ends(
    values: Float[np.ndarray, " draws"],
    told: Float[np.ndarray, " figures"],
    count: int,
    level: float,
    rules: DistributionRules,
    sign: int,
) -> tuple[Float[np.ndarray, " figures"], Float[np.ndarray, " figures"]]:
    """Ends of the figures of `count` returns drawn from these rising values: exact for quantiles, whose share is that
    of an order statistic; by the influence of single returns for the mean of the worst; Wilson's for shares."""
    tails = np.array([0.5 - level / 2, 0.5 + level / 2])
    ends = []
    for at in rules.quantiles:
        order = min(max(int(np.ceil(at * count - _ROUNDING)), 1), count)
        places = np.ceil(betaincinv(order, count - order + 1, tails) * len(values)).astype(np.int64) - 1
        ends.append(values[places.clip(0, len(values) - 1)])
    z = float(ndtri(tails[1]))
    rising = np.sort(sign * values)
    limit = rising[min(int(rules.worst * len(rising)), len(rising) - 1)]
    error = float((np.minimum(rising - limit, 0.0) / rules.worst).std()) / np.sqrt(count)
    ends.append(told[len(rules.quantiles)] + np.array([-z, z]) * error)
    for share in told[len(rules.quantiles) + 1 :]:
        middle, shrunk = share + z**2 / (2 * count), 1 + z**2 / count
        reach = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
        ends.append(np.array([middle - reach, middle + reach]) / shrunk)
    low, high = np.array(ends).T.copy()
    return np.minimum(low, told), np.maximum(high, told)


def largest_gap(one: Float[np.ndarray, " one"], other: Float[np.ndarray, " other"], alike: float = 0.0) -> float:
    """The Kolmogorov-Smirnov distance of two samples; numbers that differ by at most `alike` count as equal."""
    one, other = np.sort(one), np.sort(other)

    def excess(one: np.ndarray, other: np.ndarray) -> float:
        """How far the share of the one up to some number exceeds that of the other up to a little more."""
        own = np.arange(1, len(one) + 1) / len(one)
        return float((own - np.searchsorted(other, one + alike, side="right") / len(other)).max())

    return max(excess(one, other), excess(other, one), 0.0)
