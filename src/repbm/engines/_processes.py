"""Tasks in several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection, wait
from pathlib import Path
from pickle import PickleBuffer
from typing import Any

from repbm.core import InputError, partial_folder, writing
from repbm.engines._engine import Done, Engine, Note, R, S, T, Work
from repbm.engines._in_process import InProcess
from repbm.engines._packing import mapped_buffers, packed, packed_job, sendable, unpacked, write_buffers
from repbm.engines._queue import LostWorker, Queue
from repbm.engines._work import Worker, one_thread_compiler, one_thread_here, with_trace

# Processes that each use all cores are slower than one: every one gets a single thread.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

_STILLBORN = 3
"""After so many processes in a row that never began, none more is started."""


class Processes(Engine):
    """Tasks in processes side by side, as many as this process may use cores unless `workers` says how many.

    Processes stay until `close`. What tasks share lies in a file that all of them map into memory. As always with
    processes in Python, a program that uses them does its work under `if __name__ == "__main__":`.
    """

    name = "processes"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or _cores()
        self._idle: list[_Process] = []
        self._busy: dict[Connection, _Process] = {}

    def map(
        self, begin: Callable[[S], Work[T, R]], tasks: Sequence[T], *, shared: S, note: Note = lambda said: None
    ) -> Generator[Done[R]]:
        if len(tasks) < 2:
            yield from InProcess().map(begin, tasks, shared=shared, note=note)
            return
        one_thread_compiler()
        with _shared_file(*packed_job(begin, shared)) as job:
            yield from self._mapped(job, tasks, note)

    def _mapped(self, job: bytes, tasks: Sequence[Any], note: Note) -> Generator[Done[Any]]:
        queue, stillborn = Queue(len(tasks), self.retries), 0
        busy = self._busy
        told: set[Connection] = set()
        try:
            while queue.waiting or busy:
                while queue.waiting and len(busy) < (self.workers or 1):
                    worker, index = self._idle.pop() if self._idle else _Process(), queue.next()
                    busy[worker.pipe] = worker
                    worker.give(index, tasks[index], None if worker.pipe in told else job)
                    told.add(worker.pipe)
                for pipe in [one for one in wait(list(busy)) if isinstance(one, Connection)]:
                    worker = busy[pipe]
                    said = worker.heard()
                    if said is not None and said[0] != "done":
                        if said[0] == "note":
                            note(said[1])
                        continue
                    del busy[pipe]
                    if said is None:
                        worker.end()
                        told.discard(pipe)
                        stillborn = 0 if worker.began else stillborn + 1
                        if stillborn >= _STILLBORN:
                            raise InputError(
                                "processes end before they begin",
                                fix='do the work of a script under `if __name__ == "__main__":`',
                            )
                        ended = queue.ended(worker.index, None, LostWorker(f"its process ended ({worker.code})"))
                    else:
                        stillborn = 0
                        self._idle.append(worker)
                        ended = queue.ended(worker.index, *said[1:])
                    if ended is not None:
                        yield ended
        finally:
            # Nobody waits any more for what these do.
            self._end_busy()

    def _end_busy(self) -> None:
        while self._busy:
            self._busy.popitem()[1].end()

    def close(self) -> None:
        self._end_busy()
        while self._idle:
            self._idle.pop().end()


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Process:
    """A process, as seen from here: one task at a time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        with _environment(_ONE_THREAD), _deaf():
            self._process.start()
        other.close()
        self.index, self.began = -1, False

    def give(self, index: int, task: Any, job: bytes | None) -> None:
        self.index = index
        try:
            self.pipe.send_bytes(packed((job, packed(task))))
        except (BrokenPipeError, ConnectionResetError):
            return  # it is gone: heard of when it is asked

    def heard(self) -> tuple[Any, ...] | None:
        """("ready",) at first; ("note", what), ("done", value, error); None where the process is gone."""
        try:
            said = unpacked(self.pipe.recv_bytes())
        except (EOFError, OSError):
            return None
        self.began = True
        return said

    @property
    def code(self) -> str:
        code = self._process.exitcode
        return "no exit code" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self.pipe.close()


def _serve(pipe: Connection) -> None:
    """In a process: do tasks until the other end closes. Ctrl-C is for the other end to hear."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    one_thread_here()
    worker: Worker | None = None
    pipe.send_bytes(packed(("ready",)))
    while True:
        try:
            job, task = unpacked(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        if job is not None:
            worker = Worker(lambda job=job: _begun(job))
        assert worker is not None
        pipe.send_bytes(_answer(worker, task, lambda said: pipe.send_bytes(packed(("note", said)))))


def _answer(worker: Worker, task: bytes, note: Note) -> bytes:
    try:
        value, error = worker.do(unpacked(task), note)
        if error is None:
            return packed(("done", value, None))
    except Exception as fault:  # a task, or a value, that does not travel
        error = fault
    return packed(("done", None, sendable(with_trace(error))))


def _begun(job: bytes) -> Work[Any, Any]:
    path, places, rest = unpacked(job)
    begin, shared = unpacked(rest, mapped_buffers(path, places))
    return begin(shared)


@contextmanager
def _shared_file(rest: bytes, buffers: Sequence[PickleBuffer]) -> Iterator[bytes]:
    """What processes need to begin; arrays are in a file meanwhile."""
    temporary = Path(tempfile.gettempdir())
    with ExitStack() as stack:
        with writing(temporary):
            # What a killed program left there is removed; nobody else may look into it.
            path = stack.enter_context(partial_folder(temporary, 0o700)) / "shared"
            places = write_buffers(path, buffers)
        yield packed((path, places, rest))


def _end_with_parent() -> None:
    """Stop this process when its parent is gone: one that was killed could not stop it, and nobody listens."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that start meanwhile do not hear Ctrl-C, not even before their first line; this one does, later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for the process that starts meanwhile; those of this process come back afterwards."""
    earlier = {key: os.environ.get(key) for key in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for key, value in earlier.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value
