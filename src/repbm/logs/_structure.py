"""From rows to episodes: order, borders and closing rows, with every fault named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from repbm.core import InputError
from repbm.logs._columns import is_whole, whole
from repbm.logs._layout import Layout
from repbm.logs._tables import Table
from repbm.logs._typed import typed


@dataclass(frozen=True)
class Structure:
    """Which rows are steps, in time order, and where episodes begin among them.

    `rows` is None where all rows are, as they stand; a mask where some are not; else positions.
    `closing` holds each episode's closing row (the state after its last step), -1 where there is none.
    """

    rows: np.ndarray | None
    offsets: np.ndarray
    closing: np.ndarray
    labels: np.ndarray


def structure(table: Table, layout: Layout, gaps: bool = False) -> Structure:
    """The episodes of a table. With `gaps`, steps may be skipped, and episodes begin at any."""
    episodes, names = _episodes(table, layout)
    if len(table.names) > 1 and layout.episode is not None:
        _not_split(table, episodes, names, layout)
    starts = _borders(episodes)
    closing = _closing_rows(table, layout)
    step = None if layout.step is None else _steps(table, layout.step, closing)
    order, plain = None, step is not None and _counts_up(step, starts)
    if _comes_again(episodes[starts]) or (step is not None and not plain and _disordered(step, starts)):
        plain = False
        if step is None:
            _interleaved(table, episodes, starts, names)
        assert step is not None
        order = np.lexsort((step, episodes))
        episodes, step = episodes[order], step[order]
        closing = None if closing is None else closing[order]
        starts = _borders(episodes)
    ends = np.concatenate([starts[1:], [table.rows]])
    if step is not None and not plain:
        _consecutive(table, step, starts, ends, order, episodes, names, layout.step or "step", gaps)
    labels = names[episodes[starts]]
    if closing is None or not closing.any():
        return Structure(order, np.concatenate([starts, ends[-1:]]), np.full(len(starts), -1), labels)

    inner = np.flatnonzero(closing)
    last = np.isin(inner, ends - 1)
    if not last.all():
        row = int(inner[~last][0])
        raise InputError(
            f"column '{layout.action}' is empty in the middle of episode {names[episodes[row]]}",
            where=table.place(_original(row, order)),
            fix="only the last row of an episode, the state after its last step, may have no action",
        )
    closed = closing[ends - 1]
    lengths = ends - starts - closed
    if (lengths == 0).any():
        row = int(starts[lengths == 0][0])
        raise InputError(
            f"episode {names[episodes[row]]} has no action at all",
            where=table.place(_original(row, order)),
            fix="remove it, or log its actions",
        )
    rows, finals = ~closing, np.where(closed, ends - 1, -1)
    if order is not None:
        rows, finals = order[rows], np.where(closed, order[ends - 1], -1)
    return Structure(rows, np.concatenate([[0], np.cumsum(lengths)]), finals, labels)


def _episodes(table: Table, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers that tell episodes apart, and what the log calls each of them."""
    if layout.episode is None:
        return np.arange(table.rows), np.arange(table.rows)
    series = whole(table.columns[layout.episode])
    if series.null_count() or series.dtype == pl.Null:
        row = int(np.flatnonzero(series.is_null().to_numpy())[0])
        raise InputError(f"column '{layout.episode}' is empty", where=table.place(row), fix="name the episode")
    if series.dtype.is_integer():
        array = series.to_numpy()
        low, high = int(array.min()), int(array.max())
        if low >= 0 and high < max(4 * len(array), 1024):
            return array, np.arange(high + 1)
        # Of rows that stand together one is enough: sorting all of them takes many times as long.
        starts = _borders(array)
        heads = array[starts]
        rising = (heads[1:] > heads[:-1]).all()
        distinct, codes = (heads, np.arange(len(heads))) if rising else np.unique(heads, return_inverse=True)
        return np.repeat(codes, np.diff(starts, append=len(array))), distinct
    if series.dtype.is_float():
        row = int(np.flatnonzero(~is_whole(series).to_numpy())[0])
        raise InputError(
            f"column '{layout.episode}' is {series[row]:g}, which is no label of an episode",
            where=table.place(row),
            fix="give whole numbers or text",
        )
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype != pl.String:
        raise InputError(
            f"column '{layout.episode}' holds {series.dtype}",
            where=table.names[0],
            fix="give whole numbers or text",
        )
    distinct = series.unique().sort()
    codes = series.replace_strict(distinct, pl.Series(range(len(distinct)), dtype=pl.Int64))
    return codes.to_numpy(), distinct.to_numpy()


def _borders(episodes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.flatnonzero(episodes[1:] != episodes[:-1]) + 1])


def _comes_again(heads: np.ndarray) -> bool:
    """Whether an episode goes on after rows of another one."""
    return not (heads[1:] > heads[:-1]).all() and len(np.unique(heads)) < len(heads)


def _steps(table: Table, name: str, closing: np.ndarray | None) -> np.ndarray:
    """Step numbers; a closing row may leave its own empty and then comes last. Dates and times count by their order."""
    series = whole(typed(table.columns[name]))
    if series.dtype.is_temporal():
        series = series.rank("dense").cast(pl.Int64)
    if series.dtype == pl.Null:
        series = series.cast(pl.Int64)
    if not series.dtype.is_integer():
        if not series.dtype.is_numeric():
            raise InputError(
                f"column '{name}' holds {'text' if series.dtype == pl.String else series.dtype}",
                where=table.names[0],
                fix="number the steps 0, 1, 2, ..., or say --column step= if rows are in order",
            )
        row = int(np.flatnonzero(~is_whole(series).to_numpy())[0])
        raise InputError(
            f"column '{name}' is {series[row]:g}, no whole number",
            where=table.place(row),
            fix="number steps 0, 1, 2, ...",
        )
    if series.null_count():
        empty = series.is_null().to_numpy()
        wrong = np.flatnonzero(empty if closing is None else empty & ~closing)
        if len(wrong):
            raise InputError(f"column '{name}' is empty", where=table.place(int(wrong[0])), fix="number the step")
        series = series.clip(None, _UNNUMBERED - 1).cast(pl.Int64).fill_null(_UNNUMBERED)
    return series.to_numpy()


_UNNUMBERED = np.iinfo(np.int64).max


def _closing_rows(table: Table, layout: Layout) -> np.ndarray | None:
    """Rows without an action: each may close an episode."""
    action = table.columns[layout.action]
    if action.dtype.is_float():
        action = action.fill_nan(None)
    return action.is_null().to_numpy() if action.null_count() else None


def _counts_up(step: np.ndarray, starts: np.ndarray) -> bool:
    """Whether steps count up by 1 from the same first number, 0 or 1, in every run of rows of an episode."""
    first, ends = step[0], np.append(starts[1:], len(step))
    if first not in (0, 1) or not (step[starts] == first).all():
        return False
    if not (step[ends - 1] == ends - starts - 1 + int(first)).all():
        return False  # narrow numbers would begin anew unseen
    follows = step[1:] - step[:-1] == 1
    follows[starts[1:] - 1] = True
    return bool(follows.all())


def _disordered(step: np.ndarray, starts: np.ndarray) -> bool:
    rising = step[1:] > step[:-1]
    rising[starts[1:] - 1] = True
    return not rising.all()


def _not_split(table: Table, episodes: np.ndarray, names: np.ndarray, layout: Layout) -> None:
    parts = table.part_of(np.arange(table.rows))
    low, high = np.full(len(names), len(table.names)), np.full(len(names), -1)
    np.minimum.at(low, episodes, parts)
    np.maximum.at(high, episodes, parts)
    split = np.flatnonzero(high > low)
    if len(split):
        first = split[0]
        raise InputError(
            f"episode {names[first]} is in {table.names[low[first]]} and in {table.names[high[first]]}",
            fix=f"keep an episode in one file; if they are different episodes, make '{layout.episode}' unique",
        )


def _interleaved(table: Table, episodes: np.ndarray, starts: np.ndarray, names: np.ndarray) -> None:
    heads = episodes[starts]
    _, first = np.unique(heads, return_index=True)
    again = np.ones(len(heads), dtype=bool)
    again[first] = False
    row = int(starts[again][0])
    raise InputError(
        f"episode {names[episodes[row]]} goes on here after rows of another one, and no column 'step' tells the order",
        where=table.place(row),
        fix="keep the rows of an episode together and in order, or add a column 'step'",
    )


def _consecutive(
    table: Table,
    step: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    order: np.ndarray | None,
    episodes: np.ndarray,
    names: np.ndarray,
    name: str,
    gaps: bool,
) -> None:
    """Steps count up by 1 from the same first number, 0 or 1, in every episode; with gaps they only differ."""
    first = int(step[starts].min())
    if order is not None and _counts_up(step, starts):
        return
    gaps = gaps or typed(table.columns[name]).dtype.is_temporal()
    gap = step[1:] == step[:-1] if gaps else step[1:] != step[:-1] + 1
    gap[starts[1:] - 1] = False
    gap &= step[1:] != _UNNUMBERED
    if gap.any():
        row = int(np.flatnonzero(gap)[0]) + 1
        episode, here, before = names[episodes[row]], int(step[row]), int(step[row - 1])
        what = f"step {here} twice" if here == before else f"no step {before + 1}"
        raise InputError(
            f"episode {episode} has {what}",
            where=table.place(_original(row, order)),
            fix="remove the copy"
            if here == before
            else "steps must count up by 1; add what is missing, or say --gaps allow if it was skipped",
        )
    unnumbered = np.flatnonzero(step == _UNNUMBERED)
    wrong = unnumbered[~np.isin(unnumbered, ends - 1)]
    if len(wrong):
        raise InputError(f"column '{name}' is empty", where=table.place(_original(int(wrong[0]), order)))
    if gaps:
        return
    late = step[starts] != first
    if first not in (0, 1):
        late[:] = True
    if late.any():
        row = int(starts[late][0])
        raise InputError(
            f"episode {names[episodes[row]]} begins at step {int(step[row])}",
            where=table.place(_original(row, order)),
            fix=f"every episode must begin at step {first if first in (0, 1) else 0}, or say --gaps allow",
        )


def _original(row: int, order: np.ndarray | None) -> int:
    return row if order is None else int(order[row])
