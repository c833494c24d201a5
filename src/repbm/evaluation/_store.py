"""Results on disk: a whole folder or nothing, and back."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from repbm.core import InputError
from repbm.data import Trajectories
from repbm.logs import files_of

_TABLES = ("estimates", "individuals", "diagnostics", "ranking", "episodes")
_FILES = (*(f"{name}.csv" for name in _TABLES), "run.json", "details.json", "report.html", "plots")


def check_target(folder: Path) -> None:
    """Refuse a folder that cannot be written, or that holds anything but an earlier result."""
    where = str(folder)
    try:
        if folder.exists():
            if not folder.is_dir():
                raise InputError("this is a file", where=where, fix="give a folder for --out")
            foreign = sorted(child.name for child in folder.iterdir() if child.name not in _FILES)
            if foreign:
                raise InputError(
                    f"the folder holds other files ('{foreign[0]}')",
                    where=where,
                    fix="give a new or an empty one",
                )
        parent = folder.absolute().parent
        while not parent.exists():
            parent = parent.parent
        if not parent.is_dir():
            raise InputError("this is a file", where=str(parent), fix="choose another --out")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise InputError("no permission to write here", where=str(parent), fix="choose another --out")
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", where=where) from fault


def write(
    folder: Path,
    tables: Mapping[str, pl.DataFrame],
    run: Mapping[str, Any],
    details: Mapping[str, Any],
    further: Mapping[str, bytes],
) -> None:
    """Write beside the folder, then move into its place: a killed run leaves the old result, the new, or none."""
    check_target(folder)
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent))
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", where=str(folder)) from fault
    try:
        for name, frame in tables.items():
            frame.write_csv(fresh / f"{name}.csv")
        for name, content in (("run", run), ("details", details)):
            (fresh / f"{name}.json").write_text(json.dumps(_plain(content), indent=2, allow_nan=False) + "\n")
        for name, content in further.items():
            (fresh / name).parent.mkdir(exist_ok=True)
            (fresh / name).write_bytes(content)
        fresh.chmod(0o755)
        _replace(folder, fresh)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", where=str(folder)) from fault
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def read(
    folder: Path, schemas: Mapping[str, Mapping[str, Any]], version: str
) -> tuple[dict[str, pl.DataFrame], dict[str, Any], dict[str, Any]]:
    """The tables, how they were made, and what a report shows beside them."""
    where = str(folder)
    run, details = (_json(folder, name) for name in ("run", "details"))
    if run.get("version") != version:
        raise InputError(f"this result is of version {run.get('version')}, this program is {version}", where=where)
    tables = {}
    for name in _TABLES:
        schema = dict(schemas[name]) if name in schemas else {"episode": pl.String, "logged_return": pl.Float64}
        try:
            # Empty notes and missing numbers are told apart by quotes.
            tables[name] = pl.read_csv(folder / f"{name}.csv", schema_overrides=schema, infer_schema_length=None)
        except (OSError, pl.exceptions.PolarsError) as fault:
            raise InputError(f"{name}.csv cannot be read", where=where, fix="evaluate again") from fault
        if name in schemas and tables[name].columns != list(schema):
            raise InputError(f"{name}.csv has other columns than it was written with", where=where)
    return tables, run, details


def _json(folder: Path, name: str) -> dict[str, Any]:
    try:
        return json.loads((folder / f"{name}.json").read_text("utf-8"))
    except FileNotFoundError:
        fix = "give the folder that `repbm evaluate --out` wrote"
        raise InputError(f"there is no {name}.json in it", where=str(folder), fix=fix) from None
    except (OSError, ValueError) as fault:
        raise InputError(f"{name}.json cannot be read", where=str(folder), fix="evaluate again") from fault


def _plain(content: Any) -> Any:
    """The content with nothing in place of numbers that JSON does not know."""
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content


def _replace(folder: Path, fresh: Path) -> None:
    """Put `fresh` in the place of `folder`; what was there comes back if that fails."""
    if not folder.exists():
        fresh.rename(folder)
        return
    old = fresh.with_suffix(".old")
    folder.rename(old)
    try:
        fresh.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def fingerprint(source: Path | Trajectories) -> str:
    """SHA-256 of a log: of the bytes of its file (or files, in order of name), or of its arrays."""
    digest = hashlib.sha256()
    if isinstance(source, Trajectories):
        columns = (source.observations, source.actions.codes, source.rewards, source.offsets, source.behavior)
        for array in columns:
            if array is not None:
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()
    for file in files_of(source):
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
