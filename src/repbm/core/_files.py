"""Files that are written whole: whoever looks sees the old file or the new one, never a part."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from repbm.core._errors import InputError

_MARK = ".partial"


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, then move it to `path`; if that fails, what was at `path` stays.

    An `InputError` where it cannot be written.
    """
    path = Path(path)
    with writing(path), partial_file(path) as partial:
        write(partial)
        partial.replace(path)


@contextmanager
def partial_file(path: Path) -> Iterator[Path]:
    """A new empty file beside `path`, with the same ending; at the end of the block it is removed, unless it was moved.

    Making it before long work shows that its result can be written.
    """
    partial = path.with_name(f".{path.stem}.{secrets.token_hex(4)}{_MARK}{path.suffix}")
    partial.touch(exist_ok=False)
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


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
