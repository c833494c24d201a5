"""The cells of a decision table: which values they hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from repbm.core import nearest
from repbm.data import Coding, Kind

_SIGNS = {"≤": "<=", "≥": ">=", "=<": "<=", "=>": ">="}
_ABSENT = ("missing", "empty")
_FLAGS = {"true": 1.0, "yes": 1.0, "1": 1.0, "false": 0.0, "no": 0.0, "0": 0.0}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_COMPARED = re.compile(r"(<=|>=|<|>|==|=)?\s*(\S+)")

Holds = Callable[[np.ndarray], np.ndarray]
"""Where a condition holds, for the columns of observations that a column of the table became."""


def condition_of(cell: str, coding: Coding) -> Holds | None:
    """The condition that a cell puts on a column; None for `*`, which anything fulfils.

    Numbers and dates: see `Condition`. Categories: `icu`, several as `icu|ward`, all others as `!icu`; ordered ones
    also as `>=moderate`. Any column: `missing`. Raises ValueError, which says why, for anything else.
    """
    text = cell.strip()
    if text == "*":
        return None
    if not text:
        raise ValueError("is empty; write * where anything will do")
    if text.startswith("!"):
        inner = condition_of(text[1:], coding)
        if inner is None:
            raise ValueError(f"is '{cell}', which nothing fulfils; write *")
        return lambda part: ~inner(part)
    if "|" in text:
        several = [condition_of(one, coding) for one in text.split("|")]
        return lambda part: np.any([one(part) for one in several if one is not None], axis=0)
    if text.lower() in _ABSENT and text not in coding.levels:
        return coding.absent
    value = _values(text, cell, coding)
    return lambda part: value(part) & ~coding.absent(part)


def _values(text: str, cell: str, coding: Coding) -> Holds:
    if coding.kind is Kind.CATEGORY:
        level = _level(text, coding)
        if len(coding.shown) < len(coding.levels):
            second = level == coding.levels[1]
            return lambda part: (part[:, 0] > 0.5) == second
        place = coding.shown.index(level)
        return lambda part: part[:, : len(coding.shown)].argmax(axis=1) == place
    if coding.kind is Kind.ORDER:
        found = re.fullmatch(r"(<=|>=|<|>|==|=)?\s*(.+)", text)
        assert found is not None
        condition = Condition.of(f"{found[1] or ''}{coding.levels.index(_level(found[2], coding))}")
        assert condition is not None
        return lambda part: condition.holds(np.round(part[:, 0]))
    if coding.kind is Kind.FLAG:
        if text.lower() not in _FLAGS:
            raise ValueError(f"is '{cell}', which is neither true nor false; write true, false or *")
        wanted = _FLAGS[text.lower()] > 0
        return lambda part: (part[:, 0] > 0.5) == wanted
    if coding.kind is Kind.DATE:
        origin = np.datetime64(coding.origin, "D")
        text = _DAY.sub(lambda day: str((np.datetime64(day[0], "D") - origin).astype(int)), text)
    number = Condition.of(text)
    assert number is not None
    return lambda part: number.holds(part[:, 0])


def _level(text: str, coding: Coding) -> str:
    """The category that is meant: as the log spells it, or in other case."""
    known = (*coding.levels, *((Coding.OTHER,) if coding.other else ()))
    same = [level for level in known if level.lower() == text.lower()]
    if text in known or len(same) == 1:
        return text if text in known else same[0]
    if text in coding.grouped:
        raise ValueError(
            f"is '{text}', which is so rare in the log that it was put into 'other'; "
            "write other, or keep it apart with --rule encoding.rare_rows=1"
        )
    guess = nearest(text, known)
    shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    raise ValueError(
        f"is '{text}', which the log never shows; {f'did you mean {guess!r}?' if guess else f'it shows {shown}'}"
    )


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
