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
from repbm.core._toml import one_of, several, values
from repbm.domains.worlds import BESIDE, DEVELOPMENT, World, families
from repbm.evaluation import Evaluation, evaluate
from repbm.experiments._experiment import Announce, Experiment, Task, Worker
from repbm.experiments._trust_table import ANSWER, FIFTHS, LEVELS, SHOWN, bound, trust_table

_BESIDE = ("am", "repbm", "wdr(repbm)", "wis", "wpdis")
"""Estimators whose rows stand beside the answer's."""
_ASKED = SHOWN

_INTERVALS = ("individual", "outcome", "gain")
_OUTCOMES = 20
"""So many outcomes are drawn for each individual."""
_ROUNDING = 1e-9

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
    "difference": pl.Float64,
    "true_difference": pl.Float64,
    **{bound(end, level): pl.Float64 for level in LEVELS for end in ("difference_low", "difference_high")},
    "individuals": pl.Int64,
    "mse_individual": pl.Float64,
    "sampling_error": pl.Float64,
    "variance_individual": pl.Float64,
    **{bound(what, level): pl.Float64 for level in LEVELS for what in _INTERVALS},
    **{f"fifth_{k}": pl.Float64 for k in range(FIFTHS)},
    "hidden": pl.Boolean,
    "refused": pl.Float64,
    "seconds": pl.Float64,
    "note": pl.String,
}
"""One row for the answer and one for each estimator beside it; `source` is the estimator whose value it is.

`exam` is null where a family is neither of the exam nor of development, but beside them.

`oracle_error` is the standard error that as many episodes of the policy itself would have, `error` is value - truth
in such errors. `mse_individual` is over logged individuals, `sampling_error` the part of it that comes from rollouts of
the world, `variance_individual` how much true values differ. `individual_90` is the share of individuals whose true
value their 90 % interval holds, `outcome_90` that of drawn outcomes that the interval of outcomes holds, `gain_90` that
of true differences to the behavior; all over the individuals that are not `refused` (a share of all). `fifth_0` to
`fifth_4` are `individual_90` among the fifth of individuals with the lowest true values, and so on. `hidden` says that
the log does not show all of the initial state: nobody can then know the value of an individual. `seconds` are of the
whole evaluation."""


@dataclass(frozen=True, eq=False)
class _Truth:
    """What the policy earns: on average, and from up to so many logged initial states."""

    mean: float
    deviation: float
    difference: float
    """To what the behavior earns."""
    individuals: np.ndarray
    variances: np.ndarray
    """Of the values of individuals, as far as they are means of a few rollouts."""
    outcomes: np.ndarray
    gains: np.ndarray
    hidden: bool


@dataclass(frozen=True, eq=False)
class Said:
    """What an evaluation says under one name: a value, intervals by level, and the table of logged individuals."""

    name: str
    source: str
    value: float | None
    bounds: Mapping[float, tuple[float | None, float | None]]
    difference: float | None
    difference_bounds: Mapping[float, tuple[float | None, float | None]]
    individuals: pl.DataFrame | None
    level: float
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
    hidden = ("undefined", "intervals", "half_width_supported", "wrong", "supported_wrong", "good")

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
                "exam": None if family in BESIDE else family not in DEVELOPMENT,
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
        same = {"truth": true.mean, "oracle_error": oracle, "true_difference": true.difference, "hidden": true.hidden}
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
        done = world.returns(fresh, stream(seed, "behavior", family), behavior=True)
        rolled = world.returns(starts, stream(seed, "individuals", family, episodes), self.rollouts)
        now = world.returns(starts, stream(seed, "individuals now", family, episodes), self.rollouts, behavior=True)
        varied = [int((np.ptp(each, axis=0) > 0).sum()) for each in (fresh, world.observe(fresh))]
        return _Truth(
            mean=float(returns.mean()),
            deviation=float(returns.std(ddof=1)),
            difference=float(returns.mean() - done.mean()),
            individuals=rolled.mean(axis=1),
            variances=rolled.var(axis=1, ddof=1) / self.rollouts,
            outcomes=world.returns(starts, stream(seed, "outcomes", family, episodes), _OUTCOMES),
            gains=rolled.mean(axis=1) - now.mean(axis=1),
            hidden=varied[1] < varied[0],
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
            gain = {key: row[f"difference{key and '_'}{key}"] for key in ("", "low", "high")}
            said.append(
                Said(
                    name,
                    row["estimator"],
                    row["value"],
                    {level: _narrowed(row["value"], row["low"], row["high"], row["level"], level) for level in LEVELS},
                    gain[""],
                    {level: _narrowed(gain[""], gain["low"], gain["high"], row["level"], level) for level in LEVELS},
                    shown,
                    row["level"],
                    row["note"],
                )
            )
    said.sort(key=lambda one: one.name != ANSWER)
    return verdict.supported, verdict.word, said


def _narrowed(value: Any, low: Any, high: Any, given: float, level: float) -> tuple[Any, Any]:
    """The ends of the interval of another level."""
    if low is None:
        return None, None
    share = _quantile(level) / _quantile(given)
    return value + share * (low - value), value + share * (high - value)


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _scored(said: Said, true: _Truth, oracle: float) -> dict[str, Any]:
    """The row of what is said."""
    row: dict[str, Any] = {"estimator": said.name, "source": said.source, "value": said.value, "note": said.note}
    if said.value is not None:
        row["error"] = (said.value - true.mean) / oracle if oracle > 0 else None
    for level, (low, high) in said.bounds.items():
        row |= {bound("low", level): low, bound("high", level): high}
    row["difference"] = said.difference
    for level, (low, high) in said.difference_bounds.items():
        row |= {bound("difference_low", level): low, bound("difference_high", level): high}
    return row if said.individuals is None else row | _scored_individuals(said.individuals, said.level, true)


def _scored_individuals(said: pl.DataFrame, given: float, true: _Truth) -> dict[str, Any]:
    count = min(len(said), len(true.individuals))
    told = said.head(count)
    kept = told["refused"].is_null().to_numpy()
    row: dict[str, Any] = {"individuals": count, "refused": float(1 - kept.mean())}
    if not kept.any():
        return row
    told, values = told.filter(kept), true.individuals[:count][kept]
    row |= {
        "mse_individual": float(((told["value"].to_numpy() - values) ** 2).mean()),
        "sampling_error": float(true.variances[:count][kept].mean()),
        "variance_individual": float(values.var()),
    }
    middles = {"individual": ("value", ""), "outcome": ("value", "outcome_"), "gain": ("difference", "difference_")}
    drawn = {
        "individual": values[:, None],
        "outcome": true.outcomes[:count][kept],
        "gain": true.gains[:count][kept, None],
    }
    for what, (middle, prefix) in middles.items():
        if told[f"{prefix}low"].null_count():
            continue
        numbers = [told[name].to_numpy()[:, None] for name in (middle, f"{prefix}low", f"{prefix}high")]
        for level in LEVELS:
            low, high = _narrowed(numbers[0], numbers[1], numbers[2], given, level)
            slack = _ROUNDING * np.abs(high - low).max()
            inside = (low - slack <= drawn[what]) & (drawn[what] <= high + slack)
            row[bound(what, level)] = float(inside.mean())
            if what == "individual" and level == SHOWN:
                fifths = np.array_split(np.argsort(values, kind="stable"), FIFTHS)
                row |= {f"fifth_{k}": float(inside[own].mean()) for k, own in enumerate(fifths) if len(own)}
    return row


def trust_of(given: Mapping[str, Any], name: str, where: str) -> Trust:
    """The experiment with these settings; the families "development", "exam" and "beside" are all of that kind."""
    counts = {"truth_rollouts": int, "individuals": int, "rollouts": int}
    kinds = {"families": list, "episodes": list, **counts}
    found = values(given, kinds, where, kinds)
    groups = {
        "development": list(DEVELOPMENT),
        "exam": [family for family in families() if family not in DEVELOPMENT and family not in BESIDE],
        "beside": list(BESIDE),
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
