"""Types and shapes are checked at run time: the first calls of every function in a test, and then ever fewer.

Checking every call takes longer than the arithmetic itself, and the thousandth call of a loop tells no more than the
first ones. What is checked is made when a function is first called: many never are.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import jaxtyping

ALWAYS = 4
"""So many first calls of a function in a test are checked; after them the 8th, the 16th, and so on."""

_full = jaxtyping.jaxtyped
_calls: Counter[int] = Counter()
"""By the code of a function: one that is defined in another is a new object every time, and costly to check."""


def next_test() -> None:
    """Calls are counted from here on."""
    _calls.clear()


def jaxtyped(*, typechecker: Any) -> Callable[[Any], Any]:
    """In place of the decorator of that name, which checks every call."""
    make = _full(typechecker=typechecker)

    def decorate(given: Any) -> Any:
        if not isinstance(given, type):
            return _sampled(given, make) if hasattr(given, "__code__") else make(given)
        # Of classes the fields are checked, when one is made: tables of the arithmetic are made by the thousand.
        if dataclasses.is_dataclass(given) and "__init__" in vars(given):
            setattr(given, "__init__", _sampled(given.__init__, make))  # noqa: B010 - the checker of types objects
        return given

    return decorate


def _sampled(function: Callable[..., Any], make: Callable[[Any], Any]) -> Callable[..., Any]:
    made: list[Callable[..., Any]] = []
    code = id(function.__code__)

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        _calls[code] = calls = _calls[code] + 1
        if calls > ALWAYS and calls & (calls - 1):
            return function(*arguments, **named)
        if not made:
            made.append(make(function))
        return made[0](*arguments, **named)

    return call


def install(rooms: tuple[str, ...]) -> None:
    """For all modules of these rooms that are loaded from now on."""
    jaxtyping.jaxtyped = jaxtyped
    jaxtyping.install_import_hook([f"repbm.{room}" for room in rooms], "beartype.beartype")
