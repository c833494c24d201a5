"""Intervals over runs: percentiles of a statistic on runs drawn with replacement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from repbm.core import middle, resampled_counts, stream

LEVEL = 0.95
_DRAWS = 2000


def interval(
    rows: Float[np.ndarray, "runs columns"],
    statistic: Callable[[Float[np.ndarray, "draws columns"]], Float[np.ndarray, " draws"]],
) -> tuple[float | None, float | None]:
    """A 95 % interval for a statistic of the means of the columns over runs; none for fewer than 2 runs.

    The same draws for every table of as many runs. None either where the statistic is undefined or without bound for
    more draws than an interval leaves out at an end.
    """
    n = len(rows)
    if n < 2:
        return None, None
    shares = resampled_counts(stream(0, "bootstrap"), n, _DRAWS) / n
    with np.errstate(invalid="ignore"):
        found = statistic(shares @ rows)
    defined = np.isfinite(found)
    if 1 - defined.mean() > (1 - LEVEL) / 2:
        return None, None
    return middle(found[defined], LEVEL)


def mean_interval(values: Float[np.ndarray, " runs"]) -> tuple[float | None, float | None]:
    """That of the mean itself."""
    return interval(values[:, None], lambda means: means[:, 0])
