"""Values of an outcome as people read them: with a unit, or, of 0/1 outcomes, as percentages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from repbm.core import in_words, say

if TYPE_CHECKING:
    from repbm.evaluation import Effect, Evaluation


_MANY = 10


@dataclass(frozen=True)
class Shown:
    """How values of an outcome, and differences between them, are written."""

    name: str = ""
    unit: str = ""
    binary: bool = False
    sign: int = 1
    """1 where more is better, else -1."""

    @classmethod
    def of(cls, evaluation: Evaluation) -> Shown:
        outcome, scale = evaluation.question.outcome, evaluation.scale
        return cls(outcome.name, outcome.unit, scale.binary and not outcome.unit, outcome.sign)

    @property
    def title(self) -> str:
        """What stands over a column of values."""
        name = self.name or say("value", "value")
        return say("value", "with_unit", name=name, unit=self.unit) if self.unit else name

    def value(self, value: float | None) -> str:
        if value is None or not self.binary:
            return in_words(value)
        return f"{100 * value:.1f}%"

    def difference(self, value: float | None) -> str:
        """With its sign; of percentages in points."""
        if value is None or not self.binary:
            return in_words(value, signed=True)
        return say("value", "points", number=_points(value))

    def size(self, difference: float | None) -> str:
        """How large a difference is, whichever way."""
        if difference is None or not self.binary:
            return in_words(None if difference is None else abs(difference)) + (f" {self.unit}" if self.unit else "")
        return say("value", "size", number=f"{100 * abs(difference):.1f}")

    def in_full(self, difference: float) -> str:
        """With its sign, and of percentages in percentage points."""
        return say("value", "size", number=_points(difference)) if self.binary else self.difference(difference)

    def range(self, low: float | None, high: float | None) -> str:
        return "-" if low is None or high is None else say("value", "range", low=self.value(low), high=self.value(high))

    def differences(self, low: float | None, high: float | None) -> str:
        if low is None or high is None:
            return "-"
        first = _points(low) if self.binary else self.difference(low)
        return say("value", "range", low=first, high=self.difference(high))

    def is_better(self, difference: float) -> bool:
        return self.sign * difference > 0

    def effect(self, found: Effect) -> str:
        """The absolute and the relative difference, and the number needed to treat, in words."""
        said = self.in_full(found.absolute)
        if found.relative is not None:
            said = say("value", "relative", difference=said, relative=f"{100 * found.relative:+.1f}%")
        if found.needed is None:
            return say("value", "needed_unknown", difference=said)
        kind = say("value", "benefit" if self.is_better(found.absolute) else "harm")
        count, ends = self.count(found.needed), self.counts(found.needed_low, found.needed_high)
        return say("value", "needed", difference=said, kind=kind, count=count, range=ends)

    def count(self, people: float | None) -> str:
        """A number of people; with a digit more where they are few."""
        if people is None:
            return "-"
        return f"{people:,.0f}" if people >= _MANY else f"{people:.1f}"

    def counts(self, low: float | None, high: float | None) -> str:
        return say("value", "range", low=self.count(low), high=self.count(high))


def _points(difference: float) -> str:
    """Percentage points, with their sign where there is one."""
    points = f"{100 * difference:+.1f}"
    return points if float(points) else "0.0"


PLAIN = Shown()
"""Numbers without a name or a unit."""
