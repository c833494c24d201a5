"""Where the rows of an experiment are kept: after every finished run, so that a killed experiment resumes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from repbm._version import __version__
from repbm.core import InputError, Progress, as_json, is_partial, locked, silent, write_whole, writing
from repbm.engines import Engine, Note, opened, raise_failed
from repbm.experiments._experiment import Experiment, Task, fingerprint
from repbm.experiments._run import seed_of


@dataclass(frozen=True)
class Store:
    """A folder with `spec.json` (spec, its hash, seed, version), `runs.parquet` (the rows), `table.csv` and figures."""

    folder: Path
    spec: Experiment
    seed: int

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else adds runs meanwhile: rows that two commands add at the same time would replace each other's."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder, wait=False):
            yield

    def open(self) -> pl.DataFrame:
        """Make the folder, or take up the one that is there: its rows so far. One of another experiment is refused."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self._spec.exists():
                foreign = sorted(child.name for child in self.folder.iterdir() if not is_partial(child))
                if foreign:
                    raise self._refused(f"the folder holds other files ('{foreign[0]}')")
                write_whole(self._spec, lambda path: path.write_text(as_json(self.to_dict()) + "\n"))
            self._check()
            return self.rows()

    def rows(self) -> pl.DataFrame:
        """All rows so far, run by run."""
        schema = self.spec.schema
        if not self._runs.exists():
            return pl.DataFrame(schema=schema)
        try:
            return pl.read_parquet(self._runs).select(pl.col(key).cast(kind) for key, kind in schema.items())
        except pl.exceptions.PolarsError as fault:
            raise self._refused("runs.parquet is not one of ours") from fault

    def finished(self) -> set[Task]:
        """The tasks whose rows are kept."""
        return {Task(*key) for key in self.rows().select(self._key).unique().iter_rows()}

    def append(self, rows: pl.DataFrame) -> None:
        """Keep the rows of a task, in place of any it had: all of them or none."""
        earlier = self.rows().join(rows, on=self._key, how="anti", maintain_order="left")
        together = pl.concat([earlier, rows]).sort(self._key, maintain_order=True)
        write_whole(self._runs, together.write_parquet)

    def write_table(self) -> pl.DataFrame:
        made = self.spec.table(self.rows())
        write_whole(self.folder / "table.csv", made.write_csv)
        return made

    def write_figures(self, figures: Mapping[str, bytes]) -> None:
        """Keep figures, PNG files by name."""
        for name, png in figures.items():
            write_whole(self.folder / f"{name}.png", lambda path, png=png: path.write_bytes(png))

    def same_version(self) -> None:
        """Refuse to add runs to those of another version: its numbers may differ."""
        version = json.loads(self._spec.read_text()).get("version")
        if version != __version__:
            raise self._refused(f"its runs were made by version {version}, this is {__version__}")

    @property
    def _key(self) -> list[str]:
        """The columns that identify a task."""
        return [column for column in ("run", "part") if column in self.spec.schema]

    @property
    def _spec(self) -> Path:
        return self.folder / "spec.json"

    @property
    def _runs(self) -> Path:
        return self.folder / "runs.parquet"

    def to_dict(self) -> dict[str, Any]:
        """What `spec.json` holds."""
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


def reproduce(
    spec: Experiment,
    runs: int,
    folder: str | Path,
    seed: int = 0,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
) -> Store:
    """Do the tasks of runs 0 ... runs - 1 that the folder does not hold yet, and make its table.

    `engine` is where: an engine, or the name of one. Rows do not depend on it, except for how many seconds they took.
    They are kept as tasks finish, in a folder that no other command may write to meanwhile. Where some tasks fail, the
    others are done first, and `TasksFailed` tells which.
    """
    store = Store(Path(folder), spec, seed)
    spec.worker()
    with store.alone():
        _do_missing(store, runs, progress or silent, engine)
        store.write_table()
    return store


def _do_missing(store: Store, runs: int, progress: Progress, engine: Engine | str | None) -> None:
    spec, seed = store.spec, store.seed
    store.open()
    finished = store.finished()
    missing = [task for task in spec.tasks(runs) if task not in finished]
    if missing:
        store.same_version()
    done, failed = 0, dict[str, Exception]()
    with opened(engine) as running:

        def note(said: str) -> None:
            progress(said, done, len(missing))

        with closing(running.map(_begun, missing, shared=(spec, seed, runs), note=note)) as tasks:
            for ended in tasks:
                if ended.error is None:
                    store.append(ended.result())
                else:
                    failed[_place(spec, missing[ended.index], runs)] = ended.error
                done += 1
                note(f"{done} of {len(missing)} done")
    raise_failed(failed, len(missing))


def _begun(shared: tuple[Experiment, int, int]) -> Callable[[Task, Note], pl.DataFrame]:
    """What does the tasks, wherever that is."""
    spec, seed, runs = shared
    work = spec.worker()

    def rows(task: Task, note: Note) -> pl.DataFrame:
        place = _place(spec, task, runs)
        return work(task, seed_of(seed, task.run), lambda what: note(f"{place}: {what}"))

    return rows


def _place(spec: Experiment, task: Task, runs: int) -> str:
    part = spec.parts[task.part]
    return f"run {task.run + 1} of {runs}" + (f", {part}" if part else "")
