"""How far an error of the behavior's probabilities may carry an importance sampling estimate (appendix A)."""

from __future__ import annotations

import math


def behavior_sensitivity(error: float, horizon: int) -> float:
    """max{ (1 - error)^-H - 1, 1 - (1 + error)^-H }: a bound on |V(mu_hat) - V(mu)| / V(mu) for IS.

    `error` bounds |mu_hat - mu| / mu; rewards must not be negative. Infinite from an error of 1 on.
    """
    if error >= 1:
        return math.inf
    above = -horizon * math.log1p(-error)
    below = -math.expm1(-horizon * math.log1p(error))
    return max(math.expm1(above) if above < 700 else math.inf, below)
