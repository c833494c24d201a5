"""When does balancing help? RepBM and AM on the same logs, over noise, episodes, networks and behaviors."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl

from repbm.core import InputError, needs_networks, stream
from repbm.core._toml import one_of, settings, several, value, values
from repbm.estimators import Case
from repbm.experiments._critics import UNLIMITED
from repbm.experiments._experiment import Announce, Experiment, Task, Worker
from repbm.experiments._gain import SETTINGS, gains
from repbm.experiments._objectives import checked_objective
from repbm.experiments._points import Point, Sweep, base_of, sweep_of
from repbm.experiments._problems import WORLDS, Policies, Problem, Simulated, Tabular, Truth
from repbm.models import (
    LinearMMD,
    Model,
    NetworkSettings,
    Objective,
    PaperSettings,
    fit_closed_form,
    fit_network,
    fit_tabular,
)

_ROWS: dict[str, Any] = {
    "run": pl.Int64,
    "part": pl.Int64,
    "seed": pl.Int64,
    **{field.name: {str: pl.String, int: pl.Int64, float: pl.Float64}[type(field.default)] for field in fields(Point)},
    "model": pl.String,
    "value": pl.Float64,
    "truth": pl.Float64,
    "error_mean": pl.Float64,
    "mse_individual": pl.Float64,
    "sampling_error": pl.Float64,
    "seconds": pl.Float64,
    "note": pl.String,
}
"""`sampling_error` is the part of mse_individual that comes from values being means of a few rollouts, in the world and
in the model; `seconds` are those of all models fitted together over their number."""


@dataclass(frozen=True)
class Balance(Experiment):
    """Sweeps of one factor at a time. All models of a point get the same log and the same random numbers."""

    individuals: int
    """How many logged initial states are judged at most."""
    rollouts: int
    """How many rollouts from each of these states give its true value, in a world with noise."""
    model_rollouts: int
    """How many rollouts give its value in a model that draws at random."""
    base: Point
    sweeps: tuple[Sweep, ...]
    paper: dict[str, PaperSettings]
    """The settings of the published network in each world."""
    residual: NetworkSettings

    schema = _ROWS
    hidden = SETTINGS

    @property
    def usual_runs(self) -> int:
        return 30

    @property
    def points(self) -> dict[Point, tuple[str, ...]]:
        """Every point once, with the models of all sweeps that include it."""
        found: dict[Point, dict[str, None]] = {}
        for sweep in self.sweeps:
            for point in sweep.points():
                found.setdefault(point, {}).update(dict.fromkeys(sweep.models))
        return {point: tuple(models) for point, models in found.items()}

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(point.against(self.base) for point in self.points)

    def worker(self) -> Worker:
        needs_networks()
        points, policies = list(self.points.items()), Policies()
        problems = [_problem(point, policies) for point, _ in points]

        def work(task: Task, seed: int, announce: Announce) -> pl.DataFrame:
            point, models = points[task.part]
            objectives = [checked_objective(model, self.name) for model in models]
            head = {"run": task.run, "part": task.part, "seed": seed, **asdict(point)}
            rows = self._compared(problems[task.part], point, objectives, seed, announce)
            return pl.DataFrame([head | row for row in rows], schema=self.schema)

        return work

    def table(self, rows: pl.DataFrame) -> pl.DataFrame:
        return gains(rows, self.parts)

    def _compared(
        self, problem: Problem, point: Point, objectives: list[Objective], seed: int, announce: Announce
    ) -> list[dict[str, Any]]:
        announce("the log")
        data = problem.log(point.episodes, stream(seed, "log"))
        case = Case.of(data, problem.policy, horizon=problem.horizon)
        starts = data.initial_observations[: self.individuals]
        announce("the truth")
        true = problem.truth(starts, seed, self.rollouts)
        rows = []
        for group in _together(point, objectives):
            announce(", ".join(objective.name for objective in group))
            began = time.perf_counter()
            fitted = self._fitted(case, point, group, problem.horizon, seed)
            found = [self._scored(model, problem, starts, true, seed) for model in fitted]
            seconds = (time.perf_counter() - began) / len(group)
            for objective, row in zip(group, found, strict=True):
                rows.append({"model": objective.name, "seconds": seconds, **row})
        return rows

    def _fitted(
        self, case: Case, point: Point, group: list[Objective], horizon: int, seed: int
    ) -> Sequence[Model | InputError]:
        if point.fit == "paper":
            from repbm.models import fit_paper  # loads a compiler

            settings = replace(self.paper.get(point.world, PaperSettings()), representation=point.units)
            try:
                return fit_paper(case.data, case.support, group, horizon, seed, settings)
            except InputError as fault:
                if len(group) == 1:
                    return [fault]
                return [self._fitted(case, point, [objective], horizon, seed)[0] for objective in group]
        try:
            return [self._one(case, point, objective, horizon, seed) for objective in group]
        except InputError as fault:
            return [fault]

    def _one(self, case: Case, point: Point, objective: Objective, horizon: int, seed: int) -> Model:
        if point.fit == "tabular":
            return fit_tabular(case.data, case.support, objective, horizon, UNLIMITED)
        if point.fit == "precise":
            return fit_closed_form(case.data, case.support, objective, horizon, seed, rules=UNLIMITED)
        settings = replace(self.residual, hidden=point.units)
        return fit_network(case.data, case.support, objective, horizon, seed, settings)

    def _scored(
        self, model: Model | InputError, problem: Problem, starts: np.ndarray, true: Truth, seed: int
    ) -> dict[str, Any]:
        mean = float(true.values.mean())
        nothing = {"value": None, "truth": mean, "error_mean": None, "mse_individual": None, "sampling_error": None}
        if isinstance(model, InputError):
            return nothing | {"note": str(model)}
        draws = self.model_rollouts if model.stochastic else 1
        # All draws side by side: one long batch, not many short ones.
        several = np.repeat(starts, draws, axis=0)
        rolled = model.values(problem.policy, several, horizon=problem.horizon, rollouts=1, seed=seed).values
        found = rolled.reshape(-1, draws)
        values = found.mean(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            square = float(((values - true.values) ** 2).mean())
        if not np.isfinite(square):
            return nothing | {"note": "not defined: rollouts in the model leave the range of numbers"}
        own = float(found.var(axis=1, ddof=1).mean() / draws) if draws > 1 else 0.0
        value = float(values.mean())
        return {
            "value": value,
            "truth": mean,
            "error_mean": value - mean,
            "mse_individual": square,
            "sampling_error": true.error + own,
            "note": "",
        }


def _problem(point: Point, policies: Policies) -> Problem:
    if point.world == "tabular":
        return Tabular.of(point.epsilon)
    return Simulated.of(policies, point.world, point.behavior, point.epsilon, point.noise)


def _together(point: Point, objectives: list[Objective]) -> list[list[Objective]]:
    """What is trained in one compiled call: published networks, those with a costly distance apart from the others.

    Training takes the time of all distances in the call; which models share a call changes no result.
    """
    if point.fit != "paper":
        return [[objective] for objective in objectives]
    groups: dict[Any, list[Objective]] = {}
    for objective in objectives:
        cheap = not objective.balances or isinstance(objective.ipm, LinearMMD)
        groups.setdefault(None if cheap else objective.ipm, []).append(objective)
    return list(groups.values())


def balance_of(given: Mapping[str, Any], name: str, where: str) -> Balance:
    """The experiment with these settings."""
    counts = {"individuals": 1, "rollouts": 2, "model_rollouts": 2}
    kinds = dict.fromkeys(counts, int) | {"models": list, "base": dict, "sweeps": list}
    found = values(given, kinds | {"paper": dict, "residual": dict}, where, kinds)
    # One rollout does not show how far its value may be off.
    for key, least in counts.items():
        if found[key] < least:
            raise InputError(f"{key} = {found[key]} makes no experiment", where=where)
    base = base_of(found["base"], f"{where}, [base]")
    models = several(found["models"], str, "models", where)
    place = f"{where}, [[sweeps]]"
    sweeps = [sweep_of(value(sweep, dict, "sweeps", where), base, models, place) for sweep in found["sweeps"]]
    names = [sweep.name for sweep in sweeps]
    if not names or len(set(names)) < len(names):
        raise InputError("no sweeps, or two of one name", where=where, fix="give every sweep its name")
    papers = found.get("paper", {})
    for world in papers:
        one_of(world, WORLDS, "world", f"{where}, [paper]")
    return Balance(
        name=name,
        individuals=found["individuals"],
        rollouts=found["rollouts"],
        model_rollouts=found["model_rollouts"],
        base=base,
        sweeps=tuple(sweeps),
        paper={world: settings(PaperSettings, papers[world], f"{where}, [paper.{world}]") for world in papers},
        residual=settings(NetworkSettings, found.get("residual", {}), f"{where}, [residual]"),
    )
