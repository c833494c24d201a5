"""Beyond the mean: how returns are spread under the policy, by weighting whole episodes and by a model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from repbm.core import DistributionRules, say
from repbm.inference._intervals import Resampling, percentile

_ROUNDING = 1e-12
"""Shares that differ by less are equal."""


@dataclass(frozen=True)
class ReturnFigure:
    """A quantile (`at` its level), the share of returns below `at`, or the mean of the worst share `at`."""

    kind: str
    """quantile, below or worst."""
    at: float
    value: float
    low: float | None
    high: float | None
    logged: float
    """The same of what is done now."""

    @property
    def name(self) -> str:
        if self.kind == "below":
            return say("spread", "below", at=self.at)
        share = f"{100 * self.at:g}%"
        return say("spread", "worst" if self.kind == "worst" else "quantile", share=share)


@dataclass(frozen=True)
class ReturnDistribution:
    """How returns are spread under the policy; no figures, and the `reason`, where the log does not tell."""

    effective_episodes: float | None
    figures: tuple[ReturnFigure, ...] = ()
    reason: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> ReturnDistribution:
        return cls(**{**stored, "figures": tuple(ReturnFigure(**figure) for figure in stored["figures"])})


def return_distribution(
    returns: Float[np.ndarray, " episodes"],
    log_weights: Float[np.ndarray, " episodes"],
    resampling: Resampling,
    level: float,
    thresholds: Sequence[float] = (),
    rules: DistributionRules = DistributionRules(),  # noqa: B008 - frozen
    sign: int = 1,
) -> ReturnDistribution:
    """Quantiles, shares below thresholds and the mean of the worst, with intervals from resampled logs.

    `sign` is -1 where less is better: the worst returns are then the highest. Every episode counts by the product of
    all its ratios, over their sum. Critics do not help: they tell means. The return of an episode that was cut off is
    what it earned until then.
    """
    largest = log_weights.max()
    weights = np.exp(log_weights - largest) if np.isfinite(largest) else np.zeros_like(log_weights)
    effective = float(weights.sum() ** 2 / (weights**2).sum()) if weights.any() else 0.0
    if effective < rules.fewest_effective_episodes:
        few = say("spread", "few", effective=effective, needed=rules.fewest_effective_episodes)
        return ReturnDistribution(effective, reason=few)
    told, now = (figures_of(returns, each, thresholds, rules, sign) for each in (weights, np.ones(len(returns))))
    drawn = resampled_figures(returns, weights, resampling.groups, resampling, thresholds, rules, sign)
    ends = [_ends(draws, level) for draws in drawn]
    return ReturnDistribution(effective, named_figures(told, ends, now, thresholds, rules))


def named_figures(
    told: Float[np.ndarray, " figures"],
    ends: Sequence[tuple[float | None, float | None]],
    logged: Float[np.ndarray, " figures"],
    thresholds: Sequence[float],
    rules: DistributionRules,
) -> tuple[ReturnFigure, ...]:
    """Figures in the order of `figures_of`, with the ends of their intervals."""
    kinds = [("quantile", at) for at in rules.quantiles] + [("worst", rules.worst)]
    kinds += [("below", float(at)) for at in thresholds]
    return tuple(
        ReturnFigure(kind, at, float(one), *between, float(now))
        for (kind, at), one, between, now in zip(kinds, told, ends, logged, strict=True)
    )


def figures_of(
    returns: Float[np.ndarray, " episodes"],
    weights: Float[np.ndarray, " episodes"],
    thresholds: Sequence[float],
    rules: DistributionRules,
    sign: int = 1,
) -> Float[np.ndarray, " figures"]:
    """Quantiles, the mean of the worst, and the shares below thresholds."""
    order = np.argsort(returns, kind="stable")
    shares = [float(weights[returns < at].sum() / weights.sum()) for at in thresholds]
    return np.append(_spread(returns[order], weights[order][None], rules, sign)[:, 0], shares)


def resampled_figures(
    returns: Float[np.ndarray, " episodes"],
    weights: Float[np.ndarray, " episodes"],
    groups: Int[np.ndarray, " episodes"],
    resampling: Resampling,
    thresholds: Sequence[float],
    rules: DistributionRules,
    sign: int = 1,
) -> Float[np.ndarray, "figures draws"]:
    """The same on every resampled log; `groups` are those that episodes are drawn in."""
    order = np.argsort(returns, kind="stable")
    found = _resampled(returns[order], weights[order], groups[order], resampling, rules, sign)
    mass = resampling.counts @ np.bincount(groups, weights, resampling.count)
    below = [resampling.counts @ np.bincount(groups, weights * (returns < at), resampling.count) for at in thresholds]
    shares = [np.divide(part, mass, out=np.full_like(mass, np.nan), where=mass > 0) for part in below]
    return np.stack([*found, *shares])


def _spread(
    values: Float[np.ndarray, " cells"], weights: Float[np.ndarray, "draws cells"], rules: DistributionRules, sign: int
) -> Float[np.ndarray, "figures draws"]:
    """The quantiles and the mean of the worst of rising values, for each row of weights; NaN without any weight."""
    total = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    reached = np.cumsum(shares, axis=1)
    # The smallest value that at least this share does not exceed.
    found = [values[(reached >= level - _ROUNDING).argmax(axis=1)] for level in rules.quantiles]
    # How many do worse than each.
    worse = reached - shares if sign > 0 else 1.0 - reached
    worst = np.clip(rules.worst - worse, 0.0, shares) @ values / rules.worst
    return np.where(total[:, 0] > 0, np.stack([*found, worst]), np.nan)


def _resampled(
    values: Float[np.ndarray, " episodes"],
    weights: Float[np.ndarray, " episodes"],
    groups: np.ndarray,
    resampling: Resampling,
    rules: DistributionRules,
    sign: int,
) -> Float[np.ndarray, "figures draws"]:
    """The figures on every resampled log; many different values are put into cells of equal weight first."""
    kept = weights > 0
    values, weights, groups = values[kept], weights[kept], groups[kept]
    _, cell = np.unique(values, return_inverse=True)
    if cell[-1] >= rules.most_cells:
        place = (np.cumsum(weights) - weights / 2) / weights.sum()
        _, cell = np.unique((place * rules.most_cells).astype(np.int64), return_inverse=True)
    count = int(cell[-1]) + 1
    middles = np.bincount(cell, weights * values, count) / np.bincount(cell, weights, count)
    table = np.bincount(groups * count + cell, weights, resampling.count * count).reshape(resampling.count, count)
    return _spread(middles, resampling.counts @ table, rules, sign)


def _ends(draws: Float[np.ndarray, " draws"], level: float) -> tuple[float | None, float | None]:
    found = percentile(draws, level)
    return found.low, found.high
