"""How columns of a table became numbers, and what those numbers stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Shaped

from repbm.core import InputError, reason

_HALF = 0.5
_DAY = 86_400_000_000


class Kind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    FLAG = "true or false"
    CATEGORY = "category"
    ORDER = "ordered category"
    DATE = "date"
    """Days since the first date in the log."""
    ELAPSED = "elapsed"
    """Days since the first row of the episode."""


@dataclass(frozen=True)
class Coding:
    """How one column of a table became one or more columns of observations.

    A category is one column of 0 and 1 for each of its `levels` (for two of them, the second alone), and one more for
    `other`, where rare ones were put together. Where a value may be `missing`, the last column is 1 if it is, and
    `fill` stands in its place.
    """

    OTHER: ClassVar[str] = "other"
    """What rare and new categories are called."""

    name: str
    column: str
    """What the table calls it."""
    kind: Kind = Kind.NUMBER
    levels: tuple[str, ...] = ()
    other: bool = False
    grouped: tuple[str, ...] = ()
    """The rare categories in `other`; not all where they are many."""
    missing: bool = False
    fill: float = 0.0
    origin: str | None = None
    """The day from which a date counts."""

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The categories that have a column of their own."""
        alone = self.levels[1:] if len(self.levels) == 2 and not self.other else self.levels
        return (*alone, self.OTHER) if self.other else alone

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        if self.kind is Kind.CATEGORY:
            own = tuple(f"{self.name}={level}" for level in self.shown)
        elif self.kind is Kind.DATE:
            own = (f"{self.name} (days since {self.origin})",)
        else:
            own = (f"{self.name} (days)" if self.kind is Kind.ELAPSED else self.name,)
        return (*own, f"{self.name} missing") if self.missing else own

    @property
    def plain(self) -> bool:
        """Whether the column is taken as it is."""
        return self.kind is Kind.NUMBER and not self.missing

    def absent(self, part: Float[np.ndarray, "batch columns"]) -> Bool[np.ndarray, " batch"]:
        """Where the value is missing."""
        return part[:, -1] > _HALF if self.missing else np.zeros(len(part), dtype=bool)

    def decoded(self, part: Float[np.ndarray, "batch columns"]) -> Shaped[np.ndarray, " batch"]:
        """The values as the table has them: numbers (NaN where missing), text or flags (None), dates (NaT)."""
        absent, first = self.absent(part), part[:, 0]
        if self.kind in (Kind.NUMBER, Kind.ELAPSED):
            return np.where(absent, np.nan, first) if self.missing else first
        if self.kind is Kind.DATE:
            moved = np.round(np.where(absent, 0.0, first) * _DAY).astype("timedelta64[us]")
            return np.where(absent, np.datetime64("NaT", "us"), np.datetime64(self.origin, "us") + moved)
        if self.kind is Kind.FLAG:
            values = (first > _HALF).astype(object)
        elif self.kind is Kind.ORDER:
            place = np.clip(np.round(first), 0, len(self.levels) - 1).astype(np.int64)
            values = np.asarray(self.levels, dtype=object)[place]
        elif len(self.shown) < len(self.levels):
            values = np.asarray(self.levels, dtype=object)[(first > _HALF).astype(np.int64)]
        else:
            values = np.asarray(self.shown, dtype=object)[part[:, : len(self.shown)].argmax(axis=1)]
        values[absent] = None
        return values


@dataclass(frozen=True)
class Encoding:
    """How the observations of a log were coded: fitted to observations alone, never to actions or rewards."""

    codings: tuple[Coding, ...] = ()
    action: str | None = None
    """What the table calls its actions."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was taken for what without being told."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of observations."""
        return tuple(name for coding in self.codings for name in coding.names)

    @property
    def plain(self) -> bool:
        """Whether every column is taken as it is."""
        return all(coding.plain for coding in self.codings)

    def find(self, name: str) -> Coding | None:
        """The coding of a column, by our name for it or by the table's."""
        called = name.removeprefix("obs_")
        by_name = (coding for coding in self.codings if coding.name == called)
        return next(by_name, next((coding for coding in self.codings if coding.column == name), None))

    def part(
        self, observations: Float[np.ndarray, "batch dimensions"], coding: Coding
    ) -> Float[np.ndarray, "batch columns"]:
        """The columns of observations that a column of the table became."""
        first = self._firsts[coding.name]
        return observations[:, first : first + len(coding.names)]

    def decoded(
        self, observations: Float[np.ndarray, "batch dimensions"], names: Sequence[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Columns as the table has them, by name; all where none are asked for."""
        return {
            coding.name: coding.decoded(self.part(observations, coding))
            for coding in self.codings
            if names is None or coding.name in names
        }

    @cached_property
    def _firsts(self) -> dict[str, int]:
        widths = np.cumsum([0, *(len(coding.names) for coding in self.codings)])
        return {coding.name: int(first) for coding, first in zip(self.codings, widths, strict=False)}

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; `of` makes the same encoding of them."""
        codings = [
            {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(coding).items()}
            for coding in self.codings
        ]
        return {"columns": codings, "action": self.action, "notes": list(self.notes)}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Encoding:
        try:
            codings = tuple(
                Coding(
                    **{
                        **each,
                        "kind": Kind(each["kind"]),
                        "levels": tuple(each["levels"]),
                        "grouped": tuple(each["grouped"]),
                    }
                )
                for each in stored["columns"]
            )
            return cls(codings, stored["action"], tuple(stored["notes"]))
        except (AttributeError, KeyError, TypeError, ValueError) as fault:
            raise InputError(f"how observations are coded is damaged ({reason(fault)})", fix="save it again") from fault

    @classmethod
    def of_names(cls, names: Sequence[str]) -> Encoding:
        """Numbers that are taken as they are."""
        return cls(tuple(Coding(name, name) for name in names))
