"""Where the rows of an experiment are kept: after every finished run, so that a killed experiment resumes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from repbm._version import __version__
from repbm.core import InputError
from repbm.experiments._published import published
from repbm.experiments._run import SCHEMA, run, seed_of
from repbm.experiments._spec import Spec, fingerprint
from repbm.experiments._table import table

Progress = Callable[[str, int, int], None]
"""Told the row at work, how many of the runs to do are done, and of how many."""


@dataclass(frozen=True)
class Store:
    """A folder with `spec.json` (spec, its hash, seed, version), `runs.parquet` (the rows) and `table.csv`."""

    folder: Path
    spec: Spec
    seed: int

    def open(self) -> pl.DataFrame:
        """Make the folder, or take up the one that is there: its rows so far. One of another experiment is refused."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self._spec.exists():
                foreign = sorted(child.name for child in self.folder.iterdir() if not child.name.endswith(".partial"))
                if foreign:
                    raise self._refused(f"the folder holds other files ('{foreign[0]}')")
                self._replace(self._spec, lambda path: path.write_text(json.dumps(self._account(), indent=2) + "\n"))
            self._check()
            return self.rows()
        except OSError as fault:
            raise InputError(f"cannot be written ({fault.strerror})", where=str(self.folder)) from fault

    def rows(self) -> pl.DataFrame:
        """All rows so far, run by run."""
        if not self._runs.exists():
            return pl.DataFrame(schema=SCHEMA)
        try:
            return pl.read_parquet(self._runs).select(pl.col(key).cast(kind) for key, kind in SCHEMA.items())
        except pl.exceptions.PolarsError as fault:
            raise self._refused("runs.parquet is not one of ours") from fault

    def append(self, rows: pl.DataFrame) -> None:
        """Keep the rows of a run, in place of any it had: all of them or none."""
        earlier = self.rows().filter(~pl.col("run").is_in(rows["run"].unique().to_list()))
        together = pl.concat([earlier, rows]).sort("run", maintain_order=True)
        self._written(self._runs, together.write_parquet)

    def write_table(self) -> pl.DataFrame:
        made = table(self.rows(), published(self.spec.published), self.spec.relative)
        self._written(self.folder / "table.csv", made.write_csv)
        return made

    def same_version(self) -> None:
        """Refuse to add runs to those of another version: its numbers may differ."""
        version = json.loads(self._spec.read_text()).get("version")
        if version != __version__:
            raise self._refused(f"its runs were made by version {version}, this is {__version__}")

    @property
    def _spec(self) -> Path:
        return self.folder / "spec.json"

    @property
    def _runs(self) -> Path:
        return self.folder / "runs.parquet"

    def _account(self) -> dict[str, Any]:
        sha = fingerprint(self.spec)
        return {"spec": asdict(self.spec), "sha256": sha, "seed": self.seed, "version": __version__}

    def _check(self) -> None:
        try:
            stored = json.loads(self._spec.read_text())
            sha, seed = stored["sha256"], stored["seed"]
        except (ValueError, KeyError, TypeError) as fault:
            raise self._refused("spec.json is not one of ours") from fault
        if sha != fingerprint(self.spec):
            raise self._refused("the folder holds runs of another spec")
        if seed != self.seed:
            raise self._refused(f"the folder holds runs of seed {seed}, not {self.seed}")

    def _refused(self, what: str) -> InputError:
        return InputError(what, where=str(self.folder), fix="give another folder")

    def _written(self, path: Path, write: Callable[[Path], Any]) -> None:
        try:
            self._replace(path, write)
        except OSError as fault:
            raise InputError(f"cannot be written ({fault.strerror})", where=str(path)) from fault

    @staticmethod
    def _replace(path: Path, write: Callable[[Path], Any]) -> None:
        """Write beside the file, then rename: whoever looks sees the old file or the new, never a part."""
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            write(partial)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def reproduce(spec: Spec, runs: int, folder: str | Path, seed: int = 0, progress: Progress | None = None) -> Store:
    """Make the runs 0 ... runs - 1 that the folder does not hold yet, and its table."""
    store = Store(Path(folder), spec, seed)
    policy = spec.evaluated()
    finished = set(store.open()["run"].to_list())
    missing = [number for number in range(runs) if number not in finished]
    if missing:
        store.same_version()
    tell = progress or (lambda row, done, total: None)
    for done, number in enumerate(missing):

        def told(row: str, done: int = done, number: int = number) -> None:
            tell(f"run {number + 1} of {runs}: {row}", done, len(missing))

        store.append(run(spec, seed_of(seed, number), number, policy, told))
    store.write_table()
    return store
