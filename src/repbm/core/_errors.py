"""The one error that users see."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable

from repbm.core._codes import Code, code_of_module


class InputError(ValueError):
    """Something handed in is wrong. One line: where, what, and what to do about it.

    `what` states the fault, `where` the place (file, episode, row, column), `fix` the next move. `code` is for
    programs, and one of `CODES`: what the module that raises the error is about, if it says nothing else.
    """

    def __init__(
        self, what: str, *, where: str | None = None, fix: str | None = None, code: Code | None = None
    ) -> None:
        self.what, self.where, self.fix = what, where, fix
        self.code: Code = code or code_of_module(_raising_module())
        line = f"{where}: {what}" if where else what
        line = f"{line}; {fix}" if fix else line
        super().__init__(" ".join(line.split()))

    def at(self, where: str | None) -> InputError:
        """The same fault with another place."""
        return InputError(self.what, where=where, fix=self.fix, code=self.code)

    def to_dict(self) -> dict[str, str | None]:
        """As a program reads it."""
        return {"code": self.code, "what": self.what, "where": self.where, "fix": self.fix}


def _raising_module() -> str:
    """The module that makes the error: the first below those of errors themselves."""
    frame = sys._getframe(1)
    while isinstance(frame.f_locals.get("self"), InputError) and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


class FailsElsewhere(InputError):
    """A policy fails in a state that a model imagines: what rests on that model is not known, all else is."""

    def __init__(self, fault: InputError) -> None:
        super().__init__(f"the policy fails in a state that the model imagines: {fault}", code="policy")


def reason(fault: BaseException) -> str:
    """What an exception of somebody else's code says, in one short line: its kind, and its text if it has any."""
    kind = type(fault).__name__
    try:
        text = " ".join(str(fault).split())[:200]
    except (Exception, SystemExit):  # texts are made by code, too
        return kind
    return f"{kind}: {text}" if text else kind


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` most likely was meant to be, if any is close; large and small letters are alike."""
    alike: dict[str, str] = {}
    for one in known:
        alike.setdefault(one.casefold(), one)
    found = difflib.get_close_matches(word.casefold(), alike, n=1, cutoff=0.75)
    return alike[found[0]] if found else None
