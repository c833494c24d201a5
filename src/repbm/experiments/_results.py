"""Stored experiments, found again in a folder of folders."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from repbm.core import InputError
from repbm.experiments._experiment import Experiment
from repbm.experiments._fidelity import Fidelity
from repbm.experiments._load import load_experiment
from repbm.experiments._spec import Spec
from repbm.experiments._store import Store


@dataclass(frozen=True, eq=False)
class Result:
    """What is stored of an experiment of the package: the experiment, its rows, and what made them."""

    experiment: Experiment
    fidelity: Fidelity
    rows: pl.DataFrame
    seed: int
    version: str

    @property
    def table(self) -> pl.DataFrame:
        return self.experiment.table(self.rows)

    @property
    def kind(self) -> str:
        """The fidelity, and the policy where it is another than the experiment's own."""
        given = self.experiment.policy if isinstance(self.experiment, Spec) else None
        own = given is None or given == getattr(load_experiment(self.experiment.name), "policy", None)
        return self.fidelity.value if own else f"{self.fidelity.value} with {given}"

    @property
    def runs(self) -> int:
        """How many runs are stored."""
        return self.rows["run"].n_unique()


def read_results(folder: Path) -> list[Result]:
    """The experiments stored in the folders inside; an error where one is not ours, or has changed since."""
    found = [_read(file.parent) for file in sorted(folder.glob("*/spec.json"))]
    if not found:
        raise InputError("no experiment is stored in it", where=str(folder), fix="run `repbm reproduce` into it first")
    return found


def _read(folder: Path) -> Result:
    try:
        stored = json.loads((folder / "spec.json").read_text("utf-8"))
        name, seed, version = str(stored["spec"]["name"]), int(stored["seed"]), str(stored["version"])
        fidelity = Fidelity(stored["spec"].get("fidelity", Fidelity.CORRECTED))
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise InputError("spec.json is not one of ours", where=str(folder)) from fault
    experiment = load_experiment(name)
    if isinstance(experiment, Spec):
        experiment = experiment.with_fidelity(fidelity)
        policy = str(stored["spec"]["policy"])
        if policy != experiment.policy:
            # A policy of somebody else's: its file need not be here, the rows are.
            other = replace(experiment, policy=policy)
            return Result(other, fidelity, Store(folder, other, seed).rows(), seed, version)
    return Result(experiment, fidelity, Store(folder, experiment, seed).open(), seed, version)
