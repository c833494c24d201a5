"""How long work reports what it is doing."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of the work is done, and how much there is."""


def silent(what: str, done: int, total: int) -> None:
    """For callers who do not listen."""
