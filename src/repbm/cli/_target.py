"""The one file that a command writes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def target(out: Path, suffixes: tuple[str, ...], what: str) -> Iterator[Callable[[Callable[[Path], object]], None]]:
    """Refuse what cannot be written before anything is computed; then hand out how to write it.

    It is written beside `out`, then moved into its place: a stopped run leaves the old file, the new, or none.
    """
    from repbm.core import InputError

    if out.suffix.lower() not in suffixes:
        raise InputError(f"this is no name of a {what}", where=str(out), fix=f"let it end in {' or '.join(suffixes)}")
    folder = out.absolute().parent
    try:
        if out.is_dir():
            raise InputError("this is a folder", where=str(out), fix="name a file")
        if not folder.is_dir():
            raise InputError("there is no such folder", where=str(folder), fix="make it first")
        handle, name = tempfile.mkstemp(prefix=f".{out.name}.", suffix=f".partial{out.suffix}", dir=folder)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror or fault})", where=str(out)) from fault
    os.close(handle)
    partial = Path(name)

    def write(save: Callable[[Path], object]) -> None:
        try:
            save(partial)
            partial.chmod(0o644)
            partial.replace(out)
        except OSError as fault:
            raise InputError(f"cannot be written ({fault.strerror or fault})", where=str(out)) from fault

    try:
        yield write
    finally:
        partial.unlink(missing_ok=True)
