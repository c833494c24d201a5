"""How far can answers, intervals and verdicts be trusted? Evaluations in worlds drawn from families, and the truth."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from repbm.core import InputError, stream
from repbm.domains.worlds import DEVELOPMENT, World, families
from repbm.evaluation import Evaluation, evaluate
from repbm.experiments._experiment import Announce, Experiment, Task, Worker
from repbm.experiments._toml import one_of, several, values
from repbm.experiments._trust_table import ANSWER, LEVELS, bound, trust_table

_BESIDE = ("am", "repbm", "wdr(repbm)", "wis", "wpdis")
"""Estimators whose rows stand beside the answer's."""
_ASKED = max(LEVELS)

_ROWS: dict[str, Any] = {
    "run": pl.Int64,
    "part": pl.Int64,
    "seed": pl.Int64,
    "family": pl.String,
    "exam": pl.Boolean,
    "answerable": pl.Boolean,
    "episodes": pl.Int64,
    "horizon": pl.Int64,
    "estimator": pl.String,
    "source": pl.String,
    "value": pl.Float64,
    "truth": pl.Float64,
    "oracle_error": pl.Float64,
    "error": pl.Float64,
    "supported": pl.Boolean,
    "verdict": pl.String,
    **{bound(end, level): pl.Float64 for level in LEVELS for end in ("low", "high")},
    "individuals": pl.Int64,
    "mse_individual": pl.Float64,
    "sampling_error": pl.Float64,
    "variance_individual": pl.Float64,
    **{bound(what, level): pl.Float64 for level in LEVELS for what in ("individual", "outcome")},
    "seconds": pl.Float64,
    "note": pl.String,
}
"""One row for the answer and one for each estimator beside it; `source` is the estimator whose value it is.

`oracle_error` is the standard error that as many episodes of the policy itself would have, `error` is value - truth
in such errors. `mse_individual` is over logged individuals, `sampling_error` the part of it that comes from rollouts of
the world, `variance_individual` how much true values differ. `individual_90` is the share of individuals whose true
value their 90 % interval holds, `outcome_90` that of those whose drawn outcome it holds. `seconds` are of the whole
evaluation."""


@dataclass(frozen=True, eq=False)
class _Truth:
    """What the policy earns: on average, and from up to so many logged initial states."""

    mean: float
    deviation: float
    individuals: np.ndarray
    variances: np.ndarray
    """Of the values of individuals, as far as they are means of a few rollouts."""
    outcomes: np.ndarray


@dataclass(frozen=True, eq=False)
class Said:
    """What an evaluation says under one name: a value, intervals by level, and the same for logged individuals."""

    name: str
    source: str
    value: float | None
    bounds: Mapping[float, tuple[float | None, float | None]]
    individuals: np.ndarray | None
    individual_bounds: Mapping[float, tuple[np.ndarray, np.ndarray]]
    note: str


@dataclass(frozen=True)
class Trust(Experiment):
    """A part is a family and a number of episodes. Logs of both sizes in a run come from the same world."""

    families: tuple[str, ...]
    episodes: tuple[int, ...]
    truth_rollouts: int
    """How many fresh episodes of the policy give its true mean."""
    individuals: int
    """How many logged initial states are judged at most."""
    rollouts: int
    """How many rollouts from each of these states give its true value."""

    schema = _ROWS

    def __post_init__(self) -> None:
        for name in self.families:
            one_of(name, families(), "family", self.name)
        least = {"truth_rollouts": 2, "individuals": 1, "rollouts": 2}
        wrong = {key: getattr(self, key) < number for key, number in least.items()}
        wrong |= {"families": not self.families, "episodes": min(self.episodes, default=0) < 2}
        for key in (key for key, bad in wrong.items() if bad):
            raise InputError(f"{key} = {getattr(self, key)} makes no experiment", where=self.name)

    @property
    def usual_runs(self) -> int:
        return 30

    @property
    def points(self) -> list[tuple[str, int]]:
        """The family and the number of episodes of every part."""
        return list(product(self.families, self.episodes))

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(f"{family}, {episodes} episodes" for family, episodes in self.points)

    def worker(self) -> Worker:
        known, points = families(), self.points

        def work(task: Task, seed: int, announce: Announce) -> pl.DataFrame:
            family, episodes = points[task.part]
            world = known[family](stream(seed, "world", family))
            head = {
                "run": task.run,
                "part": task.part,
                "seed": seed,
                "family": family,
                "exam": family not in DEVELOPMENT,
                "answerable": world.answerable,
                "episodes": episodes,
                "horizon": world.horizon,
            }
            rows = self._judged(world, family, episodes, seed, announce)
            return pl.DataFrame([head | row for row in rows], schema=self.schema)

        return work

    def table(self, rows: pl.DataFrame) -> pl.DataFrame:
        return trust_table(rows)

    def _judged(self, world: World, family: str, episodes: int, seed: int, announce: Announce) -> list[dict[str, Any]]:
        announce("the log")
        data, starts = world.log(episodes, stream(seed, "log", family, episodes))
        announce("the truth")
        true = self._truth(world, starts[: self.individuals], family, episodes, seed)
        oracle = true.deviation / np.sqrt(episodes)
        same = {"truth": true.mean, "oracle_error": oracle}
        announce("the evaluation")
        began = time.perf_counter()
        try:
            found = evaluate(
                data,
                world.evaluated(),
                discount=world.discount,
                horizon=world.horizon,
                level=_ASKED,
                seed=seed,
                details=False,
            )
        except InputError as fault:
            seconds = time.perf_counter() - began
            refused = {"estimator": ANSWER, "supported": False, "seconds": seconds, "note": str(fault)}
            return [same | refused]
        same |= {"seconds": time.perf_counter() - began}
        supported, verdict, said = read(found)
        same |= {"supported": supported, "verdict": verdict}
        return [same | _scored(one, true, oracle) for one in said]

    def _truth(self, world: World, starts: np.ndarray, family: str, episodes: int, seed: int) -> _Truth:
        fresh = world.initial(self.truth_rollouts, stream(seed, "fresh", family))
        returns = world.returns(fresh, stream(seed, "truth", family))
        rolled = world.returns(starts, stream(seed, "individuals", family, episodes), self.rollouts)
        outcomes = world.returns(starts, stream(seed, "outcomes", family, episodes))
        return _Truth(
            mean=float(returns.mean()),
            deviation=float(returns.std(ddof=1)),
            individuals=rolled.mean(axis=1),
            variances=rolled.var(axis=1, ddof=1) / self.rollouts,
            outcomes=outcomes[:, 0],
        )


def read(evaluation: Evaluation) -> tuple[bool, str, list[Said]]:
    """Whether the answer is called supported, the verdict in words, and what is said: the answer first.

    Nothing else here knows the tables of an evaluation. They hold intervals of one level; those of the others are as
    much narrower as a normal distribution has it.
    """
    (verdict,) = evaluation.examination.verdicts.values()
    logged = evaluation.individuals.filter(pl.col("source") == "log")
    known = {str(key): frame for (key,), frame in logged.group_by("estimator", maintain_order=True)}
    said = []
    for row in evaluation.estimates.iter_rows(named=True):
        names = [ANSWER] if row["headline"] else []
        names += [row["estimator"]] if row["estimator"] in _BESIDE else []
        frame = known.get(row["estimator"])
        for name in names:
            # The answer may be one without values of individuals: then those of the model beside it are shown.
            shown = known.get("repbm") if frame is None and name == ANSWER else frame
            said.append(
                Said(
                    name,
                    row["estimator"],
                    row["value"],
                    {level: _narrowed(row, row["level"], level) for level in LEVELS},
                    None if shown is None else shown["value"].to_numpy(),
                    {} if shown is None or shown["low"].null_count() else _individual_bounds(shown, row["level"]),
                    row["note"],
                )
            )
    said.sort(key=lambda one: one.name != ANSWER)
    return verdict.supported, verdict.word, said


def _narrowed(row: Mapping[str, Any], given: float, level: float) -> tuple[Any, Any]:
    """The ends of the interval of another level."""
    if row["low"] is None:
        return None, None
    share = _quantile(level) / _quantile(given)
    return row["value"] + share * (row["low"] - row["value"]), row["value"] + share * (row["high"] - row["value"])


def _individual_bounds(frame: pl.DataFrame, given: float) -> dict[float, tuple[np.ndarray, np.ndarray]]:
    columns = {name: frame[name].to_numpy() for name in ("value", "low", "high")}
    return {level: _narrowed(columns, given, level) for level in LEVELS}


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _scored(said: Said, true: _Truth, oracle: float) -> dict[str, Any]:
    """The row of what is said."""
    row: dict[str, Any] = {"estimator": said.name, "source": said.source, "value": said.value, "note": said.note}
    if said.value is not None:
        row["error"] = (said.value - true.mean) / oracle if oracle > 0 else None
    for level, (low, high) in said.bounds.items():
        row |= {bound("low", level): low, bound("high", level): high}
    if said.individuals is None:
        return row
    count = min(len(said.individuals), len(true.individuals))
    row |= {
        "individuals": count,
        "mse_individual": float(((said.individuals[:count] - true.individuals[:count]) ** 2).mean()),
        "sampling_error": float(true.variances[:count].mean()),
        "variance_individual": float(true.individuals[:count].var()),
    }
    for level, ends in said.individual_bounds.items():
        low, high = (end[:count] for end in ends)
        for what, drawn in (("individual", true.individuals), ("outcome", true.outcomes)):
            row[bound(what, level)] = float(((low <= drawn[:count]) & (drawn[:count] <= high)).mean())
    return row


def trust_of(given: Mapping[str, Any], name: str, where: str) -> Trust:
    """The experiment with these settings; the families "development" and "exam" are all of that kind."""
    counts = {"truth_rollouts": int, "individuals": int, "rollouts": int}
    kinds = {"families": list, "episodes": list, **counts}
    found = values(given, kinds, where, kinds)
    groups = {
        "development": list(DEVELOPMENT),
        "exam": [family for family in families() if family not in DEVELOPMENT],
    }
    named = several(found["families"], str, "families", where)
    for word in named:
        one_of(word, (*groups, *families()), "family", where)
    return Trust(
        name=name,
        families=tuple(dict.fromkeys(family for word in named for family in groups.get(word, [word]))),
        episodes=tuple(dict.fromkeys(several(found["episodes"], int, "episodes", where))),
        **{key: found[key] for key in counts},
    )
