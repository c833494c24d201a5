"""All that is wrong with a log, in one message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from repbm.core import InputError

_T = TypeVar("_T")
_MOST = 12


class LogFault(InputError):
    """A fault that an option settles, if the guess in it is right."""

    def __init__(self, what: str, *, where: str | None, fix: str | None, option: str | None = None) -> None:
        super().__init__(what, where=where, fix=fix)
        self.option = option


class Faults:
    """Collects faults while the rest is looked at; `settle` raises them together."""

    def __init__(self) -> None:
        self.found: list[InputError] = []

    def add(self, fault: InputError) -> None:
        if str(fault) not in map(str, self.found):
            self.found.append(fault)

    def tried(self, action: Callable[[], _T]) -> _T | None:
        """What an action gives; nothing where it fails, which is noted."""
        try:
            return action()
        except InputError as fault:
            self.add(fault)
            return None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Whatever fails in here is noted."""
        try:
            yield
        except InputError as fault:
            self.add(fault)

    def settle(self) -> None:
        """Nothing, if there is no fault; one as it is; several as a list, with the options that would settle them."""
        if not self.found:
            return
        if len(self.found) == 1:
            raise self.found[0]
        places = {fault.where for fault in self.found}
        shared = places.pop() if len(places) == 1 else None
        lines = []
        for number, fault in enumerate(self.found[:_MOST], start=1):
            where = f"{fault.where}: " if fault.where and not shared else ""
            lines.append(f"({number}) {where}{fault.what}{f'; {fault.fix}' if fault.fix else ''}")
        if len(self.found) > _MOST:
            lines.append(f"and {len(self.found) - _MOST} more")
        options = dict.fromkeys(getattr(fault, "option", None) for fault in self.found)
        wanted = " ".join(option for option in options if option)
        raise InputError(
            f"{len(self.found)} faults: {' '.join(lines)}", where=shared, fix=f"try: {wanted}" if wanted else None
        )
