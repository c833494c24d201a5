"""What an engine is: it does independent tasks, and hands over each result, or the task's own error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from repbm.core import InputError

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

Note = Callable[[Any], None]
"""Called by a task with what it does next; where a task runs far away, nobody may listen."""
Work = Callable[[T, Note], R]
"""Does one task."""


@dataclass(frozen=True)
class Done(Generic[R]):
    """A task that has ended: its number among the tasks, and its value or its error."""

    index: int
    value: R | None = None
    error: Exception | None = None

    def result(self) -> R:
        """The value; the error is raised."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value] - None is a value, too


class Engine(ABC):
    """Does independent tasks. The same tasks give the same results on every engine, with any number of workers.

    Tasks run with one thread each. One that fails is tried again `retries` times, unless its input is at fault; then
    its error is its result, and the others go on. What an engine has started ends with `close`, or at the end of a
    `with`.
    """

    name: str
    workers: int | None
    """How many tasks run side by side; None: as many as there is room for."""
    retries: int = 1

    @abstractmethod
    def map(
        self, begin: Callable[[S], Work[T, R]], tasks: Sequence[T], *, shared: S, note: Note = lambda said: None
    ) -> Generator[Done[R]]:
        """Every task as it ends, in any order.

        Where tasks run, `begin(shared)` is called once and gives the function that does them. `shared` goes there
        once, and its arrays are not copied a task; nobody may write to them. `note` is told what tasks say. To
        close the generator stops all tasks.
        """

    def close(self) -> None:  # noqa: B027 - most have started nothing
        """End what was started."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TasksFailed(RuntimeError):
    """Some tasks failed, each with an error of its own; the others were done."""

    def __init__(self, errors: Mapping[str, Exception], total: int) -> None:
        self.errors, self.total = dict(errors), total
        where, first = next(iter(errors.items()))
        super().__init__(f"{len(errors)} of {total} failed; {where}: {type(first).__name__}: {first}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.errors, self.total)


def raise_failed(errors: Mapping[str, Exception], total: int) -> None:
    """Nothing where nothing failed. What is wrong with the input is said as it is."""
    for error in errors.values():
        if isinstance(error, InputError):
            raise error
    if errors:
        raise TasksFailed(errors, total)


def in_order(done: Generator[Done[R]]) -> Generator[Done[R]]:
    """The same tasks in their order, each as soon as all before it have ended."""
    early: dict[int, Done[R]] = {}
    following = 0
    with closing(done):
        for one in done:
            early[one.index] = one
            while following in early:
                yield early.pop(following)
                following += 1


def all_values(done: Generator[Done[R]]) -> list[R]:
    """The values in the order of the tasks; the first error, in that order, is raised, and stops the rest."""
    with closing(in_order(done)) as ordered:
        return [one.result() for one in ordered]
