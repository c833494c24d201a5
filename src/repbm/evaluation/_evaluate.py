"""Evaluate policies on a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from repbm._version import __version__
from repbm.core import InputError
from repbm.data import Trajectories
from repbm.doctor import Examination, Verdict, examine, judge
from repbm.estimators import Case, DirectMethod, Estimator
from repbm.evaluation._closer_look import CloserLook
from repbm.evaluation._names import Recipe, as_estimator, default_estimators, needs_behavior
from repbm.evaluation._store import fingerprint, write
from repbm.evaluation._tables import Tables
from repbm.evaluation._workshop import Precise, Preset, Workshop
from repbm.inference import Resampling
from repbm.logs import Source, read_individuals, read_log
from repbm.policies import LearnedBehavior, ObservationPolicy, Policy, learn_behavior
from repbm.policies.adapters import as_policy

if TYPE_CHECKING:
    from repbm.models import Model, TabularModel

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many parts are done, and of how many."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What the log says about the policies: three tables, and how they were made.

    `estimates`: policy, estimator, headline (the answer, which stands first), value, low, high, level, std_error,
    practice (the mean return of the log: what is done now), difference (value - practice), difference_low,
    difference_high, episodes, effective_episodes, behavior (logged or estimated, where the estimator weighs by it) and
    note.
    `individuals`: policy, estimator, episode, value, low, high, source (log or new).
    `diagnostics`: policy, step, alive, factual, counterfactual, u, effective_episodes, and, where a model was fitted as
    repbm, the terms of its bound: risk_behavior, risk_policy, distance, deviation (see `repbm.inference.bound_terms`).
    """

    estimates: pl.DataFrame
    individuals: pl.DataFrame
    diagnostics: pl.DataFrame
    ranking: pl.DataFrame
    """The answers of all policies, the best first: policy, estimator, value, low, high, probability_best (the share of
    resampled logs on which it is), to_best (value minus that of the best), to_best_low, to_best_high."""
    arguments: Mapping[str, Any]
    seed: int
    seconds: float
    models: Mapping[tuple[str, str], Model | TabularModel] = field(repr=False)
    """The models fitted on the way, by policy and name."""
    dynamics: list[dict[str, Any]]
    """The kinds of dynamics that were compared on held-out episodes, with their errors."""
    behavior: LearnedBehavior | None
    """What the log was taken to do, where it does not say."""
    examination: Examination
    """What the doctor says of the log, and what it supports, policy by policy."""
    closer_look: CloserLook = field(repr=False)
    """What a report shows beyond the tables: single individuals, held-out episodes."""
    _source: Path | Trajectories = field(repr=False)

    @cached_property
    def run(self) -> Mapping[str, Any]:
        """How the tables were made: version, arguments, seed, hash of the log, dynamics compared, seconds."""
        return {
            "version": __version__,
            "arguments": dict(self.arguments),
            "seed": self.seed,
            "log_sha256": fingerprint(self._source),
            "dynamics": self.dynamics,
            "doctor": self.examination.account(),
            "behavior": None if self.behavior is None else _account(self.behavior),
            "seconds": self.seconds,
        }

    def write(self, folder: str | Path, further: Mapping[str, bytes] | None = None) -> None:
        """Store the tables in `folder`, with further files by name, all or nothing."""
        tables = {
            "estimates": self.estimates,
            "individuals": self.individuals,
            "diagnostics": self.diagnostics,
            "ranking": self.ranking,
        }
        write(Path(folder), tables, self.run, further or {})


def evaluate(
    log: Source | Trajectories,
    policy: Any,
    *,
    estimators: Sequence[str | Estimator] | None = None,
    discount: float = 1.0,
    horizon: int | None = None,
    seed: int = 0,
    level: float = 0.95,
    columns: Mapping[str, str] | None = None,
    all_terminated: bool | None = None,
    preset: Preset | None = None,
    folds: int = 1,
    refits: int = 0,
    individuals: Source | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """What would happen if we followed this policy instead? Answered from the log alone.

    `log` is whatever `read_log` reads (a path, a data frame, arrays, episodes, a dataset; it takes `columns` and
    `all_terminated`), or Trajectories. `policy` is whatever `as_policy` understands, or a mapping of names to such.
    `horizon` cuts every episode after so many steps. `level` is that of the intervals; `seed` drives resampling,
    rollouts and whatever is fitted. Without `estimators`, those that the log and the policy support. `preset` is how
    models are fitted; with `folds` of 2 or more, each fold of the episodes is judged by critics fitted to the others
    (cross-fitting). Where the log does not say how probable its actions were, and an estimator needs it, that is
    learned (see `learn_behavior`).
    With `refits`, models are fitted again to so many resampled logs, and their values get intervals.
    `individuals` is a table of initial states (see `read_individuals`) whose values are wanted too.
    """
    began = time.perf_counter()
    _checked(discount, level, seed, folds, refits)
    policies = _policies(policy)
    given = [estimators] if isinstance(estimators, str) else estimators
    asked = None if given is None else [as_estimator(one) for one in given]
    tell = progress or (lambda what, done, total: None)
    tell("reading the log", 0, 1)
    fits = any(isinstance(one, Recipe) for one in asked or ())
    data = _data(log, policies, columns, all_terminated, fits)
    if data.behavior is None and not data.observations.shape[1] and _weighs(asked, data):
        # Read again: the behavior is learned from observations.
        data = _data(log, policies, columns, all_terminated, True)
    if horizon is not None:
        data = data.until(horizon)
    examination = examine(data)
    learned = None
    if data.behavior is None and _weighs(asked, data):
        tell("learning the behavior", 0, 1)
        learned = learn_behavior(data, seed)
        data = replace(data, behavior=learned.logged(data))
    tell("asking the policies", 0, 1)
    cases = {name: _case(data, name, one, discount, horizon) for name, one in policies.items()}
    chosen = {name: _default(case) if asked is None else asked for name, case in cases.items()}
    total = sum(map(len, chosen.values())) + 1
    new = None if individuals is None else read_individuals(individuals, data.observation_names, columns)
    tables = Tables(level, Resampling(data, seed), learned)
    done = 1
    workshop = Workshop(preset or Precise(), seed, folds, lambda what: tell(what, done, total))
    models: dict[tuple[str, str], Model | TabularModel] = {}
    verdicts: dict[str, Verdict] = {}
    for name, case in cases.items():
        for estimator in chosen[name]:
            tell(f"{estimator.name}, policy {name}", done, total)
            with np.errstate(over="ignore", invalid="ignore"):
                ready = workshop.ready(estimator, case)
                again = None
                if refits and isinstance(estimator, Recipe) and isinstance(ready, DirectMethod):
                    what = f"{estimator.name}, policy {name}, refits"
                    again = workshop.refits(estimator, case, refits, partial(_told, tell, what, done, total))
                tables.add(name, estimator.name, case, ready(case), again, needs_behavior(estimator))
            if new is not None and isinstance(ready, DirectMethod):
                tables.add_individuals(name, estimator.name, new.labels, ready.values_of(case, new.states), "new")
            done += 1
        if asked is None and case.unseen and isinstance(case.policy, ObservationPolicy):
            # None was fitted for estimates, but a model of the log can tell how far the policy leads.
            workshop.critic("am", case)
        fitted = workshop.models(case)
        tables.add_diagnostics(name, case, fitted.get("repbm"))
        models |= {(name, critic): model for critic, model in fitted.items()}
        verdicts[name] = judge(case, fitted.get("am", fitted.get("repbm")), seed, workshop.preset.held_out_error(case))
        tables.settle(name, verdicts[name])
    tell("done", total, total)
    path = Path(log) if isinstance(log, str | Path) and Path(log).exists() else None
    arguments = {
        "log": str(log) if isinstance(log, str | Path) else type(log).__name__,
        "policies": list(policies),
        "estimators": {name: [estimator.name for estimator in each] for name, each in chosen.items()},
        "discount": discount,
        "horizon": horizon,
        "level": level,
        "columns": dict(columns or {}),
        "all_terminated": all_terminated,
        "folds": folds,
        "refits": refits,
    }
    return Evaluation(
        *tables.frames(),
        ranking=tables.ranking(),
        arguments=arguments,
        seed=seed,
        seconds=round(time.perf_counter() - began, 3),
        models=models,
        dynamics=workshop.preset.account(),
        behavior=learned,
        examination=replace(examination, verdicts=verdicts),
        closer_look=CloserLook(cases, models, workshop, level),
        _source=data if path is None else path,
    )


def _checked(discount: float, level: float, seed: int, folds: int, refits: int) -> None:
    if not 0 <= discount <= 1:
        raise InputError(f"a discount of {discount:g}", fix="give a number from 0 to 1")
    if not 0 < level < 1:
        raise InputError(f"a level of {level:g}", fix="give a number between 0 and 1, such as 0.95")
    if seed < 0:
        raise InputError(f"a seed of {seed}", fix="give a whole number from 0 on")
    if folds < 1:
        raise InputError(f"{folds} folds", fix="give 1 (none), or 2 and more for cross-fitting")
    if refits not in (0, *range(3, 10_000)):
        raise InputError(f"{refits} refits", fix="give 0 (no intervals for models), or 3 and more, such as 20")


def _policies(given: Any) -> dict[str, Policy]:
    if isinstance(given, Mapping):
        if not given:
            raise InputError("no policy is given")
        return {str(name): as_policy(one) for name, one in given.items()}
    policy = as_policy(given)
    return {given if isinstance(given, str) else policy.name: policy}


def _data(
    log: Source | Trajectories,
    policies: Mapping[str, Policy],
    columns: Mapping[str, str] | None,
    all_terminated: bool | None,
    needs_observations: bool,
) -> Trajectories:
    if isinstance(log, Trajectories):
        return log
    keep = dict.fromkeys(column for policy in policies.values() for column in policy.needs_columns)
    needs = needs_observations or any(policy.needs_observations for policy in policies.values())
    return read_log(log, columns=columns, keep=list(keep), all_terminated=all_terminated, needs_observations=needs)


def _weighs(asked: Sequence[Estimator | Recipe] | None, data: Trajectories) -> bool:
    """Whether probabilities of logged actions are wanted: where nobody asks for anything, if they can be learned."""
    return len(data) > 1 if asked is None else any(map(needs_behavior, asked))


def _account(learned: LearnedBehavior) -> dict[str, Any]:
    shown = learned.reliability
    return {
        "kind": learned.kind,
        "likelihoods": dict(learned.likelihoods),
        "temperature": learned.temperature,
        "mixed": learned.mixed,
        "relative_error": shown.relative_error,
        "predicted": shown.predicted.tolist(),
        "observed": shown.observed.tolist(),
        "count": shown.count.tolist(),
    }


def _told(tell: Progress, what: str, done: int, total: int, refit: int) -> None:
    tell(f"{what} ({refit + 1})", done, total)


def _default(case: Case) -> list[Estimator | Recipe]:
    # What follows an action that the log never shows, no model can tell.
    acts = isinstance(case.policy, ObservationPolicy) and not case.unseen
    chosen = default_estimators(case.data.behavior is not None, acts)
    if not chosen:
        raise InputError(
            "the log tells neither how probable its actions were nor is the policy known beyond its steps",
            fix="add a column behavior_prob, or give the policy as a function",
        )
    return chosen


def _case(data: Trajectories, name: str, policy: Policy, discount: float, horizon: int | None) -> Case:
    try:
        return Case.of(data, policy, discount, horizon)
    except InputError as fault:
        where = f"{name} ({fault.where})" if fault.where else name
        raise InputError(fault.what, where=where, fix=fault.fix) from fault
