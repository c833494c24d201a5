"""Where a task is done: begun once, one thread, errors as values."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from typing import Any

from repbm.core import one_thread, work_alone
from repbm.engines._engine import Note, Work

_XLA = "--xla_cpu_multi_thread_eigen"


def one_thread_here() -> None:
    """For a process that does tasks beside others: each of them has its own processor, and no more."""
    one_thread_compiler()
    work_alone()


def one_thread_compiler() -> None:
    """Let compiled code add up in one thread, unless the user says otherwise; it reads this when it is first used."""
    flags = os.environ.get("XLA_FLAGS", "")
    if _XLA not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_XLA}=false".strip()


class Worker:
    """Does tasks with what `begin` makes of what they share."""

    def __init__(self, begin: Callable[[], Work[Any, Any]]) -> None:
        self._begin = begin
        self._work: Work[Any, Any] | None = None

    def do(self, task: Any, note: Note) -> tuple[Any, Exception | None]:
        """The value, or the error."""
        try:
            self._work = self._work or self._begin()
            with one_thread():
                return self._work(task, note), None
        except Exception as fault:
            return None, fault


def with_trace(fault: Exception) -> Exception:
    """The error with a note of where it arose, for those who see it elsewhere."""
    fault.add_note("".join(traceback.format_exception(fault)))
    return fault
