"""Files of tables: which there are, and how each is read."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from repbm.core import InputError, optional
from repbm.logs._text import read_text

STANDARD_INPUT = "-"
D3RLPY = (".h5", ".hdf5")
_PARQUET = (".parquet", ".pq")
_TEXT = tuple(f"{text}{packed}" for text in (".csv", ".tsv") for packed in ("", ".gz", ".zst"))
_EXCEL = (".xlsx", ".xls")
_MAGIC = b"PAR1"
_PATTERN = "*?["
_RESULT = ("run.json", "estimates.csv")
"""What a folder holds that `repbm evaluate --out` wrote."""


@dataclass(frozen=True)
class Part:
    """One table to read: what to call it, its columns, and how to read some of them."""

    name: str
    schema: Mapping[str, pl.DataType]
    read: Callable[[Sequence[str]], pl.DataFrame]


def files_of(path: Path) -> list[Path]:
    """The files that a path stands for: itself, those that fit a pattern, or the tables in a folder by name.

    Folders within it are looked into if it holds no table itself.
    """
    try:
        if path.is_dir():
            if all((path / name).exists() for name in _RESULT):
                fix = "give the log that it is about; repbm report shows it"
                raise InputError("this is a result, not a log", where=str(path), fix=fix)
            found = _tables(path.iterdir()) or _tables(path.rglob("*"))
            if not found:
                raise InputError("the folder holds no .csv or .parquet file", where=str(path))
        elif path.exists():
            found = [path]
        elif any(mark in str(path) for mark in _PATTERN):
            found = _fitting(path)
            if not found:
                raise InputError("no file fits this pattern", where=str(path), fix="check the path")
        else:
            raise InputError("no such file or folder", where=str(path), fix="check the path", code="file")
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror})", where=str(path), code="file") from fault
    return found


def stands_for_files(source: Any) -> bool:
    """Whether a log is one or more files, which can be read again."""
    try:
        return isinstance(source, str | Path) and (Path(source).exists() or bool(_fitting(Path(source))))
    except OSError:
        return False


def _fitting(pattern: Path) -> list[Path]:
    """The files whose paths fit a pattern; none if it is no pattern."""
    if not any(mark in str(pattern) for mark in _PATTERN):
        return []
    relative = pattern.relative_to(pattern.anchor) if pattern.anchor else pattern
    return sorted(path for path in Path(pattern.anchor or ".").glob(str(relative)) if path.is_file())


def is_parquet(path: Path) -> bool:
    """Whether a file's name says that it is one."""
    return ending_of(path) in _PARQUET


def file_part(path: Path) -> Part:
    """One file as a table to read."""
    where, ending = str(path), ending_of(path)
    if _is_no_text(where):
        raise InputError("the name of the file is no UTF-8 text", where=where, fix="rename it")
    if ending not in (*_TEXT, *_PARQUET, *_EXCEL):
        raise InputError(
            f"a file ending in '{path.suffix.lower()}'",
            where=where,
            fix=f"give .csv or .parquet (also {', '.join((*_TEXT[1:], *_EXCEL))}, or .h5 of d3rlpy)",
        )
    guarded(lambda: path.open("rb").close(), where, "")
    if path.stat().st_size == 0:
        raise InputError("the file is empty", where=where)
    if ending in _TEXT:
        return _framed(guarded(lambda: read_text(path), where, "CSV"), where)
    if ending in _EXCEL:
        optional("fastexcel", "excel")
        return _framed(guarded(lambda: pl.read_excel(path, infer_schema_length=None), where, "Excel"), where)
    schema = guarded(lambda: pl.read_parquet_schema(path), where, "Parquet")

    def read(columns: Sequence[str]) -> pl.DataFrame:
        _present(schema, columns, where)
        return guarded(lambda: pl.scan_parquet(path, glob=False).select(columns).collect(), where, "Parquet")

    return Part(where, schema, read)


def _is_no_text(name: str) -> bool:
    """Whether a file system gave a name in other bytes than text has."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def standard_input() -> Part:
    """What is piped in: Parquet, or text, compressed or not."""
    content, where = _piped(sys.stdin.buffer), "standard input"
    if not content:
        raise InputError("it is empty", where=where)
    if content.startswith(_MAGIC):
        return _framed(guarded(lambda: pl.read_parquet(io.BytesIO(content)), where, "Parquet"), where)
    return _framed(guarded(lambda: read_text(content), where, "CSV"), where)


@lru_cache(maxsize=1)
def _piped(stream: BinaryIO) -> bytes:
    """Read once: a log may be asked for twice."""
    return stream.read()


def ending_of(path: Path) -> str:
    """What a file's name says it is, with how it is compressed."""
    return "".join(path.suffixes[-2:] if path.suffix.lower() in (".gz", ".zst") else path.suffixes[-1:]).lower()


def first_line(fault: BaseException) -> str:
    return str(fault).strip().split("\n")[0][:160]


def _tables(paths: Any) -> list[Path]:
    readable = (*_TEXT, *_PARQUET, *_EXCEL)
    return sorted(path for path in paths if ending_of(path) in readable and not path.name.startswith((".", "~")))


def _framed(frame: pl.DataFrame, where: str) -> Part:
    return Part(where, frame.schema, lambda columns: _selected(frame, columns, where))


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


def guarded(action: Callable[[], Any], where: str, kind: str = "Parquet") -> Any:
    """What the action reads; a fault of the file in one line."""
    try:
        return action()
    except pl.exceptions.NoDataError:
        raise InputError("the file is empty", where=where) from None
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror or first_line(fault)})", where=where, code="file") from fault
    except Exception as fault:  # polars, its reader of Excel, and decoders fail in many ways
        raise InputError(f"this is no {kind} file that can be read ({first_line(fault)})", where=where) from fault
