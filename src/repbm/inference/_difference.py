"""How much better than what is done now: an estimate minus the mean return of the log itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from repbm.estimators import Estimate
from repbm.inference._intervals import Interval, Resampling, percentile, student
from repbm.inference._refits import Refits


def difference(
    estimate: Estimate,
    own: Interval,
    returns: Float[np.ndarray, " episodes"],
    level: float,
    resampling: Resampling,
    refits: Refits | None = None,
) -> tuple[float | None, Interval]:
    """Value minus mean return, with its own interval where the value has one (`own`).

    Both come from the same episodes, which are resampled together.
    """
    if estimate.value is None:
        return None, Interval(None, None, None)
    value = estimate.value - float(returns.mean())
    if own.low is None or estimate.contributions is None:
        return value, Interval(None, None, None)
    if refits is not None:
        return value, replace(refits, values=refits.values - returns).interval(value, level)
    if estimate.pool is None:
        return value, student(value, estimate.contributions - returns, level, estimate.critic_error)
    return value, percentile(resampling.values(estimate.pool) - resampling.means(returns), level)
