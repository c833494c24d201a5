"""Which task comes next, and whether one that failed is tried again."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from repbm.core import InputError
from repbm.engines._engine import Done

_LOSSES = 5
"""So often a task may lose its worker: a machine that is taken away is no fault of the task; one too small is."""


class LostWorker(RuntimeError):
    """The process or the machine that did a task ended before it: killed, out of memory, switched off."""


class Queue:
    """The numbers of the tasks that wait."""

    def __init__(self, count: int, retries: int) -> None:
        self.waiting = deque(range(count))
        self._retries, self._failed = retries, Counter[tuple[int, bool]]()

    def next(self) -> int:
        return self.waiting.popleft()

    def ended(self, index: int, value: Any, error: Exception | None) -> Done[Any] | None:
        """The task with its result; None where it waits once more."""
        if error is None:
            return Done(index, value)
        lost = isinstance(error, LostWorker)
        self._failed[index, lost] += 1
        if isinstance(error, InputError) or self._failed[index, lost] > (_LOSSES if lost else self._retries):
            return Done(index, error=error)
        self.waiting.append(index)
        return None
