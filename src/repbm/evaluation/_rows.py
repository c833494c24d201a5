"""A row of the table of estimates, and what may stand in it: finite numbers that rewards allow."""

from __future__ import annotations

from typing import Any

import numpy as np

from repbm.core import say
from repbm.estimators import Estimate, EstimatorSpec
from repbm.inference import Interval

_NOTHING = 1e-3
"""Individual values that differ by a smaller share of how much returns do tell nothing about individuals."""


def row_of(
    policy: str, spec: EstimatorSpec, estimate: Estimate, bounds: Interval, gain: float | None, gain_bounds: Interval
) -> dict[str, Any]:
    """What a row says of an estimate, whatever it rests on."""
    return {
        "policy": policy,
        "estimator": spec.name,
        "role": spec.role.value,
        "family": spec.family,
        "softened": spec.softened,
        "headline": False,
        "value": estimate.value,
        "low": bounds.low,
        "high": bounds.high,
        "std_error": bounds.std_error,
        "difference": gain,
        "difference_low": gain_bounds.low,
        "difference_high": gain_bounds.high,
        "effective_episodes": estimate.effective_episodes,
        "disagreeing": "",
    }


def finite_estimate(estimate: Estimate) -> Estimate:
    """The estimate, or none where numbers of the log are so large that it cannot be computed."""
    if estimate.value is None or np.isfinite(estimate.value):
        return estimate
    return Estimate(None, None, estimate.effective_episodes, say("notes", "sums_overflow"))


def clipped(value: float | None, possible: tuple[float, float]) -> float | None:
    return None if value is None else float(np.clip(value, *possible))


def within(bounds: Interval, possible: tuple[float, float]) -> Interval:
    """The part of an interval that rewards allow; all of it where none is."""
    if bounds.low is None or bounds.high is None or bounds.low > possible[1] or bounds.high < possible[0]:
        return bounds
    return Interval(max(bounds.low, possible[0]), min(bounds.high, possible[1]), bounds.std_error, bounds.note)


def uniform(individual: np.ndarray, returns: np.ndarray) -> bool:
    """Whether values of individuals differ by next to nothing, where their returns do."""
    return len(individual) > 1 and float(np.std(individual)) < _NOTHING * float(returns.std())


def finite_interval(bounds: Interval) -> Interval:
    numbers = [number for number in (bounds.low, bounds.high, bounds.std_error) if number is not None]
    if np.isfinite(numbers).all():
        return bounds
    return Interval(None, None, None, say("notes", "interval_overflow"))
