"""How far can answers, intervals and verdicts be trusted? Evaluations in worlds drawn from families, and the truth."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from repbm.core import InputError, stream
from repbm.core._toml import one_of, several, values
from repbm.domains.worlds import BESIDE, DEVELOPMENT, World, families
from repbm.evaluation import evaluate
from repbm.experiments._experiment import Announce, Experiment, Task, Worker
from repbm.experiments._trust_scores import Truth, read, scored
from repbm.experiments._trust_table import ANSWER, FIFTHS, LEVELS, SHOWN, bound, trust_table

_ASKED = SHOWN

_INTERVALS = ("individual", "outcome", "gain")
_OUTCOMES = 20
"""So many outcomes are drawn for each individual."""

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
        return [same | scored(one, true, oracle) for one in said]

    def _truth(self, world: World, starts: np.ndarray, family: str, episodes: int, seed: int) -> Truth:
        fresh = world.initial(self.truth_rollouts, stream(seed, "fresh", family))
        returns = world.returns(fresh, stream(seed, "truth", family))
        done = world.returns(fresh, stream(seed, "behavior", family), behavior=True)
        rolled = world.returns(starts, stream(seed, "individuals", family, episodes), self.rollouts)
        now = world.returns(starts, stream(seed, "individuals now", family, episodes), self.rollouts, behavior=True)
        varied = [int((np.ptp(each, axis=0) > 0).sum()) for each in (fresh, world.observe(fresh))]
        return Truth(
            mean=float(returns.mean()),
            deviation=float(returns.std(ddof=1)),
            difference=float(returns.mean() - done.mean()),
            individuals=rolled.mean(axis=1),
            variances=rolled.var(axis=1, ddof=1) / self.rollouts,
            outcomes=world.returns(starts, stream(seed, "outcomes", family, episodes), _OUTCOMES),
            gains=rolled.mean(axis=1) - now.mean(axis=1),
            hidden=varied[1] < varied[0],
        )


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
