"""Tables to Trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from repbm.core import InputError
from repbm.data import LARGEST_OBSERVATION, Categorical, Trajectories
from repbm.logs._columns import Columns, whole
from repbm.logs._layout import Layout, layout
from repbm.logs._structure import Structure, endings, structure
from repbm.logs._tables import Part, Source, Table, joined, parts_of


def read_log(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    all_terminated: bool | None = None,
    needs_observations: bool = True,
) -> Trajectories:
    """Read a log: one row a step.

    `source` is a path to a CSV or Parquet file or to a folder of them, a polars or pandas frame, a mapping of arrays, a
    list of episodes (mappings of arrays: observations, actions, rewards, terminated, truncated), a Minari dataset or
    `minari:NAME`, or a dataset of d3rlpy or its .h5 file.

    Columns: `episode`, optional `step`, observations `obs_*`, `action`, `reward`, `terminated`, optional `truncated`,
    optional `behavior_prob` (or `pscore`, `propensity`, `action_prob`). The state after an episode's last step stands
    in `next_obs_*` columns or in a last row with an empty action. `columns` maps our names to the table's own;
    `obs` maps to several, separated by commas. `keep` names further columns to carry along. A log without a column
    `terminated` needs `all_terminated`. Rows may come in any order if there is a `step`.
    """
    parts = parts_of(source)
    found, *others = [
        _layout(part, dict(columns or {}), keep, needs_observations, all_terminated is None) for part in parts
    ]
    for part, other in zip(parts[1:], others, strict=True):
        more = [name for name in other.columns if name not in found.columns]
        if more:
            raise InputError(
                f"there is a column '{more[0]}', which {parts[0].name} does not have",
                where=part.name,
                fix="give all files the same columns",
            )
    table = joined(parts, found.columns)
    return _trajectories(table, found, all_terminated)


def _layout(
    part: Part, renames: Mapping[str, str], keep: Sequence[str], needs_observations: bool, asks_ends: bool
) -> Layout:
    numeric = {name: dtype.is_numeric() for name, dtype in part.schema.items()}
    return layout(list(part.schema), numeric, renames, keep, part.name, needs_observations, asks_ends)


def _trajectories(table: Table, found: Layout, all_terminated: bool | None) -> Trajectories:
    shape = structure(table, found)
    at = Columns(table, shape.rows)
    terminated = endings(table, found, shape, all_terminated)
    behavior = None if found.behavior_prob is None else _behavior(at, found.behavior_prob)
    kept = {name: _kept(at, name) for name in found.kept}
    actions = at.labels(found.action, "an action")
    rewards = at.numbers(found.reward).astype(np.float64, copy=False)
    finals = _final_observations(table, found, shape)
    for name in set(table.columns) - set(found.observations):
        del table.columns[name]
    return Trajectories(
        observations=_observations(at, found),
        actions=actions,
        rewards=rewards,
        offsets=shape.offsets.astype(np.int64),
        terminated=terminated,
        final_observations=finals,
        behavior=behavior,
        episode_labels=shape.labels,
        observation_names=found.observation_names,
        columns=kept,
    )


def _observations(at: Columns, found: Layout) -> np.ndarray:
    """Column by column into one array, each column let go once it is copied."""
    single = all(str(at.table.columns[name].dtype) == "Float32" for name in found.observations)
    kind = np.float32 if single and found.observations else np.float64
    result = np.empty((len(at), len(found.observations)), dtype=kind, order="F")
    for k, name in enumerate(found.observations):
        column = at.numbers(name, most=LARGEST_OBSERVATION)
        if column.dtype == np.float64 and kind == np.float32:
            result = result.astype(np.float64)
        result[:, k] = column
        del at.table.columns[name]
    return result


def _final_observations(table: Table, found: Layout, shape: Structure) -> np.ndarray:
    """The state after each episode's last step; NaN where it was not logged."""
    result = np.full((len(shape.labels), len(found.observations)), np.nan)
    if found.next_observations:
        rows = np.arange(table.rows) if shape.rows is None else shape.rows
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        at = Columns(table, rows[shape.offsets[1:] - 1])
        for k, name in enumerate(found.next_observations):
            result[:, k] = at.numbers(name, gaps=True, most=LARGEST_OBSERVATION)
    closed = shape.closing >= 0
    if closed.any():
        for k, name in enumerate(found.observations):
            closing = Columns(table, shape.closing[closed]).numbers(name, gaps=True, most=LARGEST_OBSERVATION)
            result[closed, k] = np.where(np.isnan(closing), result[closed, k], closing)
    return result


def _behavior(at: Columns, name: str) -> np.ndarray:
    probabilities = at.numbers(name).astype(np.float64, copy=False)
    low, high = probabilities.min(), probabilities.max()
    if low <= 0 or high > 1:
        row = int(np.flatnonzero((probabilities <= 0) | (probabilities > 1))[0])
        hint = " (log-probabilities?)" if high <= 0 else ""
        raise InputError(
            f"column '{name}' is {probabilities[row]:g}{hint}",
            where=at.place(row),
            fix="the probability of an action that was taken is above 0 and at most 1",
        )
    return probabilities


def _kept(at: Columns, name: str) -> Categorical | np.ndarray:
    if whole(at.series(name)).dtype.is_float():
        return at.numbers(name).astype(np.float64, copy=False)
    return at.labels(name, "a policy's action")
