"""Engines by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from repbm.core import InputError
from repbm.engines._engine import Engine
from repbm.engines._in_process import InProcess
from repbm.engines._processes import Processes
from repbm.engines._ray import Ray

P = ParamSpec("P")
R = TypeVar("R")

ENGINES = ("process", "processes", "ray")
"""In this process, in several, on Ray."""


def as_engine(name: str | None = None, workers: int | None = None, ray_address: str | None = None) -> Engine:
    """The engine of this name; without one, Ray where an address is given, processes where there are several workers,
    else this process."""
    if workers is not None and workers < 1:
        raise InputError(f"{workers} workers", fix="give 1 or more")
    if name is None:
        name = "ray" if ray_address else "processes" if (workers or 1) > 1 else "process"
    if ray_address and name != "ray":
        raise InputError(f"an address of Ray for the engine '{name}'", fix="use the engine 'ray'")
    if name == "process":
        if (workers or 1) > 1:
            raise InputError(f"{workers} workers in one process", fix="use the engine 'processes' or 'ray'")
        return InProcess()
    if name == "processes":
        return Processes(workers)
    if name == "ray":
        return Ray(workers, ray_address)
    raise InputError(f"there is no engine '{name}'", fix=f"use one of {', '.join(ENGINES)}")


@contextmanager
def opened(given: Engine | str | None) -> Iterator[Engine]:
    """An engine; one that is made here ends afterwards, one that was given stays."""
    if isinstance(given, Engine):
        yield given
        return
    with as_engine(given) as made:
        yield made


def opens_engine(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function take an engine, a name or nothing as `engine`; it sees an engine."""

    @wraps(function)
    def opening(*arguments: P.args, **options: P.kwargs) -> R:
        with opened(cast("Engine | str | None", options.get("engine"))) as running:
            return function(*arguments, **{**options, "engine": running})  # type: ignore[arg-type]

    return opening
