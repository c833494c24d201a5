"""What every experiment is: independent tasks that give rows, and a table made of all of them."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from repbm.core import InputError

Announce = Callable[[str], None]
"""Called by a task with what it does next; how many tasks are done is for `Progress` to say."""


@dataclass(frozen=True)
class Task:
    """Part `part` of run `run`: done alone, in any order."""

    run: int
    part: int = 0


Worker = Callable[[Task, int, Announce], pl.DataFrame]
"""(task, seed of its run, announce) -> the rows of the task.

The same task and seed give the same rows, except for how many seconds they took.
"""


@dataclass(frozen=True)
class Experiment(ABC):
    """What is repeated, how one task of it is done, and how the table of all rows is made.

    Rows are stored as tasks finish, each with its `run`, and with its `part` where a run has several.
    """

    name: str
    schema: ClassVar[dict[str, Any]]
    """The columns of stored rows."""
    hidden: ClassVar[tuple[str, ...]] = ()
    """Columns of the table that are not printed: another column says the same."""

    @property
    def usual_runs(self) -> int:
        """How many runs make the whole experiment."""
        return 100

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts of a run; one empty name where a run is a single task."""
        return ("",)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the numbers depend on."""
        return ()

    @abstractmethod
    def worker(self) -> Worker:
        """The function that does the tasks. What they share is loaded here: if it is missing, no work is lost."""

    @abstractmethod
    def table(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The result: a function of the rows, and of published figures where there are some."""

    def tasks(self, runs: int) -> list[Task]:
        """Run by run, so that an experiment that is stopped has as many runs of every part."""
        return [Task(run, part) for run in range(runs) for part in range(len(self.parts))]


def fingerprint(experiment: Experiment) -> str:
    """SHA-256 of everything that the numbers depend on: the spec, and the files it names.

    Settings at their defaults are left out: a setting that is added later does not make stored runs another experiment.
    """
    digest = hashlib.sha256(json.dumps(experiment, default=_changed_settings, sort_keys=True).encode())
    for file in experiment.files:
        try:
            digest.update(file.read_bytes())
        except OSError as fault:
            raise InputError(f"cannot be read ({fault.strerror})", where=str(file), code="file") from fault
    return digest.hexdigest()


def _changed_settings(spec: Any) -> dict[str, Any]:
    """The fields of a spec, or of a part of one, that are not at their defaults."""
    given = {field: getattr(spec, field.name) for field in fields(spec)}
    return {field.name: value for field, value in given.items() if value != field.default}
