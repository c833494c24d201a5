"""A folder of results: replaced as a whole, file by file, and never one that is not ours.

New files are gathered in a hidden folder inside it. One rename declares them complete; from then on they are the
result, and whoever comes next finishes moving them. A killed run leaves the old result or the new one. Commands that
write to the same folder move their files one after the other, and nobody reads meanwhile: the last one stays.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from repbm.core import InputError, locked, partial_file, partial_folder, writing

RUN = "run.json"
"""What makes a folder ours; moved last."""
_COMPLETE = ".repbm.complete"
_LATER = ("report.html", "report.pdf")
"""Ours too, though made later, by `repbm report`."""
_NOBODYS = ("lost+found",)
"""What a file system puts at its root."""


def check_target(folder: Path) -> None:
    """Refuse a folder that cannot be written, or that holds anything but an earlier result of ours."""
    where = str(folder)
    with writing(where):
        folder = _resolved(folder)
        try:
            folder.stat()
        except (FileNotFoundError, NotADirectoryError):
            _check_parent(folder)
            return
        if not folder.is_dir():
            raise InputError("this is a file", where=where, fix="give a folder for --out")
        with partial_file(folder / RUN):
            pass  # it can be written
        with locked(folder):
            finish(folder)
            foreign = _foreign(folder)
        if foreign is not None:
            raise InputError(
                f"the folder holds other files ('{foreign}')", where=where, fix="give a new or an empty one"
            )


def replace_files(folder: Path, files: Mapping[str, Callable[[Path], object]]) -> None:
    """Let each function write the file of its name, and put them all in the place of an earlier result."""
    check_target(folder)
    with writing(folder):
        folder = _resolved(folder)
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with partial_folder(folder) as fresh:
                for name, write in files.items():
                    (fresh / name).parent.mkdir(exist_ok=True)
                    write(fresh / name)
                with locked(folder):
                    finish(folder)  # another command may have come first
                    fresh.rename(folder / _COMPLETE)
                    finish(folder)
        except BaseException:
            for path in made:
                if path.is_dir() and not any(path.iterdir()):
                    path.rmdir()
            raise


def finish(folder: Path) -> None:
    """Do what a killed run left to do: move the files of a complete result to their places."""
    with locked(folder):
        _finish(folder, folder / _COMPLETE)


def _finish(folder: Path, fresh: Path) -> None:
    if not fresh.is_dir():
        return
    new = files_in(fresh)
    if new is not None:
        for name in (files_in(folder) or set()) - new:
            (folder / name).unlink(missing_ok=True)
        plots = folder / "plots"
        if plots.is_dir() and not any(plots.iterdir()):
            plots.rmdir()
        for name in sorted(new, key=lambda name: name == RUN):
            if (fresh / name).exists():
                (folder / name).parent.mkdir(exist_ok=True)
                (fresh / name).replace(folder / name)
    shutil.rmtree(fresh, ignore_errors=True)


def files_in(folder: Path) -> set[str] | None:
    """The names of our files in a folder, as its `run.json` says; None where it is not ours."""
    try:
        run: Any = json.loads((folder / RUN).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(run, dict) or run.get("program") != "repbm" or not isinstance(run.get("files"), list):
        return None
    return {name for name in run["files"] if isinstance(name, str) and _is_within(name)}


def _is_within(name: str) -> bool:
    """A file of the folder itself, or of a folder in it: nothing that leads elsewhere."""
    parts = PurePosixPath(name).parts
    return 1 <= len(parts) <= 2 and ".." not in parts and "/" not in parts and "\\" not in name and "\0" not in name


def _foreign(folder: Path) -> str | None:
    """The name of a file there that is not ours. Hidden files stay as they are, so they do not count."""
    ours = files_in(folder) or set()
    known = ours | set(_LATER) if ours else ours
    for child in sorted(folder.iterdir()):
        if child.name in known or child.name in _NOBODYS or child.name.startswith("."):
            continue
        if not child.is_dir() or child.is_symlink():
            return child.name
        for inner in sorted(child.iterdir()):
            if f"{child.name}/{inner.name}" not in ours:
                return f"{child.name}/{inner.name}"
    return None


def _check_parent(folder: Path) -> None:
    """The next folder above must be one, and let us write."""
    parent = folder.parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise InputError("this is a file", where=str(parent), fix="choose another --out")
    with writing(parent), partial_file(parent / folder.name):
        pass


def _resolved(folder: Path) -> Path:
    """Where links lead."""
    try:
        return folder.resolve()
    except RuntimeError as fault:
        raise InputError("the link leads to itself", where=str(folder), fix="choose another --out") from fault
