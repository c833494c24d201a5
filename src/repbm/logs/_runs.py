"""Episodes whose rows stand one after the other: found by where the name changes, without a table of all names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int

_WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)


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
        acts = frame[action].is_not_null()
        length = rows if acts.all() else _within(_flags(acts), starts, rows)
        counts = [_within(_flags(taken == label), starts, rows) for label in common]
        return cls(file, frame[episode].gather(starts), np.stack([length, *counts, rows]))


def runs(stretches: Iterable[Stretch | None]) -> pl.DataFrame | None:
    """Every episode: its name, length, how often it has each action that is counted, its first and last row, its rows.

    `stretches` are all rows in order. None where some name is empty, or comes again after another one or in another
    file: those episodes must be gathered.
    """
    found: list[Stretch] = []
    begins: list[np.ndarray] = []
    before = None
    for stretch in stretches:
        if stretch is None:
            return None
        begins.append(np.arange(len(stretch.names)) > 0)
        begins[-1][0] = before != (stretch.file, stretch.names[0])
        before = stretch.file, stretch.names[-1]
        found.append(stretch)
    begun = np.flatnonzero(np.concatenate(begins))
    called = pl.concat([stretch.names for stretch in found]).gather(begun)
    if called.n_unique() < len(called):
        return None
    # An episode in two stretches is put together.
    length, *actions, rows = np.add.reduceat(
        np.concatenate([stretch.table for stretch in found], axis=1), begun, axis=1
    )
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


def _within(which: np.ndarray, starts: Int[np.ndarray, " runs"], rows: Int[np.ndarray, " runs"]) -> np.ndarray:
    """How many of each run these are."""
    # Of whole numbers, differences of running sums are exact, and quicker than sums of many short runs.
    reached = np.cumsum(which.view(np.int8), dtype=np.int32)[starts + rows - 1]
    return np.diff(reached, prepend=0)
