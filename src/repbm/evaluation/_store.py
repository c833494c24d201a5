"""Results on disk: a whole folder or nothing."""

from __future__ import annotations

import hashlib
import json
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

_FILES = ("estimates.csv", "individuals.csv", "diagnostics.csv", "ranking.csv", "run.json", "report.html", "plots")


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
    folder: Path, tables: Mapping[str, pl.DataFrame], run: Mapping[str, Any], further: Mapping[str, bytes]
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
        (fresh / "run.json").write_text(json.dumps(run, indent=2) + "\n")
        for name, content in further.items():
            (fresh / name).parent.mkdir(exist_ok=True)
            (fresh / name).write_bytes(content)
        fresh.chmod(0o755)
        _replace(folder, fresh)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", where=str(folder)) from fault
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


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
