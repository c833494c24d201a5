"""Parts of a fit that depend on no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Part = Callable[[], Any]
"""A part of a fit that depends on no other."""


@dataclass(frozen=True)
class BesideOthers:
    """A part that may be done in a thread while others are: most of it lets go of the interpreter.

    `begin` does what only the thread that asks may do, above all to ask a policy, which may be anybody's code. What it
    returns does the rest, and changes nothing that others look at; what is of the whole process, as filters of
    warnings are, is not touched there.
    """

    begin: Callable[[], Part]

    def __call__(self) -> Any:
        return self.begin()()
