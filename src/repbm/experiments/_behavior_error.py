"""What an estimated behavior costs: the error of weighted PDIS against the error of the behavior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from repbm.core import InputError, stream
from repbm.core._toml import one_of, several, values
from repbm.data import Trajectories
from repbm.domains import Map2D, benchmark_policy, collect, map_behaviors, truth
from repbm.estimators import Case, PerDecisionImportanceSampling
from repbm.experiments._experiment import Announce, Experiment, Task, Worker
from repbm.experiments._published import claims
from repbm.experiments._resampling import mean_interval
from repbm.policies import NeighborPolicy

_ROWS: dict[str, Any] = {
    "run": pl.Int64,
    "seed": pl.Int64,
    "behavior": pl.String,
    "training_episodes": pl.Int64,
    "neighbors": pl.Int64,
    "behavior_error": pl.Float64,
    "value": pl.Float64,
    "truth": pl.Float64,
    "error": pl.Float64,
    "effective_episodes": pl.Float64,
    "note": pl.String,
}
"""`training_episodes` and `neighbors` are null where the behavior is known; `error` where there is no value."""

_COLUMNS: dict[str, Any] = {
    "behavior": pl.String,
    "training_episodes": pl.Int64,
    "neighbors": pl.Int64,
    "runs": pl.Int64,
    "undefined": pl.Int64,
    "behavior_error": pl.Float64,
    "error": pl.Float64,
    "error_low": pl.Float64,
    "error_high": pl.Float64,
    "deviation": pl.Float64,
    "effective_episodes": pl.Float64,
}


@dataclass(frozen=True)
class BehaviorError(Experiment):
    """Logs of the 2-D map, and weighted PDIS with the behavior learned from other logs by nearest neighbors.

    The paper's appendix "IS with approximate behavior policy", for different numbers of episodes to learn from and
    of neighbors. The error of a behavior is the mean of |mu(a|s) - mu^(a|s)| over logged steps, that of the estimate is
    (V^ - V) / V.
    """

    behaviors: tuple[str, ...]
    """Names from `map_behaviors`."""
    episodes: int
    """How many episodes are re-weighted."""
    training_episodes: tuple[int, ...]
    """From how many other episodes the behavior is learned."""
    neighbors: tuple[int, ...]
    prior: float
    """The prior of `NeighborPolicy`: how many steps the overall shares of the actions count for."""
    rollouts: int
    """How many rollouts from every initial state give its true value."""
    published: str = ""
    """The name of the published claims that the figure shows."""

    schema = _ROWS

    def __post_init__(self) -> None:
        for behavior in self.behaviors:
            one_of(behavior, map_behaviors(), "behavior", self.name)
        counts = {key: getattr(self, key) for key in ("training_episodes", "neighbors")}
        counts |= {key: (getattr(self, key),) for key in ("episodes", "rollouts")}
        wrong = {key: min(numbers, default=0) < 1 for key, numbers in counts.items()}
        wrong |= {"behaviors": not self.behaviors, "prior": not 0 <= self.prior < np.inf}
        for key in (key for key, bad in wrong.items() if bad):
            raise InputError(f"{key} = {getattr(self, key)} makes no experiment", where=self.name)
        most = min(self.training_episodes) * Map2D().horizon
        if max(self.neighbors) > most:
            raise InputError(
                f"{max(self.neighbors)} neighbors among the {most} steps of {min(self.training_episodes)} episodes",
                where=self.name,
                fix="ask for fewer neighbors, or more training_episodes",
            )
        claims(self.published)

    def worker(self) -> Worker:
        world, policy = Map2D(), benchmark_policy("map2d")
        behaviors = {name: map_behaviors()[name] for name in self.behaviors}

        def work(task: Task, seed: int, announce: Announce) -> pl.DataFrame:
            rows = []
            for name, behavior in behaviors.items():
                announce(name)
                data = collect(world, behavior, self.episodes, stream(seed, "log", name))
                starts = data.initial_observations
                true = truth(world, policy, starts, stream(seed, "truth", name), self.rollouts).mean()
                assert data.behavior is not None
                head = {"run": task.run, "seed": seed, "behavior": name, "truth": float(true)}
                rows.append(head | _scored(data, data.behavior, policy, true))
                for count in self.training_episodes:
                    other = collect(world, behavior, count, stream(seed, "training", name, count))
                    for k in self.neighbors:
                        announce(f"{name}, {count} episodes, {k} neighbors")
                        learned = NeighborPolicy(other, k, self.prior).decisions(data).logged(slice(None))
                        row = {"training_episodes": count, "neighbors": k}
                        rows.append(head | row | _scored(data, learned, policy, true))
            return pl.DataFrame(rows, schema=self.schema)

        return work

    def table(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One line per behavior and way to learn it: means over runs, 95 % intervals and standard deviations."""
        lines = []
        for _, group in rows.group_by("behavior", "training_episodes", "neighbors", maintain_order=True):
            group = group.sort("run")
            errors = group["error"].drop_nulls().to_numpy()
            line = group.select("behavior", "training_episodes", "neighbors").row(0, named=True)
            line |= {
                "runs": len(group),
                "undefined": group["error"].null_count(),
                "behavior_error": group["behavior_error"].mean(),
                "error": float(errors.mean()) if len(errors) else None,
                **dict(zip(("error_low", "error_high"), mean_interval(errors), strict=True)),
                "deviation": float(errors.std(ddof=1)) if len(errors) > 1 else None,
                "effective_episodes": group["effective_episodes"].mean(),
            }
            lines.append(line)
        return pl.DataFrame(lines, schema=_COLUMNS)


def _scored(data: Trajectories, learned: Float[np.ndarray, " steps"], policy: Any, true: float) -> dict[str, Any]:
    """The error of a behavior, and what weighted PDIS says with it."""
    assert data.behavior is not None
    row = {"behavior_error": float(np.abs(learned - data.behavior).mean()), "value": None, "error": None, "note": ""}
    if (learned == 0).any():
        return row | {"note": "not defined: logged actions that the learned behavior never takes"}
    estimate = PerDecisionImportanceSampling(normalized=True)(Case.of(replace(data, behavior=learned), policy))
    row |= {"note": estimate.note, "effective_episodes": estimate.effective_episodes}
    if estimate.value is None:
        return row
    return row | {"value": estimate.value, "error": estimate.value / true - 1}


def behavior_error_of(given: Mapping[str, Any], name: str, where: str) -> BehaviorError:
    """The experiment with these settings."""
    lists = {"behaviors": str, "training_episodes": int, "neighbors": int}
    kinds = dict.fromkeys(lists, list) | {"episodes": int, "prior": float, "rollouts": int}
    found = values(given, kinds | {"published": str}, where, kinds)
    found |= {key: tuple(dict.fromkeys(several(found[key], kind, key, where))) for key, kind in lists.items()}
    return BehaviorError(name=name, **found)
