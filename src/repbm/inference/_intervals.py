"""Confidence intervals of estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtrit

from repbm.core import IntervalRules, middle, resampled_counts, say, stream
from repbm.data import Trajectories
from repbm.estimators import CorrectedSums, Estimate, GroupSums, Pooled

_TABLE_CELLS = 1 << 22

_Pool = Callable[[Int[np.ndarray, " episodes"], int], Pooled]


@dataclass(frozen=True)
class Interval:
    """An interval for the value; bounds and standard error are None where the log does not define them."""

    low: float | None
    high: float | None
    std_error: float | None
    note: str = ""


class Resampling:
    """The resampled logs of a bootstrap, the same ones for every estimate of one log.

    Of a log that was read in parts groups of episodes are drawn as if they were episodes.
    Episodes are drawn with replacement; of a log of many, random groups of episodes, which has the same limit. The
    longest episode bounds how many groups are kept in memory. Groups and draws have random streams of their own: it
    does not matter which is asked for first.
    """

    def __init__(
        self,
        data: Trajectories | GroupSums | CorrectedSums,
        seed: int,
        rules: IntervalRules = IntervalRules(),  # noqa: B008 - frozen
    ) -> None:
        n = len(data)
        self.count = min(n, groups_of(data.longest, rules))
        self._episodes, self.seed, self._draws = n, seed, rules.draws
        self._last: tuple[_Pool, np.ndarray] | None = None

    @cached_property
    def groups(self) -> Int[np.ndarray, " episodes"]:
        """The group of every episode."""
        n = self._episodes
        return np.arange(n) if self.count == n else stream(self.seed, "groups").permutation(n) % self.count

    @cached_property
    def counts(self) -> Float[np.ndarray, "draws groups"]:
        """How often every group is in each resampled log."""
        return resampled_counts(stream(self.seed, "resampling"), self.count, self._draws).astype(np.float64)

    def values(self, pool: _Pool) -> np.ndarray:
        """The estimate on every resampled log; NaN where it is not defined. The last one asked for is kept."""
        if self._last is None or self._last[0] is not pool:
            self._last = pool, pool(self.groups, self.count).values(self.counts)
        return self._last[1]

    def means(self, contributions: Float[np.ndarray, " episodes"]) -> Float[np.ndarray, " draws"]:
        """The mean of these contributions on every resampled log."""
        sums = np.bincount(self.groups, contributions, self.count)
        sizes = np.bincount(self.groups, minlength=self.count)
        return (self.counts @ sums) / (self.counts @ sizes)


def groups_of(longest: int, rules: IntervalRules) -> int:
    """How many groups of episodes are resampled at most."""
    return max(rules.fewest_groups, min(rules.most_groups, _TABLE_CELLS // longest))


def interval(estimate: Estimate, level: float, resampling: Resampling) -> Interval:
    """Student's t over independent contributions; the percentile bootstrap over episodes otherwise."""
    if estimate.value is None or estimate.contributions is None:
        return Interval(None, None, None)
    if len(estimate.contributions) < 2:
        return Interval(None, None, None, say("notes", "interval_one"))
    if estimate.effective_episodes == 0:
        return Interval(None, None, None, say("notes", "interval_weightless"))
    if estimate.model_only:
        return Interval(None, None, None, say("notes", "interval_refits"))
    if estimate.pool is None:
        return student(estimate.value, estimate.contributions, level, estimate.critic_error)
    return percentile(resampling.values(estimate.pool), level)


def standard_error(estimate: Estimate) -> float:
    """That of the mean of independent contributions, and of the critic where the estimate says so."""
    if estimate.contributions is None or len(estimate.contributions) < 2:
        return float("inf")
    own = float(estimate.contributions.std(ddof=1) / np.sqrt(len(estimate.contributions)))
    return float(np.hypot(own, estimate.critic_error))


def student(value: float, contributions: np.ndarray, level: float, critic_error: float = 0.0) -> Interval:
    """Student's t over independent contributions; the standard error of a critic behind them is added."""
    n = len(contributions)
    error = float(np.hypot(contributions.std(ddof=1) / np.sqrt(n), critic_error))
    reach = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Interval(value - reach, value + reach, error)


def percentile(values: np.ndarray, level: float) -> Interval:
    """The middle part of the values on resampled logs."""
    defined = np.isfinite(values)
    share = 1 - defined.mean()
    if share > (1 - level) / 2:
        return Interval(None, None, None, say("notes", "interval_resampled", share=share))
    return Interval(*middle(values[defined], level), float(values[defined].std(ddof=1)))
