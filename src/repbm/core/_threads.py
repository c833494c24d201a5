"""Which work is done in one thread, and which in several."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_MOST_AT_ONCE = 4
"""Whole tasks take memory, and turns at the interpreter: more of them at once are no faster."""

SHORT_LOG = 50_000
"""Of a log of so many steps all that is to be fitted may be in memory at once."""

_thread = threading.local()
_found: tuple[int, ThreadpoolController] | None = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are then the same on any machine, in any process, and small ones do not wait for each other.

    Several threads add up in another order, which changes last digits, and a fit may carry that far; where cores are
    shared they wait for minutes. The limit is one of the libraries that are loaded by then. To look for those takes
    milliseconds, and fits are many: they are looked for again only when modules were loaded since.
    """
    global _found
    loaded = len(sys.modules)
    if _found is None or _found[0] != loaded:
        _found = loaded, ThreadpoolController()
    with _found[1].limit(limits=1):
        yield


def in_threads(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """`work` on every item, results in order: for work that lets go of the interpreter, and asks for no threads itself.

    What is worked out depends on the item alone, so numbers are those of one thread. Not for libraries with threads of
    OpenMP, such as boosted trees: a limit of these holds in the thread that asked for it, and they would start more.
    """
    return map(work, items) if getattr(_thread, "alone", False) else _threads().map(work, items)


def side_by_side(
    tasks: Iterable[Callable[[], _Result]], meanwhile: Callable[[], object] | None = None
) -> list[_Result]:
    """The results of tasks, in order; a few are done at once, each in one thread.

    What `in_threads` asks of work holds for them, too. A task is taken from `tasks` here, one more than are being done:
    what others must not do may be done there. With `meanwhile` all are taken at once, and while they are done, that is
    done here. After an error those that have not begun are left out, and the others waited for.
    """
    count = _few()
    if count == 1 or getattr(_thread, "alone", False):
        found = [task() for task in tasks]
        if meanwhile is not None:
            meanwhile()
        return found
    free, begun = threading.Semaphore(count), list[Future[_Result]]()
    with one_thread():  # or the last to end would set what the first found
        try:
            for task in tasks:
                if meanwhile is None:
                    free.acquire()
                begun.append(_few_threads().submit(_in_one_thread, task))
                begun[-1].add_done_callback(lambda _: free.release())
            if meanwhile is not None:
                meanwhile()
            return [one.result() for one in begun]
        finally:
            for one in begun:
                one.cancel()
            # What they limit is of the whole process: the last of them must not end after this.
            wait(begun)


def _in_one_thread(task: Callable[[], _Result]) -> _Result:
    with one_thread():
        return task()


def work_alone() -> None:
    """From now on this thread shares no work `in_threads`: others do as much at the same time, on other parts."""
    _thread.alone = True


@cache
def _threads() -> ThreadPoolExecutor:
    # One that waited for others of the same few threads would wait for itself.
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="repbm", initializer=work_alone)


def _few() -> int:
    return min(os.cpu_count() or 1, _MOST_AT_ONCE)


@cache
def _few_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_few(), thread_name_prefix="repbm-task", initializer=work_alone)
