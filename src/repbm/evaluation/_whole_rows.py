"""Rows of the table of estimates that rest on all episodes of a log that was read in parts."""

from __future__ import annotations

from typing import Any

from repbm.estimators import CorrectedSums, Estimate, EstimatorSpec, GroupSums
from repbm.evaluation._rows import clipped, finite_interval, row_of, within
from repbm.inference import Resampling, difference, interval


def weighed_row(
    policy: str, spec: EstimatorSpec, sums: GroupSums, estimate: Estimate, resampling: Resampling, level: float
) -> dict[str, Any]:
    """Of importance sampling; its note is that of the interval."""
    returns = sums.mean_returns
    bounds = finite_interval(interval(estimate, level, resampling))
    gain, gain_bounds = difference(estimate, bounds, returns, level, resampling)
    return row_of(policy, spec, estimate, bounds, gain, finite_interval(gain_bounds)) | {
        "level": level,
        "logged_mean": float(returns.mean()),
        "episodes": sums.episodes,
        "note": bounds.note,
    }


def corrected_row(
    policy: str,
    spec: EstimatorSpec,
    sums: CorrectedSums,
    estimate: Estimate,
    resampling: Resampling,
    level: float,
    possible: tuple[float, float],
) -> dict[str, Any]:
    """Of a corrected value, within what rewards allow; its note is that of the interval."""
    earned = sums.mean_earned
    logged = float(earned.mean())
    bounds = within(finite_interval(interval(estimate, level, resampling)), possible)
    gain, gain_bounds = difference(estimate, bounds, earned, level, resampling)
    gain_bounds = within(finite_interval(gain_bounds), (possible[0] - logged, possible[1] - logged))
    value = clipped(estimate.value, possible)
    if value is not None and value != estimate.value:
        gain = value - logged
    return row_of(policy, spec, estimate, bounds, gain, gain_bounds) | {
        "value": value,
        "logged_mean": logged,
        "episodes": sums.episodes,
        "note": bounds.note,
    }
