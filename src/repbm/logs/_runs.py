"""Episodes whose rows stand one after the other: found by where the name changes, without a table of all names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl


def runs(
    pieces: Iterable[tuple[int, pl.DataFrame]], episode: str, action: str, common: Sequence
) -> pl.DataFrame | None:
    """Every episode: its name, length, how often it has each `common` action, its first and last row, its rows.

    `pieces` are all rows in order, each with the number of its file. None where some name is empty, or comes again
    after another one or in another file: those episodes must be gathered.
    """
    names: list[pl.Series] = []
    tables: list[np.ndarray] = []
    begins: list[np.ndarray] = []
    before = None
    for file, frame in pieces:
        own, taken = frame[episode], frame[action]
        if own.null_count():
            return None
        starts = np.concatenate([[0], np.flatnonzero((own[1:] != own[:-1]).to_numpy()) + 1])
        rows = np.diff(starts, append=len(frame))
        counts = [_within(taken == label, starts) for label in common]
        tables.append(np.stack([_within(taken.is_not_null(), starts) if taken.null_count() else rows, *counts, rows]))
        names.append(own.gather(starts))
        begins.append(np.arange(len(starts)) > 0)
        begins[-1][0] = before != (file, own[0])
        before = file, own[-1]
    begun = np.flatnonzero(np.concatenate(begins))
    called = pl.concat(names).gather(begun)
    if called.n_unique() < len(called):
        return None
    # An episode in two pieces is put together.
    length, *actions, rows = np.add.reduceat(np.concatenate(tables, axis=1), begun, axis=1)
    last = np.cumsum(rows) - 1
    counted = {f"action {k}": count for k, count in enumerate(actions)}
    places = {"first": last - rows + 1, "last": last, "rows": rows}
    return pl.DataFrame({"episode": called, "length": length, **counted, **places})


def _within(which: pl.Series, starts: np.ndarray) -> np.ndarray:
    """How many of each run these are; an empty one is none."""
    flags = (which.fill_null(False) if which.null_count() else which).to_numpy()
    return np.add.reduceat(flags.view(np.int8), starts, dtype=np.int64)
