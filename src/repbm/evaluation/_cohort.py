"""Who is in the log: what individuals were like at the start, all of them and by what was done first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from repbm.data import Coding, Encoding, Kind
from repbm.estimators import Case

_MOST_ACTIONS = 4
"""First actions with a column of their own: more do not fit on a page."""
_MOST_LEVELS = 8
"""Categories with a row of their own."""


@dataclass(frozen=True)
class Arm:
    """Individuals, by what was done with them first: how many, how many steps they had, what they earned."""

    name: str
    """Empty for all of them."""
    individuals: int
    mean_length: float
    mean_return: float


@dataclass(frozen=True)
class Characteristic:
    """A row of the table, with a cell for each arm: the quartiles of a number, or how many are of a `level`.

    `missing` is how many have no value, in each arm.
    """

    name: str
    level: str | None
    cells: tuple[tuple[float, ...], ...]
    missing: tuple[int, ...]


@dataclass(frozen=True)
class Cohort:
    arms: tuple[Arm, ...]
    rows: tuple[Characteristic, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def stored(cls, content: Mapping[str, Any]) -> Cohort:
        rows = (
            Characteristic(
                each["name"],
                each["level"],
                tuple(tuple(float("nan") if x is None else float(x) for x in cell) for cell in each["cells"]),
                tuple(map(int, each["missing"])),
            )
            for each in content["rows"]
        )
        return cls(tuple(Arm(**each) for each in content["arms"]), tuple(rows))


def cohort(case: Case) -> Cohort:
    """The table of everybody in the log, at their first step."""
    data, returns = case.data, case.returns
    first = data.actions.codes[data.starts]
    counts = np.bincount(first, minlength=len(data.actions.labels))
    shown = np.argsort(-counts, kind="stable")[:_MOST_ACTIONS]
    everybody = np.ones(len(data), dtype=bool)
    arms = [("", everybody)]
    if (counts > 0).sum() > 1:
        arms += [(str(data.actions.labels[code]), first == code) for code in shown if counts[code]]
    lengths = data.lengths
    groups = tuple(
        Arm(name, int(own.sum()), float(lengths[own].mean()), float(returns[own].mean())) for name, own in arms
    )
    encoding, states = data.encoding or Encoding.of_names(data.names), data.initial_observations
    masks = [own for _, own in arms]
    rows = [
        row
        for coding in encoding.codings
        for row in _rows(coding, coding.decoded(encoding.part(states, coding)), masks)
    ]
    return Cohort(groups, tuple(rows))


def _rows(
    coding: Coding, values: np.ndarray, masks: list[Bool[np.ndarray, " individuals"]]
) -> Iterator[Characteristic]:
    if coding.kind in (Kind.NUMBER, Kind.ELAPSED):
        known = np.isfinite(values.astype(np.float64))
        cells = tuple(_quartiles(values[own & known].astype(np.float64)) for own in masks)
        yield Characteristic(coding.name, None, cells, _missing(known, masks))
    elif coding.kind is Kind.DATE:
        known = ~np.isnat(values)
        yield Characteristic(coding.name, None, tuple(() for _ in masks), _missing(known, masks))
    else:
        words = np.array(["" if one is None else str(one) for one in values], dtype=object)
        known = np.array([one is not None for one in values])
        levels, counts = np.unique(words[known].astype(str), return_counts=True)
        for level in levels[np.argsort(-counts, kind="stable")][:_MOST_LEVELS]:
            cells = tuple((float((words[own] == level).sum()),) for own in masks)
            yield Characteristic(coding.name, str(level), cells, _missing(known, masks))


def _quartiles(values: np.ndarray) -> tuple[float, ...]:
    return tuple(np.quantile(values, [0.25, 0.5, 0.75]).tolist()) if len(values) else ()


def _missing(known: np.ndarray, masks: list[np.ndarray]) -> tuple[int, ...]:
    return tuple(int((own & ~known).sum()) for own in masks)
