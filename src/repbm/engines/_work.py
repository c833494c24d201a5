"""Where a task is done: begun once, one thread, errors as values."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from repbm.engines._engine import Note, Work

_LINUX = hasattr(os, "sched_getaffinity")
_XLA = "--xla_cpu_multi_thread_eigen"


def one_thread_compiler() -> None:
    """Let compiled code add up in one thread, unless the user says otherwise; it reads this when it is first used."""
    flags = os.environ.get("XLA_FLAGS", "")
    if _XLA not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_XLA}=false".strip()


def spare_threads() -> int:
    """Threads for work that comes out the same with any number of them: one in a process that works beside others."""
    if multiprocessing.parent_process() is not None or "RAY_RAYLET_PID" in os.environ:
        return 1
    said = os.environ.get("OMP_NUM_THREADS", "")
    return max(int(said), 1) if said.isdecimal() else len(os.sched_getaffinity(0)) if _LINUX else os.cpu_count() or 1


class Worker:
    """Does tasks with what `begin` makes of what they share."""

    def __init__(self, begin: Callable[[], Work[Any, Any]]) -> None:
        self._begin = begin
        self._work: Work[Any, Any] | None = None

    def do(self, task: Any, note: Note) -> tuple[Any, Exception | None]:
        """The value, or the error.

        Linear algebra is done in one thread: sums that several add up differ in the last digits with their number.
        """
        try:
            self._work = self._work or self._begin()
            with threadpool_limits(1):
                return self._work(task, note), None
        except Exception as fault:
            return None, fault


def with_trace(fault: Exception) -> Exception:
    """The error with a note of where it arose, for those who see it elsewhere."""
    fault.add_note("".join(traceback.format_exception(fault)))
    return fault
