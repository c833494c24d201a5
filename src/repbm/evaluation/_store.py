"""Results as files, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from repbm._version import __version__
from repbm.core import InputError, as_json, locked, writing
from repbm.evaluation._folder import RUN, finish, replace_files
from repbm.logs import read_cells, write_cells

_TABLES = ("estimates", "individuals", "diagnostics", "ranking", "episodes")


def write(
    folder: Path,
    tables: Mapping[str, pl.DataFrame],
    run: Mapping[str, Any],
    details: Mapping[str, Any],
    further: Mapping[str, bytes | Callable[[Path], object]],
) -> None:
    """Everything into one folder: a killed run leaves the old result there, or the new."""
    names = [*(f"{name}.csv" for name in tables), "details.json", *further, RUN]
    run = {"program": "repbm", "files": sorted(names), **run}
    files: dict[str, Callable[[Path], object]] = {
        f"{name}.csv": partial(write_cells, frame) for name, frame in tables.items()
    }
    for name, content in (("details.json", details), (RUN, run)):
        files[name] = partial(_write_json, content)
    for name, content in further.items():
        files[name] = partial(_write_bytes, content) if isinstance(content, bytes) else content
    replace_files(folder, files)


def read(
    folder: Path, schemas: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, pl.DataFrame], dict[str, Any], dict[str, Any]]:
    """The tables, how they were made, and what a report shows beside them."""
    with locked(folder):
        return _read(folder, schemas)


def _read(
    folder: Path, schemas: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, pl.DataFrame], dict[str, Any], dict[str, Any]]:
    where = str(folder)
    run, details = read_run(folder), _json(folder, "details")
    tables = {}
    for name in _TABLES:
        schema = dict(schemas[name]) if name in schemas else {"episode": pl.String, "logged_return": pl.Float64}
        try:
            tables[name] = read_cells(folder / f"{name}.csv", schema)
        except (OSError, pl.exceptions.PolarsError) as fault:
            raise InputError(f"{name}.csv cannot be read", where=where, fix="evaluate again") from fault
        if tables[name].columns[: None if name in schemas else len(schema)] != list(schema):
            raise InputError(f"{name}.csv has other columns than it was written with", where=where)
    return tables, run, details


def read_run(folder: Path) -> dict[str, Any]:
    """How the result in a folder was made."""
    with writing(folder):
        finish(folder)
    run = _json(folder, "run")
    if not isinstance(run.get("arguments"), dict) or not isinstance(run.get("log_sha256"), str):
        fix = "give the folder that `repbm evaluate --out` wrote"
        raise InputError("its run.json is not one of ours", where=str(folder), fix=fix)
    if run.get("version") != __version__:
        what = f"this result is of version {run.get('version')}, this program is {__version__}"
        raise InputError(what, where=str(folder))
    return {key: value for key, value in run.items() if key not in ("program", "files")}


def _json(folder: Path, name: str) -> dict[str, Any]:
    try:
        content = json.loads((folder / f"{name}.json").read_text("utf-8"))
    except FileNotFoundError:
        fix = "give the folder that `repbm evaluate --out` wrote"
        raise InputError(f"there is no {name}.json in it", where=str(folder), fix=fix) from None
    except (OSError, ValueError, RecursionError) as fault:
        raise InputError(f"{name}.json cannot be read", where=str(folder), fix="evaluate again") from fault
    if not isinstance(content, dict):
        raise InputError(f"{name}.json is not one of ours", where=str(folder), fix="evaluate again")
    return content


def _write_bytes(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def _write_json(content: Mapping[str, Any], path: Path) -> None:
    path.write_text(as_json(content) + "\n", "utf-8")
