"""Errors of estimators: a log to collect, a policy to evaluate, models to fit, rows to fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from repbm.core import InputError, needs_networks
from repbm.core._toml import one_of, parsed, read_text, settings, several, values
from repbm.domains import HIV, CartPole, MountainCar, Simulator, benchmark_policy
from repbm.experiments._experiment import Experiment, Worker
from repbm.experiments._fidelity import Fidelity
from repbm.experiments._objectives import named_objective
from repbm.experiments._published import published
from repbm.experiments._rows import ROWS, SCHEMA, critic_of, is_row
from repbm.experiments._source import source
from repbm.experiments._table import table
from repbm.models import PaperSettings
from repbm.policies import ObservationPolicy
from repbm.policies.adapters import as_policy

SPECS = ("cartpole-long", "cartpole-short", "mountaincar", "hiv", "alpha-long", "alpha-short")
"""The experiments that come with the package."""

_DOMAINS: dict[str, type[CartPole] | type[MountainCar] | type[HIV]] = {
    "cartpole": CartPole,
    "mountaincar": MountainCar,
    "hiv": HIV,
}


@dataclass(frozen=True)
class Spec(Experiment):
    """Errors of estimators over many logs.

    `policy` is the name of a benchmark policy, or a file as `repbm evaluate --policy` takes it.
    """

    domain: str
    policy: str
    episodes: int
    epsilon: float
    """The share of uniform draws in the behavior, which otherwise takes the most probable action of the policy."""
    horizon: int
    discount: float
    rows: tuple[str, ...]
    paper: PaperSettings
    published: str = ""
    """The name of the published figures that are shown beside ours."""
    relative: bool = False
    """Whether the table, and the published figures, are shares of the true value."""
    fidelity: Fidelity = Fidelity.CORRECTED

    schema = SCHEMA

    def __post_init__(self) -> None:
        one_of(self.domain, _DOMAINS, "domain", self.name)
        for row in (row for row in self.rows if not is_row(row)):
            one_of(row, ROWS, "row", self.name)
        wrong = {
            "rows": not self.rows or len(set(self.rows)) < len(self.rows),
            "episodes": self.episodes < 2,
            "epsilon": not 0 < self.epsilon <= 1,
            "horizon": self.horizon < 1,
            "discount": not 0 <= self.discount <= 1,
        }
        for key in (key for key, bad in wrong.items() if bad):
            raise InputError(f"{key} = {getattr(self, key)} makes no experiment", where=self.name)
        figures = published(self.published)["estimator"]
        if self.fidelity is Fidelity.AS_PUBLISHED:
            for row in self.rows:
                one_of(row, figures, "published row", self.name)

    def with_fidelity(self, word: str) -> Spec:
        """The experiment with estimators that are `corrected`, or `as-published`: then of the published rows alone."""
        one_of(word, Fidelity, "fidelity")
        fidelity = Fidelity(word)
        if fidelity is Fidelity.CORRECTED:
            return replace(self, fidelity=fidelity)
        figures = published(self.published)["estimator"]
        rows = tuple(row for row in self.rows if row in figures)
        if not rows:
            fix = "name published figures in the spec, or leave the fidelity out"
            raise InputError("there are no published figures for its rows", where=self.name, fix=fix)
        return replace(self, fidelity=fidelity, rows=rows)

    def world(self) -> Simulator:
        return _DOMAINS[self.domain](horizon=self.horizon)

    def evaluated(self) -> ObservationPolicy:
        policy = as_policy(self.policy) if _is_file(self.policy) else benchmark_policy(self.policy)
        if not isinstance(policy, ObservationPolicy):
            raise InputError(f"policy '{self.policy}' cannot act in a simulator", fix="give FILE.npz or FILE.py:NAME")
        return policy

    @property
    def files(self) -> tuple[Path, ...]:
        if not _is_file(self.policy):
            return ()
        path, colon, _ = self.policy.rpartition(":")
        return (Path(path if colon and path.endswith(".py") else self.policy),)

    def worker(self) -> Worker:
        # Imported here: that file imports this one.
        from repbm.experiments._run import run

        critics = [critic for row in self.rows if (critic := critic_of(row)) is not None]
        if any(named_objective(name) is not None for name, _ in critics):
            needs_networks()
        # Loaded once, so that code compiled for it serves all runs.
        policy = self.evaluated()
        return lambda task, seed, announce: run(self, seed, task.run, policy, announce)

    def table(self, rows: pl.DataFrame) -> pl.DataFrame:
        return table(rows, published(self.published), self.relative)


def load_spec(name: str) -> Spec:
    """The experiment of this name, or the one in this TOML file."""
    text, called, where = source(name, SPECS)
    return spec_of(parsed(text, where), called, where)


def read_spec(path: Path) -> Spec:
    """The experiment that a TOML file describes, named like the file."""
    return spec_of(parsed(read_text(path), str(path)), path.stem, str(path))


def _is_file(policy: str) -> bool:
    return any(mark in policy for mark in ".:/\\")


def spec_of(given: Mapping[str, Any], name: str, where: str) -> Spec:
    """The experiment with these settings."""
    kinds = {"domain": str, "policy": str, "episodes": int, "epsilon": float, "horizon": int, "discount": float}
    optional = {"published": str, "relative": bool}
    needed = kinds | {"rows": list, "paper": dict}
    found = values(given, needed | optional, where, needed)
    rows = several(found.pop("rows"), str, "rows", where)
    return Spec(name=name, rows=rows, paper=settings(PaperSettings, found.pop("paper"), f"{where}, [paper]"), **found)
