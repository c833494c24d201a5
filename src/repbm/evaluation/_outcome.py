"""What rewards add up to: its name and unit, which way is better, and what it can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from repbm.core import InputError
from repbm.doctor import possible_returns, zero_or_one
from repbm.estimators import Case

BETTER = ("more", "less")


@dataclass(frozen=True)
class Outcome:
    """What an episode earns, in the user's words: a name ("survival"), a unit ("days"), and whether "more" or "less"
    of it is better."""

    name: str = ""
    unit: str = ""
    better: str = "more"

    def __post_init__(self) -> None:
        if self.better not in BETTER:
            raise InputError(f"'{self.better}' is not which way is better", fix=f"say {' or '.join(BETTER)}")
        for word in (self.name, self.unit):
            if not isinstance(word, str) or any(not letter.isprintable() for letter in word):
                raise InputError("the outcome's name or unit is not one line of text", fix="give a word or two")

    @property
    def sign(self) -> int:
        """1 where more is better, else -1."""
        return 1 if self.better == "more" else -1


@dataclass(frozen=True)
class Scale:
    """What an outcome can be: `low` and `high` are the least and the most that rewards like the logged ones allow.

    It is `binary` where every logged episode earned 0 or 1, and both occur: then a mean is a share of episodes.
    """

    low: float
    high: float
    binary: bool

    @classmethod
    def of(cls, case: Case) -> Scale:
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = possible_returns(case)
        return cls(low, high, zero_or_one(case))

    @classmethod
    def stored(cls, content: Mapping[str, Any]) -> Scale:
        # JSON has no infinity.
        ends = (("low", -np.inf), ("high", np.inf))
        low, high = (beyond if content[name] is None else float(content[name]) for name, beyond in ends)
        return cls(low, high, bool(content["binary"]))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Effect:
    """What changes against what is done now, of a binary outcome.

    `absolute` is the difference of two shares, `relative` the same as a share of what is done now. `needed` is how many
    must be treated by the policy, in place of what is done now, until one more (or one less) has the outcome, with its
    interval; None where that of the difference holds 0 or is not known.
    """

    absolute: float
    relative: float | None
    needed: float | None = None
    needed_low: float | None = None
    needed_high: float | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Effect | None:
        """From a row of the table of estimates; None where it has no value."""
        change, now, low, high = (row[n] for n in ("difference", "logged_mean", "difference_low", "difference_high"))
        if change is None:
            return None
        relative = change / now if now else None
        if low is None or high is None or low <= 0 <= high or change == 0:
            return cls(change, relative)
        near, far = sorted((abs(low), abs(high)))
        return cls(change, relative, 1 / abs(change), 1 / far, 1 / near)
