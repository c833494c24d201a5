"""Reading tables: files and folders, frames of other libraries, arrays. Polars does the reading."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from repbm.core import InputError
from repbm.logs._datasets import MINARI, d3rlpy_frame, minari_frame, named_minari, stored_d3rlpy
from repbm.logs._episodes import listed_episodes
from repbm.logs._files import D3RLPY, STANDARD_INPUT, Part, file_part, files_of, first_line, standard_input

Source = Any
"""A path to a file, a folder or a pattern of files, `-` for standard input, a frame of polars, pandas, pyarrow, DuckDB
(whatever has the Arrow interface), or a mapping of arrays.

Also a list of episodes (see `listed_episodes`), a Minari dataset or `minari:NAME`, a dataset of d3rlpy or its .h5 file.
"""


@dataclass(frozen=True)
class Table:
    """All rows of a log's parts, one after the other; remembers which part each row came from.

    Columns are taken out one by one, so that each is held only as long as it is needed.
    """

    columns: dict[str, pl.Series]
    rows: int
    names: tuple[str, ...]
    ends: tuple[int, ...]

    def place(self, row: int) -> str:
        """Where a row of the joined frame stands, for a message: its part, and its row there from 1."""
        part = bisect_right(self.ends, row)
        first = self.ends[part - 1] if part else 0
        return f"{self.names[part]}, row {row - first + 1}"

    def part_of(self, rows: np.ndarray) -> np.ndarray:
        """The number of the part in which each row stands."""
        return np.searchsorted(np.asarray(self.ends), rows, side="right")


def parts_of(source: Source) -> list[Part]:
    """The tables that a source consists of."""
    if isinstance(source, str) and source.startswith(MINARI):
        return [_foreign(lambda: named_minari(source), source)]
    if isinstance(source, str | Path) and str(source) == STANDARD_INPUT:
        return [standard_input()]
    if isinstance(source, str | Path):
        return [_stored(path) for path in files_of(Path(source))]
    if isinstance(source, pl.LazyFrame):
        source = _collected(source)
    if isinstance(source, pl.DataFrame):
        return [_in_memory(source)]
    if isinstance(source, Mapping):
        return [_in_memory(_arrays(source))]
    if isinstance(source, list | tuple) and (not source or isinstance(source[0], Mapping)):
        return [_in_memory(listed_episodes(source))]
    maker = type(source).__module__.split(".")[0]
    if maker in _FRAMES:
        return [_in_memory(_FRAMES[maker](source))]
    if hasattr(source, "__arrow_c_stream__"):
        return [_in_memory(_arrow(source))]
    raise InputError(
        f"a log of type {type(source).__name__}",
        fix="give a path, a polars or pandas frame (or another with the Arrow interface), a dict of arrays, "
        "a list of episodes or a dataset (Minari, d3rlpy)",
    )


def joined(parts: Sequence[Part], columns: Sequence[str]) -> Table:
    """Read these columns of all parts."""
    frames = [_untyped(part.read(columns)) for part in parts]
    first = frames[0].schema
    for part, frame in zip(parts[1:], frames[1:], strict=True):
        for name in columns:
            if not _alike(frame.schema[name], first[name]):
                raise InputError(
                    f"column '{name}' holds {_kind(frame.schema[name])}, but {_kind(first[name])} in {parts[0].name}",
                    where=part.name,
                    fix="store it alike in all files",
                )
    frame = frames[0] if len(frames) == 1 else pl.concat(frames, how="vertical_relaxed", rechunk=False)
    ends = tuple(np.cumsum([len(frame) for frame in frames]).tolist())
    if not len(frame):
        raise InputError("the log is empty", where=parts[0].name if len(parts) == 1 else None)
    return Table({name: frame[name] for name in columns}, len(frame), tuple(part.name for part in parts), ends)


def _untyped(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns that are empty throughout without a type: readers guess one."""
    hollow = [name for name in frame.columns if len(frame) and frame[name].null_count() == len(frame)]
    return frame.with_columns(pl.lit(None).alias(name) for name in hollow) if hollow else frame


def _alike(one: pl.DataType, other: pl.DataType) -> bool:
    return one == other or pl.Null in (one, other) or (one.is_numeric() and other.is_numeric())


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "numbers"
    return {pl.String: "text", pl.Boolean: "true/false"}.get(type(dtype), str(dtype))


def _in_memory(frame: pl.DataFrame, name: str = "the log") -> Part:
    return Part(name, frame.schema, lambda columns: frame.select(columns))


def _foreign(read: Callable[[], pl.DataFrame], where: str) -> Part:
    """A dataset of another library, whose faults say where it is."""
    try:
        return _in_memory(read(), where)
    except InputError as fault:
        raise fault.at(where) from fault


def _arrays(source: Mapping[str, Any]) -> pl.DataFrame:
    """A mapping of arrays; a two-dimensional one named x becomes columns x_0, x_1, ..."""
    columns: dict[str, Any] = {}
    for name, values in source.items():
        array = _array(name, values)
        if array.ndim not in (1, 2):
            raise InputError(f"array '{name}' has {array.ndim} dimensions", fix="give one or two")
        if array.ndim == 2:
            columns |= {f"{name}_{k}": _series(name, array[:, k]) for k in range(array.shape[1])}
        else:
            columns[name] = _series(name, array)
    lengths = {len(array): name for name, array in columns.items()}
    if len(lengths) > 1:
        (first, one), (second, other), *_ = lengths.items()
        raise InputError(f"array '{one}' has {first} rows, array '{other}' {second}", fix="give one row a step")
    return pl.DataFrame(columns)


def _array(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as fault:
        raise InputError(f"'{name}' is no array ({first_line(fault)})", fix="give one value a step") from fault


def _series(name: str, array: np.ndarray) -> pl.Series:
    """Arrays of Python objects, as gaps make them, by what they hold."""
    for dtype in (None, pl.Float64):
        try:
            return pl.Series(array.tolist() if array.dtype == object else array, dtype=dtype)
        except (TypeError, OverflowError, pl.exceptions.PolarsError) as fault:
            reason = first_line(fault)
    raise InputError(
        f"array '{name}' holds values of different types ({reason})", fix="give numbers only, or text only"
    )


def _collected(source: pl.LazyFrame) -> pl.DataFrame:
    try:
        return source.collect()
    except (OSError, pl.exceptions.PolarsError) as fault:
        raise InputError(f"the lazy frame cannot be read ({first_line(fault)})") from fault


_UNREADABLE = (TypeError, ValueError, NotImplementedError, OverflowError, pl.exceptions.PolarsError)
"""What columns of mixed types raise, in polars and in pyarrow, whose errors are kinds of the first three."""


def _pandas(source: Any) -> pl.DataFrame:
    try:
        frame = pl.from_pandas(source)
        ordered = {
            str(name): pl.Enum([str(level) for level in dtype.categories])
            for name, dtype in source.dtypes.items()
            if getattr(dtype, "ordered", False)
        }
        return frame.with_columns(pl.col(name).cast(pl.String).cast(kind) for name, kind in ordered.items())
    except ImportError as fault:
        raise InputError("reading pandas frames needs pyarrow", fix="pip install 'repbm[pandas]'") from fault
    except _UNREADABLE as fault:
        name = next((name for name in source.columns if not _readable(source[[name]])), None)
        what = "the pandas frame" if name is None else f"column '{name}' of the pandas frame"
        raise InputError(f"{what} cannot be read ({first_line(fault)})", fix="give it one type throughout") from fault


def _arrow(source: Any) -> pl.DataFrame:
    """A table or relation of pyarrow, DuckDB or another library that hands out Arrow streams."""
    try:
        return pl.DataFrame(source)
    except _UNREADABLE as fault:
        raise InputError(f"the {type(source).__name__} cannot be read ({first_line(fault)})") from fault


def _stored(path: Path) -> Part:
    if path.suffix.lower() in D3RLPY:
        return _foreign(lambda: stored_d3rlpy(path), str(path))
    return file_part(path)


def _readable(source: Any) -> bool:
    try:
        pl.from_pandas(source)
    except _UNREADABLE:
        return False
    return True


_FRAMES: dict[str, Callable[[Any], pl.DataFrame]] = {
    "pandas": _pandas,
    "minari": minari_frame,
    "d3rlpy": d3rlpy_frame,
}
"""Objects of other libraries, by the library."""
