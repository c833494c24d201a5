"""How episodes end: by the world, or only in the log."""

from __future__ import annotations

import numpy as np
import polars as pl

from repbm.core import InputError, nearest
from repbm.logs._columns import Columns
from repbm.logs._layout import Layout, no_ends
from repbm.logs._structure import Structure
from repbm.logs._tables import Table

WORDS = ("terminated", "truncated", "reward", "horizon")


def checked_ends(ends: str | None) -> str | None:
    """What the user says about ends, if it is something that can be said."""
    if ends is None or ends in WORDS or all(ends.partition("=")):
        return ends
    raise InputError(f"--ends {ends}", fix="say terminated or truncated, reward, horizon, or COLUMN=VALUE")


def column_of(ends: str | None) -> str | None:
    """The column that `--ends COLUMN=VALUE` looks at."""
    return ends.partition("=")[0] if ends and "=" in ends else None


def endings(
    table: Table, layout: Layout, found: Structure, ends: str | None, rewards: np.ndarray, only_last: bool
) -> tuple[np.ndarray, str | None]:
    """Whether the world ended each episode, and what was assumed for it, where nothing was said.

    `only_last`: rewards stand in last rows alone.
    """
    if layout.truncated is not None:
        _ended(table, layout.truncated, found)
    lengths = np.diff(found.offsets)
    if ends is not None and "=" in ends:
        return _by_value(table, found, *ends.split("=", 1)), None
    if layout.terminated is not None:
        return _ended(table, layout.terminated, found), None
    if ends in ("terminated", "truncated"):
        return np.full(len(lengths), ends == "terminated"), None
    if ends == "horizon":
        return lengths < lengths.max(), None
    if ends == "reward":
        return _by_reward(table, found, rewards), None
    if lengths.max() == 1:
        return np.full(len(lengths), True), None
    if only_last:
        said = f"every episode is taken to end with its {layout.reward} (otherwise: --ends truncated or COLUMN=VALUE)"
        return np.full(len(lengths), True), said
    raise no_ends(table.names[0], layout.hint)


def _ended(table: Table, name: str, found: Structure) -> np.ndarray:
    """By a column of flags. One may stand on the last step or on the closing row."""
    columns = Columns(table, found.rows)
    flags = columns.flags(name)
    lasts = found.offsets[1:] - 1
    result = flags[lasts]
    has = found.closing >= 0
    if has.any():
        result[has] |= Columns(table, found.closing[has]).flags(name)
    _nothing_after(columns, found, flags, name)
    return result


def _by_value(table: Table, found: Structure, name: str, value: str) -> np.ndarray:
    """By a column that has this value in the last row, or in all rows, of an episode that ended."""
    columns = Columns(table, found.rows)
    words = _words(columns.series(name))
    flags = (words == _words(pl.Series([value]))[0]).fill_null(False).to_numpy()
    if not flags.any():
        distinct = words.drop_nulls().unique().sort().to_list()
        guess = nearest(value, distinct)
        raise InputError(
            f"column '{name}' is never '{value}'",
            where=table.names[0],
            fix=f"say --ends {name}={guess}" if guess else f"it is {', '.join(distinct[:6]) or 'always empty'}",
        )
    starts, lengths = found.offsets[:-1], np.diff(found.offsets)
    count = np.add.reduceat(flags.astype(np.int64), starts)
    whole = np.repeat(count == lengths, lengths)
    _nothing_after(columns, found, flags & ~whole, name)
    result = flags[found.offsets[1:] - 1]
    has = found.closing >= 0
    if has.any():
        closing = _words(Columns(table, found.closing[has]).series(name))
        result[has] |= (closing == _words(pl.Series([value]))[0]).fill_null(False).to_numpy()
    return result


def _by_reward(table: Table, found: Structure, rewards: np.ndarray) -> np.ndarray:
    _nothing_after(Columns(table, found.rows), found, rewards != 0, "a reward that is not 0")
    return rewards[found.offsets[1:] - 1] != 0


def _nothing_after(columns: Columns, found: Structure, flags: np.ndarray, name: str) -> None:
    lasts = found.offsets[1:] - 1
    if int(flags.sum()) > int(flags[lasts].sum()):
        raised = np.flatnonzero(flags)
        row = int(raised[~np.isin(raised, lasts)][0])
        episode = found.labels[np.searchsorted(found.offsets, row, side="right") - 1]
        raise InputError(
            f"episode {episode} goes on after {name if ' ' in name else repr(name)}",
            where=columns.place(row),
            fix="remove the steps after it, or give what follows another episode",
        )


def _words(series: pl.Series) -> pl.Series:
    """Values as text that can be compared: 1.0 and 1 are the same, and so are Yes and yes."""
    text = series.cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.str.replace(r"^(-?\d+)\.0+$", "${1}")
