"""Tasks on a Ray cluster, or on a Ray of our own on this machine."""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from repbm.core import InputError, optional
from repbm.engines._engine import Done, Engine, Note, R, S, T, Work
from repbm.engines._in_process import InProcess
from repbm.engines._packing import packed, packed_job, sendable, unpacked
from repbm.engines._queue import LostWorker, Queue
from repbm.engines._work import Worker, one_thread_here, with_trace


class Ray(Engine):
    """Tasks on Ray, one CPU each, at most `workers` side by side.

    `address` is that of a cluster that is running; else the environment variable `RAY_ADDRESS` is; else a Ray starts on
    this machine, with `workers` CPUs, and ends with `close`. One that this program has joined already is used as it is.
    What tasks share lies in Ray's object store, once a machine. Every machine needs the same version of this package.
    """

    name = "ray"

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.workers, self.address = workers, address
        self._joined: Any = None
        self._ours = False

    def map(
        self, begin: Callable[[S], Work[T, R]], tasks: Sequence[T], *, shared: S, note: Note = lambda said: None
    ) -> Generator[Done[R]]:
        if len(tasks) < 2:
            yield from InProcess().map(begin, tasks, shared=shared, note=note)
            return
        one_thread_here()
        rest, buffers = packed_job(begin, shared)
        ray = self._join()
        job = ray.put((rest, [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]))
        # Ray itself tries nothing again: we do, and count.
        remote = ray.remote(num_cpus=1, max_retries=0)(_do)
        key, queue, running = uuid.uuid4().hex, Queue(len(tasks), self.retries), {}
        try:
            while queue.waiting or running:
                while queue.waiting and (self.workers is None or len(running) < self.workers):
                    index = queue.next()
                    running[remote.remote(key, [job], packed(tasks[index]))] = index
                for reference in ray.wait(list(running))[0]:
                    ended = queue.ended(running.pop(reference), *_result(ray, reference))
                    if ended is not None:
                        yield ended
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    def _join(self) -> Any:
        if self._joined is None:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            ray = optional("ray", "ray")
            if not ray.is_initialized():
                self._start(ray, self.address or os.environ.get("RAY_ADDRESS") or "local")
                self._ours = True
            self._joined = ray
        return self._joined

    def _start(self, ray: Any, address: str) -> None:
        given = {"num_cpus": self.workers, "include_dashboard": False} if address == "local" else {}
        try:
            _reach(address)
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **given)
        except (OSError, ValueError, RuntimeError) as fault:
            reason = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
            raise InputError(
                f"no Ray cluster is joined ({reason})", where=address, fix="check the address, or leave it out"
            ) from fault

    def close(self) -> None:
        if self._ours:
            self._joined.shutdown()
        self._joined, self._ours = None, False


def _reach(address: str) -> None:
    """Ray itself would try for minutes where nobody answers."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _result(ray: Any, reference: Any) -> tuple[Any, Exception | None]:
    try:
        return unpacked(ray.get(reference))
    except ray.exceptions.RayError as fault:
        reason = next(iter(str(fault).strip().splitlines()), "")
        return None, LostWorker(f"its machine or process ended ({type(fault).__name__}: {reason})")


_ready: tuple[str, Worker] | None = None
"""In a process of Ray: what does tasks, and whose."""


def _do(key: str, job: list[Any], task: bytes) -> bytes:
    """On Ray: the value and the error of a task."""
    global _ready
    if _ready is None or _ready[0] != key:
        _ready = None
        one_thread_here()
        _ready = key, Worker(lambda: _begun(job[0]))
    try:
        value, error = _ready[1].do(unpacked(task), lambda said: None)
        if error is None:
            return packed((value, None))
    except Exception as fault:  # a task, or a value, that does not travel
        error = fault
    return packed((None, sendable(with_trace(error))))


def _begun(reference: Any) -> Work[Any, Any]:
    rest, buffers = optional("ray", "ray").get(reference)
    begin, shared = unpacked(rest, buffers)
    return begin(shared)
