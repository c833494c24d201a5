"""The table of an experiment: a function of its stored rows and of the published figures alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from repbm.experiments._resampling import interval

FACTOR = 1.5
"""Figures that differ by no more than this factor agree."""

_SCHEMA: dict[str, Any] = {
    "estimator": pl.String,
    "runs": pl.Int64,
    "undefined": pl.Int64,
    **{
        f"{kind}_{metric}{end}": pl.Boolean if kind == "agrees" else pl.Float64
        for metric in ("mean", "individual")
        for kind, end in (("rmse", ""), ("rmse", "_low"), ("rmse", "_high"), ("published", ""), ("agrees", ""))
    },
}


def table(rows: pl.DataFrame, published: pl.DataFrame, relative: bool = False) -> pl.DataFrame:
    """One line per estimator, in the order of the rows.

    rmse_mean = sqrt(mean error_mean^2) and rmse_individual = sqrt(mean mse_individual) over the runs where they are
    defined, each with a 95 % bootstrap interval over runs (null for fewer than 2); what the paper has; and whether the
    two agree: published within the interval, or within a factor of 1.5. `undefined` counts the runs without a value.
    `relative` errors are those of a run divided by the size of its true mean value; the published ones are then, too.
    """
    if relative:
        size = pl.col("truth").abs()
        rows = rows.with_columns(pl.col("error_mean") / size, pl.col("mse_individual") / size**2)
    known = {row["estimator"]: row for row in published.iter_rows(named=True)}
    lines = []
    for (name,), group in rows.group_by("estimator", maintain_order=True):
        group = group.sort("run")
        line = {"estimator": name, "runs": len(group), "undefined": group["value"].null_count()}
        for metric, squares in (("mean", group["error_mean"] ** 2), ("individual", group["mse_individual"])):
            paper = known.get(str(name), {}).get(f"rmse_{metric}")
            line |= _columns(metric, squares.drop_nulls().to_numpy(), paper)
        lines.append(line)
    return pl.DataFrame(lines, schema=_SCHEMA)


def _columns(metric: str, squares: np.ndarray, paper: float | None) -> dict[str, Any]:
    rmse = float(np.sqrt(squares.mean())) if len(squares) else None
    low, high = interval(squares[:, None], lambda means: np.sqrt(means[:, 0]))
    return {
        f"rmse_{metric}": rmse,
        f"rmse_{metric}_low": low,
        f"rmse_{metric}_high": high,
        f"published_{metric}": paper,
        f"agrees_{metric}": None if rmse is None or paper is None else agrees(paper, rmse, low, high),
    }


def agrees(paper: float, rmse: float, low: float | None, high: float | None) -> bool:
    """Whether a published figure lies in the interval, or within the factor."""
    inside = low is not None and high is not None and low <= paper <= high
    return inside or rmse / FACTOR <= paper <= rmse * FACTOR
