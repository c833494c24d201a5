"""Episodes whose rows stand one after the other: found by where the name changes, without a table of all names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int

_WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
_CLOSE = 1 << 10
"""Actions whose numbers differ by no more are looked up in a table."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """The runs of some rows of one file: rows that stand together and have the same name."""

    file: int
    names: pl.Series
    """Of every run."""
    table: Int[np.ndarray, "counts runs"]
    """Of every run its length, how often it has each action that is counted, and its rows."""

    @classmethod
    def of(cls, file: int, frame: pl.DataFrame, episode: str, action: str, common: Sequence) -> Stretch | None:
        """None where some name is empty."""
        if frame[episode].null_count():
            return None
        own, taken = _compared(frame[episode]), _compared(frame[action])
        starts = np.concatenate([[0], np.flatnonzero(_flags(own[1:] != own[:-1])) + 1])
        rows = np.diff(starts, append=len(frame))
        empty = frame[action].null_count()
        length = _within(_flags(frame[action].is_not_null()), starts, rows) if empty else rows
        counts = _counted(taken, common, starts, rows)
        if counts is None:
            counts = [_within(_flags(taken == label), starts, rows) for label in common]
        return cls(file, frame[episode].gather(starts), np.stack([length, *counts, rows]))


def runs(stretches: Iterable[Stretch | None]) -> pl.DataFrame | None:
    """Every episode: its name, length, how often it has each action that is counted, its first and last row, its rows.

    `stretches` are all rows in order. None where some name is empty, or comes again after another one or in another
    file: those episodes must be gathered.
    """
    names: list[pl.Series] = []
    tables: list[np.ndarray] = []
    before = None
    for stretch in stretches:
        if stretch is None:
            return None
        # An episode in two stretches is put together.
        goes_on = before == (stretch.file, stretch.names[0])
        if goes_on:
            tables[-1][:, -1] += stretch.table[:, 0]
        before = stretch.file, stretch.names[-1]
        if len(stretch.names) > goes_on:
            names.append(stretch.names.slice(int(goes_on)))
            tables.append(stretch.table[:, int(goes_on) :])
    called = pl.concat(names)
    if not _rising(called) and called.n_unique() < len(called):
        return None
    length, *actions, rows = np.concatenate(tables, axis=1)
    last = np.cumsum(rows) - 1
    counted = {f"action {k}": count for k, count in enumerate(actions)}
    places = {"first": last - rows + 1, "last": last, "rows": rows}
    return pl.DataFrame({"episode": called, "length": length, **counted, **places})


def _compared(series: pl.Series) -> pl.Series | np.ndarray:
    """The same values; whole numbers as NumPy has them, which compares them several times as fast."""
    return series.to_numpy() if series.dtype in _WHOLE and not series.null_count() else series


def _flags(which: pl.Series | np.ndarray) -> np.ndarray:
    """What a comparison says of every row; where one is empty it does not hold."""
    return which if isinstance(which, np.ndarray) else which.fill_null(False).to_numpy()


def _rising(names: pl.Series) -> bool:
    """Whether each is larger than the one before, where that is quick to see."""
    array = _compared(names)
    return isinstance(array, np.ndarray) and bool((array[1:] > array[:-1]).all())


def _counted(
    taken: pl.Series | np.ndarray, common: Sequence, starts: Int[np.ndarray, " runs"], rows: Int[np.ndarray, " runs"]
) -> list[np.ndarray] | None:
    """How many rows of each run have each of these actions, all in one pass; None where they do not lie close together.

    Every action counts in bits of its own of one number, which hold the length of any run.
    """
    bits = 64 // max(len(common), 1)
    if not isinstance(taken, np.ndarray) or int(rows.max()).bit_length() > bits:
        return None
    low, high = int(taken.min()), int(taken.max())
    if not len(common) or high - low > _CLOSE:
        return None
    marks = np.zeros(high - low + 1, dtype=np.uint64)
    for k, label in enumerate(common):
        if low <= label <= high:
            marks[label - low] = 1 << bits * k
    places = taken if taken.dtype.itemsize == marks.itemsize else taken.astype(np.int64)
    # Beyond 64 bits a running sum begins anew, and its differences are right all the same.
    reached = np.cumsum(marks[places - places.dtype.type(low) if low else places])[starts + rows - 1]
    found = np.diff(reached, prepend=np.uint64(0))
    return [(found >> np.uint64(bits * k) & np.uint64((1 << bits) - 1)).astype(np.int64) for k in range(len(common))]


def _within(which: np.ndarray, starts: Int[np.ndarray, " runs"], rows: Int[np.ndarray, " runs"]) -> np.ndarray:
    """How many of each run these are."""
    # Of whole numbers, differences of running sums are exact, and quicker than sums of many short runs.
    reached = np.cumsum(which.view(np.int8), dtype=np.int32)[starts + rows - 1]
    return np.diff(reached, prepend=0)
