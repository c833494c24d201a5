"""Independent tasks in several processes, one thread each."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

# Processes that each use all cores are slower than one: every one gets a single thread.
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}

_work: Callable[[Any], Any] | None = None
"""In a process of the pool: the function that does its tasks."""


def in_processes(make: Callable[[], Callable[[T], R]], tasks: Sequence[T], workers: int) -> Iterator[tuple[T, R]]:
    """Every task with its result, in the order in which they finish.

    Each process calls `make` once, and does its tasks with the function that `make` returns. Only `make`, tasks and
    results are pickled; that function need not be. The first task that raises ends the iteration; tasks that have
    begun are still finished.
    """
    if not tasks:
        return
    context = multiprocessing.get_context("spawn")
    with _environment(_ONE_THREAD), ProcessPoolExecutor(min(workers, len(tasks)), context, _begin, (make,)) as pool:
        waiting = {pool.submit(_do, task): task for task in tasks}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(make: Callable[[], Callable[[Any], Any]]) -> None:
    global _work
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _work = make()


def _end_with_parent() -> None:
    """Stop this worker when its parent is gone: one that was killed could not stop it, and nobody reads its results."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(task: Any) -> Any:
    assert _work is not None
    return _work(task)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for the processes that start meanwhile; those of this process come back afterwards."""
    earlier = {key: os.environ.get(key) for key in values}
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ.update({**values, "XLA_FLAGS": f"{flags} {values.get('XLA_FLAGS', '')}".strip()})
    try:
        yield
    finally:
        for key, value in earlier.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value
