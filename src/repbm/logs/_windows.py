"""Rows of files, read a window at a time: parts of a log begin where episodes do, files are stored in blocks of rows.

To read some rows of a block takes nearly as long as to read all of it. So windows begin where files do and, within a
file, after so many rows as writers put into a block; each is read once, and neighboring parts share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from itertools import pairwise
from threading import Lock

import numpy as np
import polars as pl
from jaxtyping import Int

from repbm.data import each_once
from repbm.logs._piece import Piece


def borders_of(counts: Sequence[int], size: int) -> Int[np.ndarray, " ends"]:
    """Where windows of files with so many rows begin, none of them larger than `size`, and where the last ends.

    Small files are together in one.
    """
    ends = np.cumsum([0, *counts])
    inner = [np.arange(start, stop, size) for start, stop in pairwise(ends.tolist())]
    marks = each_once(np.concatenate([*inner, ends[-1:]]))
    found = [0]
    while found[-1] < marks[-1]:
        found.append(int(marks[np.searchsorted(marks, found[-1] + size, "right") - 1]))
    return np.asarray(found)


class Windows:
    """The rows of some parts, each asked for once, in any thread. A window is kept as long as it is needed."""

    def __init__(
        self, read: Callable[[int, int], pl.DataFrame], borders: Int[np.ndarray, " ends"], pieces: Iterable[Piece]
    ) -> None:
        """`read` gives the rows from one number to another."""
        self._read, self._borders = read, borders
        self._lock, self._found = Lock(), dict[int, Future[pl.DataFrame]]()
        self._left = np.zeros(len(borders), dtype=np.int64)
        for piece in pieces:
            self._left[self._of(piece)] += 1

    def rows(self, piece: Piece) -> pl.DataFrame:
        """Those of a part that stand together."""
        return pl.concat([self._part(k, piece) for k in self._of(piece)], rechunk=False)

    def _of(self, piece: Piece) -> range:
        """Which windows it needs."""
        first = np.searchsorted(self._borders, piece.start, "right") - 1
        return range(int(first), int(np.searchsorted(self._borders, piece.stop, "left")))

    def _part(self, k: int, piece: Piece) -> pl.DataFrame:
        with self._lock:
            known, own = self._found.get(k), Future[pl.DataFrame]()
            window = self._found.setdefault(k, own)
        start, stop = self._borders[k : k + 2].tolist()
        if known is None:
            try:
                own.set_result(self._read(start, stop))
            except BaseException as fault:  # raised below, and where another part waits for the same rows
                own.set_exception(fault)
        frame = window.result()
        with self._lock:
            self._left[k] -= 1
            if not self._left[k]:
                del self._found[k]
        return frame.slice(max(piece.start - start, 0), min(piece.stop, stop) - max(piece.start, start))
