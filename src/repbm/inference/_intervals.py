"""Confidence intervals of estimates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from repbm.estimators import Estimate

_DRAWS = 1000
_MOST_GROUPS = 1000
_FEWEST_GROUPS = 50
_TABLE_CELLS = 1 << 22


@dataclass(frozen=True)
class Interval:
    """An interval for the value; bounds and standard error are None where the log does not define them."""

    low: float | None
    high: float | None
    std_error: float | None
    note: str = ""


def interval(
    estimate: Estimate, level: float, generator: np.random.Generator, longest: int = 1
) -> Interval:
    """Student's t over independent contributions; the percentile bootstrap over episodes otherwise.

    The bootstrap of a log of many episodes resamples random groups of them, which has the same limit; `longest`
    (the longest episode) bounds how many groups are kept in memory.
    """
    if estimate.value is None or estimate.contributions is None:
        return Interval(None, None, None)
    if len(estimate.contributions) < 2:
        return Interval(None, None, None, "no interval: one episode only")
    if estimate.effective_episodes == 0:
        return Interval(None, None, None, "no interval: no episode with weight")
    if estimate.pool is None:
        return _student(estimate.value, estimate.contributions, level)
    return _bootstrap(estimate, level, generator, longest)


def _student(value: float, contributions: np.ndarray, level: float) -> Interval:
    n = len(contributions)
    error = float(contributions.std(ddof=1) / np.sqrt(n))
    reach = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Interval(value - reach, value + reach, error)


def _bootstrap(
    estimate: Estimate, level: float, generator: np.random.Generator, longest: int
) -> Interval:
    assert estimate.pool is not None and estimate.contributions is not None
    n = len(estimate.contributions)
    count = min(n, max(_FEWEST_GROUPS, min(_MOST_GROUPS, _TABLE_CELLS // longest)))
    groups = np.arange(n) if count == n else generator.permutation(n) % count
    counts = generator.multinomial(count, np.full(count, 1 / count), size=_DRAWS)
    values = estimate.pool(groups, count).values(counts)
    defined = np.isfinite(values)
    share = 1 - defined.mean()
    if share > (1 - level) / 2:
        return Interval(
            None, None, None, f"no interval: in {share:.0%} of resampled logs no episode follows the policy"
        )
    low, high = np.quantile(values[defined], [0.5 - level / 2, 0.5 + level / 2])
    return Interval(float(low), float(high), float(values[defined].std(ddof=1)))
