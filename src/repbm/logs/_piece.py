"""The parts of a log that is read in parts: each holds whole episodes, fits into memory, and can be read anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from jaxtyping import Int

from repbm.data import each_once

EPISODE = "episode of the scan"
"""The column of names of episodes, in tables of episodes and of all rows."""


@dataclass(frozen=True, eq=False)
class Piece:
    """One part: rows from `start` to `stop` where episodes stand together, else the episodes whose name has, as a hash,
    the remainder `start` of `stop`."""

    together: bool
    start: int
    stop: int
    before: int
    """How many of the episodes asked for are in the parts before it,"""
    episodes: int
    """and in this one."""
    chosen: tuple[Int[np.ndarray, " chosen"], Int[np.ndarray, " chosen"]] | pl.Series | None = None
    """Where not all episodes are asked for: the first and last rows of those that are, or their names."""

    @property
    def condition(self) -> pl.Expr:
        """Which rows of a log whose episodes do not stand together."""
        own = _remainder(self.stop) == self.start
        return own if self.chosen is None else own & pl.col(EPISODE).is_in(pl.Series(self.chosen).implode())

    def kept(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Of rows that stand together those of the episodes asked for."""
        if not isinstance(self.chosen, tuple):
            return frame
        return rows_between(frame, self.start, *self.chosen)

    @property
    def row_numbers(self) -> Int[np.ndarray, " episodes"]:
        """The numbers of the rows that are asked for, where each is an episode."""
        return self.chosen[0] if isinstance(self.chosen, tuple) else np.arange(self.start, self.stop)


def pieces_of(every: pl.DataFrame, rows: int, steps: int, together: bool, chosen: pl.DataFrame | None) -> list[Piece]:
    """Parts of a log with these episodes and so many rows, each with about so many of them.

    With `chosen`, of these episodes alone: then a part has fewer rows. No part is empty. Episodes, chosen ones too, are
    in the order of their first rows.
    """
    count, asked = -(-rows // steps), every if chosen is None else chosen
    if not together:
        shares = asked.select(_remainder(count)).to_series()
        sizes = np.bincount(shares.to_numpy().astype(np.int64), minlength=count)
        before = np.cumsum(sizes) - sizes
        names = [None if chosen is None else chosen[EPISODE].filter(shares == k) for k in range(count)]
        found = [Piece(False, k, count, int(before[k]), int(sizes[k]), names[k]) for k in range(count)]
        return [piece for piece in found if piece.episodes]
    ends = every["last"].to_numpy() + 1
    marks = ends[np.searchsorted(ends, rows * np.arange(1, count) // count)]
    borders = each_once(np.concatenate([[0], marks, [rows]]))
    firsts, lasts = (asked[name].to_numpy() for name in ("first", "last"))
    found = []
    for (start, stop), (low, high) in zip(
        pairwise(borders.tolist()), pairwise(np.searchsorted(firsts, borders).tolist()), strict=True
    ):
        own = None if chosen is None else (firsts[low:high], lasts[low:high])
        found.append(Piece(True, start, stop, low, high - low, own))
    return [piece for piece in found if piece.episodes]


def rows_between(
    frame: pl.DataFrame, start: int, firsts: Int[np.ndarray, " some"], lasts: Int[np.ndarray, " some"]
) -> pl.DataFrame:
    """The rows from each first to its last, of a frame whose first row has the number `start`."""
    change = np.zeros(len(frame) + 1, dtype=np.int8)
    change[firsts - start] += 1
    change[lasts + 1 - start] -= 1
    return frame.filter(pl.Series(np.cumsum(change[:-1], dtype=np.int8) > 0))


def _remainder(count: int) -> pl.Expr:
    return pl.col(EPISODE).hash(0) % count
