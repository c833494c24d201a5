"""Working ahead: the next parts of a log while somebody works on one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from repbm.core import work_alone

Result = TypeVar("Result")


def ahead(tasks: Iterable[Callable[[], Result]], at_once: int = 1) -> Iterator[Result]:
    """What these give, in order, whichever is done first; so many are worked on beside what the caller has.

    Where there are several, each has a thread for all that it does.
    """
    alone = work_alone if at_once > 1 else None
    with ThreadPoolExecutor(at_once, thread_name_prefix="repbm-ahead", initializer=alone) as workers:
        begun: deque[Future[Result]] = deque()
        for task in tasks:
            begun.append(workers.submit(task))
            if len(begun) > at_once:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
