"""Faults of the machine, which no input is to blame for: one line, too."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
_NO_MEMORY = (
    "failed to map segment",
    "annot allocate memory",
    "RESOURCE_EXHAUSTED",
    "can't start new thread",
    "could not spawn threads",
)
"""What loaders of libraries, compilers and threads say."""
_TELLING = (ImportError.__name__, RuntimeError.__name__, "PanicException")
"""Errors, by name, that say it; the last one is of libraries written in Rust."""


def machine_fault(fault: BaseException) -> tuple[str, int] | None:
    """The line and the exit code for want of memory, of room on a disk, or of workers that live; else None."""
    # Nothing is loaded before this is known: there may be no memory for it.
    if any(_is_memory(each) for each in _chain(fault)):
        return "memory is used up; close other programs, or give less with --memory, or fewer --workers", 1
    from repbm.engines import LostWorker

    if isinstance(fault, LostWorker):
        return f"a task was given up: {fault}, every time; memory may be used up: give fewer --workers", 1
    if isinstance(fault, OSError) and fault.errno in _NO_ROOM:
        return f"{fault.filename or 'standard output'}: cannot be written ({fault.strerror})", 2
    return None


def end_output() -> None:
    """Let what is still to be printed go nowhere: there is no room for it, and the interpreter would try once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _is_memory(fault: BaseException) -> bool:
    if isinstance(fault, MemoryError) or (isinstance(fault, OSError) and fault.errno == errno.ENOMEM):
        return True
    kinds = {kind.__name__ for kind in type(fault).__mro__}
    return bool(kinds & set(_TELLING)) and any(word in str(fault) for word in _NO_MEMORY)


def _chain(fault: BaseException | None) -> Iterator[BaseException]:
    """A fault, and what it was raised from or while handling."""
    while fault is not None:
        yield fault
        fault = fault.__cause__ or fault.__context__
