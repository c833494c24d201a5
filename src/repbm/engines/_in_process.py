"""One task after the other, here."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from repbm.engines._engine import Done, Engine, Note, R, S, T, Work
from repbm.engines._queue import Queue
from repbm.engines._work import Worker, one_thread_compiler


class InProcess(Engine):
    """Tasks are done in their order, each when it is asked for."""

    name = "process"
    workers = 1

    def map(
        self, begin: Callable[[S], Work[T, R]], tasks: Sequence[T], *, shared: S, note: Note = lambda said: None
    ) -> Generator[Done[R]]:
        one_thread_compiler()
        worker, queue = Worker(lambda: begin(shared)), Queue(len(tasks), self.retries)
        while queue.waiting:
            index = queue.next()
            ended: Done[Any] | None = queue.ended(index, *worker.do(tasks[index], note))
            if ended is not None:
                yield ended
