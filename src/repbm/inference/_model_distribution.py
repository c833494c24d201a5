"""Beyond the mean, in a fitted model: how returns of single episodes are spread that follow the policy there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtrit

from repbm.core import DistributionRules
from repbm.inference._distribution import ReturnFigure, figures_of, named_figures, resampled_figures
from repbm.inference._intervals import Resampling, percentile

_ROUNDING = 1e-9
_MOST_CELLS = 500
"""Drawn returns all differ; so many cells are enough for intervals, and quick."""


@dataclass(frozen=True)
class ModelDistribution:
    """How returns are spread under the policy in a model: as good as the model, whatever the log supports.

    No figures, and the `reason`, where the model does not tell. `distance` is the largest gap between the shares of
    returns up to any number, of episodes that were left out and of the same individuals in a model of the others that
    does what is done now (Kolmogorov-Smirnov); `largest_distance` is what chance explains. `refits`: so many models of
    resampled logs are in the intervals, which else hold which individuals were logged, not how well the model is known.
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
    drawn: Float[np.ndarray, "rollouts individuals"],
    individuals: Int[np.ndarray, " individuals"],
    logged: Float[np.ndarray, " episodes"],
    resampling: Resampling,
    level: float,
    thresholds: Sequence[float] = (),
    rules: DistributionRules = DistributionRules(),  # noqa: B008 - frozen
    refitted: Float[np.ndarray, "refits draws"] | None = None,
) -> tuple[ReturnFigure, ...]:
    """Quantiles, the mean of the worst and shares below thresholds of returns that a model drew for some individuals.

    Intervals come from resampled individuals; or, with returns that models of resampled logs drew for the individuals
    of these logs, as Student's t of the figures over `refitted`.
    """
    returns, every = drawn.reshape(-1), np.ones(drawn.size)
    rules = replace(rules, most_cells=min(rules.most_cells, _MOST_CELLS))
    # What sums of rounded rewards miss must not count as less.
    asked, thresholds = thresholds, [at - _ROUNDING * max(1.0, abs(at)) for at in thresholds]
    told = figures_of(returns, every, thresholds, rules)
    if refitted is not None:
        again = np.stack([figures_of(one, np.ones(len(one)), thresholds, rules) for one in refitted])
        reach = stdtrit(len(again) - 1, 0.5 + level / 2) * again.std(axis=0, ddof=1)
        shares = np.arange(len(told)) >= len(told) - len(thresholds)
        low, high = (np.where(shares, np.clip(told + side * reach, 0.0, 1.0), told + side * reach) for side in (-1, 1))
        ends = [(float(one), float(other)) for one, other in zip(low, high, strict=True)]
    else:
        groups = np.tile(resampling.groups[individuals], len(drawn))
        found = resampled_figures(returns, every, groups, resampling, thresholds, rules)
        ends = [(between.low, between.high) for between in (percentile(draws, level) for draws in found)]
    now = figures_of(logged, np.ones(len(logged)), thresholds, rules)
    return named_figures(told, ends, now, asked, rules)


def largest_gap(one: Float[np.ndarray, " one"], other: Float[np.ndarray, " other"], alike: float = 0.0) -> float:
    """The Kolmogorov-Smirnov distance of two samples; numbers that differ by at most `alike` count as equal."""
    one, other = np.sort(one), np.sort(other)

    def excess(one: np.ndarray, other: np.ndarray) -> float:
        """How far the share of the one up to some number exceeds that of the other up to a little more."""
        own = np.arange(1, len(one) + 1) / len(one)
        return float((own - np.searchsorted(other, one + alike, side="right") / len(other)).max())

    return max(excess(one, other), excess(other, one), 0.0)
