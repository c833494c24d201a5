"""Trajectories to a table in our own column names: what `read_log` reads back unchanged."""

from __future__ import annotations

import numpy as np
import polars as pl

from repbm.data import Categorical, Trajectories


def log_frame(data: Trajectories) -> pl.DataFrame:
    """One row a step, and one closing row for every episode whose final observation is known."""
    closed = np.isfinite(data.final_observations).all(axis=1) & (data.observations.shape[1] > 0)
    lengths = data.lengths + closed
    ends = np.cumsum(lengths)
    rows = int(ends[-1])
    is_closing = np.zeros(rows, dtype=bool)
    is_closing[ends[closed] - 1] = True
    at = np.flatnonzero(~is_closing)
    starts = ends - lengths

    columns: dict[str, pl.Series | np.ndarray] = {
        "episode": np.repeat(data.labels_of(), lengths),
        "step": np.arange(rows) - np.repeat(starts, lengths),
    }
    for k, name in enumerate(data.names):
        column = np.empty(rows, dtype=data.observations.dtype)
        column[at] = data.observations[:, k]
        column[is_closing] = data.final_observations[closed, k]
        columns[f"obs_{name}"] = column
    columns["action"] = _labels(data.actions, at, rows)
    columns["reward"] = spread(pl.Series(data.rewards), at, rows)
    flags = np.zeros(len(data.rewards), dtype=bool)
    flags[data.lasts] = data.terminated
    columns["terminated"] = spread(pl.Series(flags), at, rows)
    cut = np.zeros(len(data.rewards), dtype=bool)
    cut[data.lasts] = data.truncated
    columns["truncated"] = spread(pl.Series(cut), at, rows)
    if data.behavior is not None:
        columns["behavior_prob"] = spread(pl.Series(data.behavior), at, rows)
    for name, column in data.columns.items():
        if isinstance(column, Categorical):
            columns[name] = _labels(column, at, rows)
        else:
            columns[name] = spread(pl.Series(column), at, rows)
    return pl.DataFrame(columns)


def _labels(column: Categorical, at: np.ndarray, rows: int) -> pl.Series:
    return spread(pl.Series(column.labels).gather(column.codes), at, rows)


def spread(values: pl.Series, at: np.ndarray, rows: int) -> pl.Series:
    """The values at positions `at` of a longer column, empty elsewhere."""
    where = np.full(rows, -1)
    where[at] = np.arange(len(at))
    indices = pl.Series(where).replace({-1: None}) if len(at) < rows else pl.Series(where)
    return values.gather(indices)
