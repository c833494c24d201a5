"""Rows about individuals: what is expected for them, what may come of them, and what they gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from repbm.estimators import IndividualValues
from repbm.evaluation._columns import INDIVIDUALS

_TOLD = ("value", "low", "high", "outcome_low", "outcome_high", "difference", "difference_low", "difference_high")


def individual_rows(
    policy: str, estimator: str, labels: list[str], source: str, known: Mapping[str, np.ndarray]
) -> pl.DataFrame:
    """One row an individual, with the columns that are known."""
    same = {"policy": policy, "estimator": estimator, "source": source}
    columns = {key: known.get(key, [same.get(key)] * len(labels)) for key in INDIVIDUALS} | {"episode": labels}
    return pl.DataFrame(columns, schema=INDIVIDUALS)


def told_of(found: IndividualValues, possible: tuple[float, float], level: float) -> dict[str, np.ndarray]:
    """The columns that tell of values with intervals; within what rewards allow."""
    found = replace(found, values=np.clip(found.values, *possible), logged=np.clip(found.logged, *possible))
    ends = {"": found.expected(level), "outcome_": found.outcomes(level)}
    known = {"value": found.values, "logged_value": found.logged}
    for prefix, (low, high) in ends.items():
        known |= {f"{prefix}low": low, f"{prefix}high": high}
    known = {key: np.clip(numbers, *possible) for key, numbers in known.items()}
    reach = possible[1] - possible[0]
    low, high = (np.clip(ends, -reach, reach) for ends in found.gains(level))
    return known | {
        "difference": known["value"] - known["logged_value"],
        "difference_low": low,
        "difference_high": high,
    }


def refused_rows(rows: pl.DataFrame, reasons: Sequence[str | None]) -> pl.DataFrame:
    """Take back what cannot be told of individuals, and say why."""
    column = pl.Series("refused", reasons, pl.String)
    told = [pl.when(column.is_null()).then(pl.col(name)).alias(name) for name in _TOLD]
    return rows.with_columns(*told, refused=column)
