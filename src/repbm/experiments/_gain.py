"""What models gain over AM on the same logs: a table made of stored rows alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from repbm.experiments._resampling import interval
from repbm.models import AM

_COLUMNS: dict[str, Any] = {
    "point": pl.String,
    "world": pl.String,
    "behavior": pl.String,
    "noise": pl.Float64,
    "episodes": pl.Int64,
    "epsilon": pl.Float64,
    "fit": pl.String,
    "units": pl.Int64,
    "model": pl.String,
    "runs": pl.Int64,
    "undefined": pl.Int64,
    "rmse_mean": pl.Float64,
    "rmse_individual": pl.Float64,
    "am_rmse_individual": pl.Float64,
    "sampling_rmse": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "ratio": pl.Float64,
    "ratio_low": pl.Float64,
    "ratio_high": pl.Float64,
    "better": pl.Float64,
    "winner": pl.String,
}
SETTINGS = ("world", "behavior", "noise", "episodes", "epsilon", "fit", "units")


def gains(rows: pl.DataFrame, points: tuple[str, ...]) -> pl.DataFrame:
    """One line per point and model other than AM, over the runs in which both are defined.

    Errors are mse_individual without the part that comes from drawing rollouts, whose root is `sampling_rmse`.
    difference = mean error minus AM's, ratio = root of mean error over AM's, both with 95 % intervals by drawing whole
    runs; `better` is the share of runs with the smaller error. The winner is "model" or "am" where the interval of the
    difference leaves out 0, else "open".
    """
    lines = []
    for _, point in rows.group_by("part", maintain_order=True):
        point = point.with_columns(error=pl.col("mse_individual") - pl.col("sampling_error"))
        against = point.filter(pl.col("model") == AM.name).select("run", am=pl.col("error"))
        for _, group in point.filter(pl.col("model") != AM.name).group_by("model", maintain_order=True):
            pairs = group.join(against, on="run", how="left").sort("run")
            both = pairs.drop_nulls(["error", "am"])
            lines.append(
                {"point": points[group["part"][0]], "runs": len(pairs), "undefined": len(pairs) - len(both)}
                | group.select(*SETTINGS, "model").row(0, named=True)
                | _compared(both)
            )
    return pl.DataFrame(lines, schema=_COLUMNS)


def _compared(both: pl.DataFrame) -> dict[str, Any]:
    if not len(both):
        return {"winner": "open"}
    squares = both.select("error", "am").to_numpy()
    own, other = squares.mean(axis=0)
    difference = interval(squares, lambda means: means[:, 0] - means[:, 1])
    ratio = interval(squares, lambda means: _ratio(means[:, 0], means[:, 1]))
    return {
        "rmse_mean": float(np.sqrt((both["error_mean"].to_numpy() ** 2).mean())),
        "rmse_individual": float(np.sqrt(max(own, 0.0))),
        "am_rmse_individual": float(np.sqrt(max(other, 0.0))),
        "sampling_rmse": float(np.sqrt(both["sampling_error"].to_numpy().mean())),
        "difference": float(own - other),
        **dict(zip(("difference_low", "difference_high"), difference, strict=True)),
        "ratio": float(np.sqrt(own / other)) if min(own, other) > 0 else None,
        **dict(zip(("ratio_low", "ratio_high"), ratio, strict=True)),
        "better": float((squares[:, 0] < squares[:, 1]).mean()),
        "winner": _winner(*difference),
    }


def _ratio(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    both = (own > 0) & (other > 0)
    return np.sqrt(np.divide(own, other, out=np.full_like(own, np.nan), where=both))


def _winner(low: float | None, high: float | None) -> str:
    if low is None or high is None or low <= 0 <= high:
        return "open"
    return "model" if high < 0 else "am"
