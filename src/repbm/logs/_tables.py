"""Reading tables: files and folders, data frames, arrays. Polars does the reading."""

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

Source = Any
"""A path to a CSV or Parquet file or to a folder of them, a polars or pandas frame, or a mapping of arrays.

Also a list of episodes (see `listed_episodes`), a Minari dataset or `minari:NAME`, a dataset of d3rlpy or its .h5 file.
"""

_SUFFIXES = (".parquet", ".pq", ".csv")
_D3RLPY = (".h5", ".hdf5")


@dataclass(frozen=True)
class Part:
    """One table to read: what to call it, its columns, and how to read some of them."""

    name: str
    schema: Mapping[str, pl.DataType]
    read: Callable[[Sequence[str]], pl.DataFrame]


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
    if isinstance(source, str | Path):
        return [_file(path) for path in files_of(Path(source))]
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
    raise InputError(
        f"a log of type {type(source).__name__}",
        fix="give a path, a polars or pandas frame, a dict of arrays, a list of episodes or a dataset (Minari, d3rlpy)",
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
        raise InputError(fault.what, where=where, fix=fault.fix) from fault


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
        raise InputError(f"'{name}' is no array ({_first_line(fault)})", fix="give one value a step") from fault


def _series(name: str, array: np.ndarray) -> pl.Series:
    """Arrays of Python objects, as gaps make them, by what they hold."""
    for dtype in (None, pl.Float64):
        try:
            return pl.Series(array.tolist() if array.dtype == object else array, dtype=dtype)
        except (TypeError, OverflowError, pl.exceptions.PolarsError) as fault:
            reason = _first_line(fault)
    raise InputError(
        f"array '{name}' holds values of different types ({reason})", fix="give numbers only, or text only"
    )


def _collected(source: pl.LazyFrame) -> pl.DataFrame:
    try:
        return source.collect()
    except (OSError, pl.exceptions.PolarsError) as fault:
        raise InputError(f"the lazy frame cannot be read ({_first_line(fault)})") from fault


_UNREADABLE = (TypeError, ValueError, NotImplementedError, OverflowError, pl.exceptions.PolarsError)
"""What columns of mixed types raise, in polars and in pyarrow, whose errors are kinds of the first three."""


def _pandas(source: Any) -> pl.DataFrame:
    try:
        return pl.from_pandas(source)
    except ImportError as fault:
        raise InputError("reading pandas frames needs pyarrow", fix="pip install 'repbm[pandas]'") from fault
    except _UNREADABLE as fault:
        name = next((name for name in source.columns if not _readable(source[[name]])), None)
        what = "the pandas frame" if name is None else f"column '{name}' of the pandas frame"
        raise InputError(f"{what} cannot be read ({_first_line(fault)})", fix="give it one type throughout") from fault


def _check_separator(path: Path, where: str) -> None:
    """Refuse what spreadsheets of other languages call CSV, before its columns are looked for in vain."""
    with path.open("rb") as file:
        head = file.readline(1 << 16)
    for mark, name in ((b";", "semicolons"), (b"\t", "tabs")):
        if head.count(mark) > head.count(b","):
            raise InputError(
                f"columns are separated by {name}, not by commas",
                where=where,
                fix="save it with commas between columns and points in numbers (2.5, not 2,5)",
            )


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


def files_of(path: Path) -> list[Path]:
    """The files that a path stands for: itself, or the tables in the folder by name."""
    try:
        if path.is_dir():
            found = sorted(child for child in path.iterdir() if child.suffix.lower() in _SUFFIXES)
            if not found:
                raise InputError("the folder holds no .csv or .parquet file", where=str(path))
        elif path.exists():
            found = [path]
        else:
            raise InputError("no such file or folder", where=str(path), fix="check the path")
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror})", where=str(path)) from fault
    return found


def _file(path: Path) -> Part:
    where, suffix = str(path), path.suffix.lower()
    if _is_no_text(where):
        raise InputError("the name of the file is no UTF-8 text", where=where, fix="rename it")
    if suffix not in (*_SUFFIXES, *_D3RLPY):
        raise InputError(f"a file ending in '{suffix}'", where=where, fix="give .csv or .parquet (or .h5 of d3rlpy)")
    _guarded(lambda: path.open("rb").close(), where, suffix)
    if path.stat().st_size == 0:
        raise InputError("the file is empty", where=where)
    if suffix in _D3RLPY:
        return _foreign(lambda: stored_d3rlpy(path), where)
    if suffix == ".csv":
        _check_separator(path, where)
        frame = _guarded(lambda: pl.read_csv(path, infer_schema_length=None, glob=False), where, suffix)
        return Part(where, frame.schema, lambda columns: _selected(frame, columns, where))
    schema = _guarded(lambda: pl.read_parquet_schema(path), where, suffix)

    def read(columns: Sequence[str]) -> pl.DataFrame:
        _present(schema, columns, where)
        return _guarded(lambda: pl.scan_parquet(path, glob=False).select(columns).collect(), where, suffix)

    return Part(where, schema, read)


def _is_no_text(name: str) -> bool:
    """Whether a file system gave a name in other bytes than text has."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def _selected(frame: pl.DataFrame, columns: Sequence[str], where: str) -> pl.DataFrame:
    _present(frame.schema, columns, where)
    twice = [name for name in columns if f"{name}_duplicated_0" in frame.columns]  # polars tells them apart so
    if twice:
        raise InputError(f"column '{twice[0]}' is there twice", where=where, fix="rename or remove one of them")
    return frame.select(columns)


def _present(schema: Mapping[str, pl.DataType], columns: Sequence[str], where: str) -> None:
    absent = [name for name in columns if name not in schema]
    if absent:
        raise InputError(f"there is no column '{absent[0]}', which other files have", where=where)


def _guarded(action: Callable[[], Any], where: str, suffix: str) -> Any:
    try:
        return action()
    except pl.exceptions.NoDataError:
        raise InputError("the file is empty", where=where) from None
    except pl.exceptions.PolarsError as fault:
        kind = "CSV" if suffix == ".csv" else "Parquet"
        raise InputError(f"this is no {kind} file that can be read ({_first_line(fault)})", where=where) from fault
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror or _first_line(fault)})", where=where) from fault


def _first_line(fault: BaseException) -> str:
    return str(fault).strip().split("\n")[0][:160]
