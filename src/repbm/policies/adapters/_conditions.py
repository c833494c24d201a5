"""The cells of a decision table: which numbers they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

_SIGNS = {"≤": "<=", "≥": ">=", "=<": "<=", "=>": ">="}
_COMPARED = re.compile(r"(<=|>=|<|>|==|=)?\s*(\S+)")


@dataclass(frozen=True)
class Condition:
    """The numbers from `low` to `high`; each end belongs to them where it is closed."""

    low: float
    high: float
    low_closed: bool
    high_closed: bool

    @classmethod
    def of(cls, cell: str) -> Condition | None:
        """The condition in a cell; None for `*`, which any number fulfils.

        `<40`, `<=40`, `>60`, `>=60`, `3` (that number alone), and `40..60`: from 40 up to, but not including, 60.
        Raises ValueError, which says why, for anything else.
        """
        text = cell.strip()
        for sign, plain in _SIGNS.items():
            text = text.replace(sign, plain)
        if text == "*":
            return None
        if not text:
            raise ValueError("is empty; write * where any number will do")
        if ".." in text:
            first, last = (_number(part, cell) for part in text.split("..", 1))
            if not first < last:
                raise ValueError(f"is '{cell}', which holds no number; write the lower end first")
            return cls(first, last, True, False)
        found = _COMPARED.fullmatch(text)
        if found is None:
            raise _unreadable(cell)
        sign, number = found[1], _number(found[2], cell)
        if sign in ("<", "<="):
            return cls(-np.inf, number, False, sign == "<=")
        if sign in (">", ">="):
            return cls(number, np.inf, sign == ">=", False)
        return cls(number, number, True, True)

    def holds(self, column: Float[np.ndarray, " batch"]) -> Bool[np.ndarray, " batch"]:
        above = column >= self.low if self.low_closed else column > self.low
        return above & (column <= self.high if self.high_closed else column < self.high)


def _number(text: str, cell: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise _unreadable(cell) from None
    if not np.isfinite(number):
        raise _unreadable(cell)
    return number


def _unreadable(cell: str) -> ValueError:
    return ValueError(f"is '{cell}', which is no condition; write <40, <=40, 40..60, >60, >=60, 3 or *")
