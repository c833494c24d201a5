"""The rows of an experiment: every estimator, and models fitted precisely beside the published ones."""

from __future__ import annotations

from typing import Any

import polars as pl

from repbm.estimators import ESTIMATORS
from repbm.experiments._objectives import alpha_of
from repbm.models import AM, BOTH_RISKS, Objective

SCHEMA: dict[str, Any] = {
    "run": pl.Int64,
    "seed": pl.Int64,
    "estimator": pl.String,
    "value": pl.Float64,
    "truth": pl.Float64,
    "error_mean": pl.Float64,
    "mse_individual": pl.Float64,
    "seconds": pl.Float64,
    "note": pl.String,
}
"""A stored row: `value` is null where it is not defined, `mse_individual` where there are no individual values.
`seconds` are those of the row, with its critic where it is the first to need it."""

PRECISE: dict[str, Objective] = {f"{objective.name}-precise": objective for objective in (BOTH_RISKS, AM)}
"""Models fitted in closed form: not in the paper."""

ROWS = (*ESTIMATORS, *PRECISE)
"""Every row that a spec may ask for, besides models with an alpha of their own: repbm(alpha=0.1)."""


def is_row(name: str) -> bool:
    return name in ROWS or alpha_of(name) is not None


def critic_of(row: str) -> tuple[str, float] | None:
    """The critic that a row uses, and the softening of the policy that it is fitted for; None without a critic."""
    if row in PRECISE or alpha_of(row) is not None:
        return row, 0.0
    spec = ESTIMATORS[row]
    return None if spec.critic is None else (spec.critic, spec.critic_softening)
