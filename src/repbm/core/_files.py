"""Files that are written whole: whoever looks sees the old file or the new one, never a part."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
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
_locked: ContextVar[frozenset[Path]] = ContextVar("locked", default=frozenset())
"""Folders that the calls in progress have locked: to lock one again would be to wait for oneself."""


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
    _clean(path.parent, path.stem, path.suffix)
    with _made(path.parent, path.stem, path.suffix, lambda new: new.touch(exist_ok=False)) as partial:
        try:
            yield partial
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def partial_folder(folder: Path, mode: int = 0o777) -> Iterator[Path]:
    """A new hidden folder in `folder`, removed at the end unless it was moved; older ones that were left are, too."""
    _clean(folder, "repbm")
    with _made(folder, "repbm", "", lambda new: new.mkdir(mode)) as partial:
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def locked(folder: Path, wait: bool = True) -> Iterator[None]:
    """No other program that asks for the same is in this block of its own meanwhile; nested blocks are one.

    It ends with the process, however that ends. Where `wait` is false, an `InputError` instead of waiting. Where there
    is no such folder, or its file system knows no locks, nothing is locked.
    """
    real = folder.resolve()
    if fcntl is None or real in _locked.get():
        yield
        return
    with ExitStack() as stack:
        with suppress(OSError):
            opened = os.open(real, os.O_RDONLY)
            stack.callback(os.close, opened)
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError as fault:
                fix = "wait until it has ended, or give another folder"
                raise InputError("another command is writing to it", where=str(folder), fix=fix) from fault
        token = _locked.set(_locked.get() | {real})
        stack.callback(_locked.reset, token)
        yield


def is_partial(path: Path) -> bool:
    """Whether this is what a killed program left of `partial_file`."""
    return path.name.startswith(".") and _MARK in path.suffixes


@contextmanager
def writing(where: str | Path) -> Iterator[None]:
    """Turn an `OSError` of the block into the one line that users see."""
    try:
        yield
    except InputError:
        raise
    except Exception as fault:
        told = _system_error(fault)
        if told is None:
            raise
        raise InputError(f"cannot be written ({told})", where=str(where)) from fault


def _system_error(fault: Exception) -> str | None:
    """What the system said; libraries written in Rust tell it in the text of errors of their own."""
    if isinstance(fault, OSError):
        return fault.strerror or str(fault)
    found = re.search(r"\(os error (\d+)\)", str(fault))
    return None if found is None else os.strerror(int(found[1]))


def _named(stem: str, token: str, suffix: str = "") -> str:
    return f".{stem}.{token}{_MARK}{suffix}"


@contextmanager
def _made(folder: Path, stem: str, suffix: str, make: Callable[[Path], object]) -> Iterator[Path]:
    """A new file or folder, locked until the end of the block, or of the process.

    Between its making and its locking another program may take it for one that was left: then another one is made.
    """
    while True:
        partial = folder / _named(stem[:_LONGEST], secrets.token_hex(4), suffix)
        make(partial)
        try:
            opened = _held(partial)
        except (BlockingIOError, FileNotFoundError):
            continue
        except OSError:  # not every file system knows locks
            opened = None
        break
    try:
        yield partial
    finally:
        if opened is not None:
            os.close(opened)


def _clean(folder: Path, stem: str, suffix: str = "") -> None:
    """Remove what killed programs left under such a name: what no living one holds."""
    for path in folder.glob(_named(escape(stem[:_LONGEST]), "[0-9a-f]" * 8, escape(suffix))):
        try:
            opened = _held(path)
        except OSError:
            continue
        if opened is None:
            continue
        try:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        finally:
            os.close(opened)


def _held(path: Path) -> int | None:
    """Open a file or folder and lock it; an `OSError` where another program holds it, or it is gone.

    None on systems without such locks.
    """
    if fcntl is None:
        return None
    opened = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(opened), path.stat()):
            raise FileNotFoundError(path)
    except OSError:
        os.close(opened)
        raise
    return opened
