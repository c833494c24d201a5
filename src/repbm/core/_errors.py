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


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` most likely was meant to be, if any is close."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.75)
    return found[0] if found else None
