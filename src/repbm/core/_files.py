"""Files that are written whole: whoever looks sees the old file or the new one, never a part."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from repbm.core._errors import InputError

try:
    import fcntl
except ImportError:  # Windows: what a killed program left there stays
    fcntl = None

_MARK = ".partial"
_LONGEST = 40
"""Characters of a name that the hidden file keeps: with its mark it must not become too long."""


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, then move it to `path`; if that fails, what was at `path` stays.

    Where `path` is a link, the file that it points to is replaced. An `InputError` where it cannot be written.
    """
    with writing(path):
        real = Path(path).resolve()
        with partial_file(real) as partial:
            write(partial)
            partial.replace(real)


@contextmanager
def partial_file(path: Path) -> Iterator[Path]:
    """A new empty file beside `path`, with the same ending; at the end of the block it is removed, unless it was moved.

    Making it before long work shows that its result can be written. What killed programs left there is removed.
    """
    for left in _left(path.parent, path.stem, path.suffix):
        left.unlink(missing_ok=True)
    partial = path.with_name(_named(path.stem[:_LONGEST], secrets.token_hex(4), path.suffix))
    partial.touch(exist_ok=False)
    try:
        with _held(partial):
            yield partial
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """A new hidden folder in `folder`, removed at the end unless it was moved; older ones that were left are, too."""
    for left in _left(folder, "repbm"):
        shutil.rmtree(left, ignore_errors=True)
    partial = folder / _named("repbm", secrets.token_hex(4))
    partial.mkdir()
    try:
        with _held(partial):
            yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def is_partial(path: Path) -> bool:
    """Whether this is what a killed program left of `partial_file`."""
    return path.name.startswith(".") and _MARK in path.suffixes


@contextmanager
def writing(where: str | Path) -> Iterator[None]:
    """Turn an `OSError` of the block into the one line that users see."""
    try:
        yield
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror or fault})", where=str(where)) from fault


def _named(stem: str, token: str, suffix: str = "") -> str:
    return f".{stem}.{token}{_MARK}{suffix}"


def _left(folder: Path, stem: str, suffix: str = "") -> Iterator[Path]:
    """What killed programs left under such a name."""
    pattern = _named(escape(stem[:_LONGEST]), "[0-9a-f]" * 8, escape(suffix))
    return (path for path in folder.glob(pattern) if _abandoned(path))


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Locked until the end of the block, or of the process."""
    if fcntl is None:
        yield
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system knows locks
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)


def _abandoned(path: Path) -> bool:
    """Whether no living program holds this."""
    if fcntl is None:
        return False
    try:
        opened = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(opened)
    return True
