"""The one error that users see."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Something handed in is wrong. One line: where, what, and what to do about it.

    `what` states the fault, `where` the place (file, episode, row, column), `fix` the next move.
    """

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        self.what, self.where, self.fix = what, where, fix
        line = f"{where}: {what}" if where else what
        line = f"{line}; {fix}" if fix else line
        super().__init__(" ".join(line.split()))


class FailsElsewhere(InputError):
    """A policy fails in a state that a model imagines: what rests on that model is not known, all else is."""

    def __init__(self, fault: InputError) -> None:
        super().__init__(f"the policy fails in a state that the model imagines: {fault}")


def reason(fault: BaseException) -> str:
    """What an exception of somebody else's code says, in one short line: its kind, and its text if it has any."""
    kind = type(fault).__name__
    try:
        text = " ".join(str(fault).split())[:200]
    except (Exception, SystemExit):  # texts are made by code, too
        return kind
    return f"{kind}: {text}" if text else kind


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` most likely was meant to be, if any is close."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.75)
    return found[0] if found else None
