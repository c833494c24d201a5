"""The binary tree: how far importance sampling is off with an estimated behavior, by formula, enumeration and logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from repbm.core import InputError, stream
from repbm.core._toml import several, values
from repbm.domains import (
    BinaryTree,
    benchmark_policy,
    collect,
    enumerated_tree_bias,
    estimated_tree_behavior,
    tree_bias,
)
from repbm.estimators import Case, ImportanceSampling
from repbm.experiments._experiment import Announce, Experiment, Task, Worker
from repbm.experiments._resampling import mean_interval

_MOST_ENUMERATED = 14
"""Deeper trees have too many paths to follow them all for a table."""

_ROWS: dict[str, Any] = {
    "run": pl.Int64,
    "seed": pl.Int64,
    "horizon": pl.Int64,
    "delta": pl.Float64,
    "value": pl.Float64,
    "error": pl.Float64,
}

_COLUMNS: dict[str, Any] = {
    "horizon": pl.Int64,
    "delta": pl.Float64,
    "bias": pl.Float64,
    "enumerated": pl.Float64,
    "simulated": pl.Float64,
    "simulated_low": pl.Float64,
    "simulated_high": pl.Float64,
    "runs": pl.Int64,
}


@dataclass(frozen=True)
class TreeBias(Experiment):
    """Logs of the uniform behavior in trees of different depth, and IS with a behavior of relative error delta.

    The paper's appendix "IS with approximate behavior policy": the bias is (1 - delta)^-H - 1.
    """

    horizons: tuple[int, ...]
    deltas: tuple[float, ...]
    episodes: int

    schema = _ROWS

    def __post_init__(self) -> None:
        wrong = {"horizons": not self.horizons, "deltas": not self.deltas, "episodes": self.episodes < 1}
        for key in (key for key, bad in wrong.items() if bad):
            raise InputError(f"{key} = {getattr(self, key)} makes no experiment", where=self.name)
        for horizon in self.horizons:
            BinaryTree(horizon)
        for delta in self.deltas:
            tree_bias(1, delta)

    def worker(self) -> Worker:
        policy = benchmark_policy("tree")
        behaviors = {delta: estimated_tree_behavior(delta) for delta in self.deltas}

        def work(task: Task, seed: int, announce: Announce) -> pl.DataFrame:
            rows = []
            for horizon in self.horizons:
                announce(f"horizon {horizon}")
                world = BinaryTree(horizon)
                data = collect(world, policy, self.episodes, stream(seed, "log", horizon), epsilon=1.0)
                for delta, behavior in behaviors.items():
                    estimated = behavior.decisions(data).logged(slice(None))
                    value = ImportanceSampling()(Case.of(replace(data, behavior=estimated), policy)).value
                    assert value is not None
                    # The truth is 1: the policy always reaches the leaf that pays.
                    rows.append((task.run, seed, horizon, delta, value, value - 1))
            return pl.DataFrame(rows, schema=self.schema, orient="row")

        return work

    def table(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One line per horizon and delta: the bias by formula, by enumeration, and on average over the logs."""
        lines = []
        for _, group in rows.group_by("horizon", "delta", maintain_order=True):
            errors = group.sort("run")["error"].to_numpy()
            horizon, delta = group["horizon"][0], group["delta"][0]
            exact = enumerated_tree_bias(horizon, delta) if horizon <= _MOST_ENUMERATED else None
            line = (horizon, delta, tree_bias(horizon, delta), exact, float(errors.mean()), *mean_interval(errors))
            lines.append((*line, len(errors)))
        return pl.DataFrame(lines, schema=_COLUMNS, orient="row")


def tree_of(given: Mapping[str, Any], name: str, where: str) -> TreeBias:
    """The experiment with these settings."""
    kinds = {"horizons": list, "deltas": list, "episodes": int}
    found = values(given, kinds, where, kinds)
    return TreeBias(
        name=name,
        horizons=tuple(dict.fromkeys(several(found["horizons"], int, "horizons", where))),
        deltas=tuple(dict.fromkeys(several(found["deltas"], float, "deltas", where))),
        episodes=found["episodes"],
    )
