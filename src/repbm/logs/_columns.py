"""Columns of a table as checked arrays; every fault names its column and row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from repbm.core import InputError
from repbm.data import LARGEST_NUMBER, Categorical
from repbm.logs._tables import Table

_FEW_LABELS = 127
_FIRST = 1_000
_HARMLESS = 1e30
"""A sum of squares far from the end of single precision."""
_FLAGS = {
    "true": True,
    "false": False,
    "1": True,
    "0": False,
    "yes": True,
    "no": False,
    "y": True,
    "n": False,
    "": None,
}


@dataclass(frozen=True)
class Columns:
    """The columns of a table at some of its rows: all of them (None), those of a mask, or positions in any order."""

    table: Table
    rows: np.ndarray | None = None

    def __len__(self) -> int:
        if self.rows is None:
            return self.table.rows
        return int(self.rows.sum()) if self.rows.dtype == bool else len(self.rows)

    def place(self, position: int) -> str:
        rows = np.arange(self.table.rows) if self.rows is None else self.rows
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return self.table.place(int(rows[position]))

    def series(self, name: str) -> pl.Series:
        series = self.table.columns[name]
        if self.rows is None:
            return series
        return series.filter(pl.Series(self.rows)) if self.rows.dtype == bool else series.gather(self.rows)

    def numbers(self, name: str, *, gaps: bool = False, most: float = LARGEST_NUMBER) -> np.ndarray:
        """A column of finite numbers up to `most`; `gaps` lets NaN stand.

        float32 where it is stored so and squares do not come near its end, else float64.
        """
        series = self.series(name)
        if series.dtype == pl.Null:
            series = series.cast(pl.Float64)
        if series.dtype == pl.Boolean:
            series = series.cast(pl.Int8)
        if not series.dtype.is_numeric():
            self._not_numbers(name, series)
        if series.null_count() and not gaps:
            where = series.is_null().to_numpy()
            count = (
                f"is empty here and in {where.sum() - 1} more of {len(series)} rows" if where.sum() > 1 else "is empty"
            )
            fix = "fill it in (a reward: 0 where nothing was earned)"
            raise self._fault(name, where, count, fix)
        kind = pl.Float32 if series.dtype == pl.Float32 else pl.Float64
        array = series.cast(kind).to_numpy()
        # The sum of squares is small wherever all entries are, and much cheaper than looking at each.
        with np.errstate(all="ignore"):
            suspicious = not float(array @ array) <= _HARMLESS
        if suspicious:
            array = array.astype(np.float64)
            wrong = np.isinf(array) if gaps else ~np.isfinite(array)
            if wrong.any():
                raise self._fault(name, wrong, f"is {array[wrong][0]}", "every value must be a finite number")
            huge = np.abs(array) > most
            if huge.any():
                what = f"is {array[huge][0]:g}: what is computed from it would exceed floating point"
                raise self._fault(name, huge, what, "give it in larger units")
        return array

    def labels(self, name: str, what: str) -> Categorical:
        """A column of labels: whole numbers or text, none missing."""
        series = whole(self.series(name))
        if series.null_count() or series.dtype == pl.Null:
            raise self._fault(name, series.is_null().to_numpy(), "is empty")
        if series.dtype.is_float():
            odd = ~is_whole(series)
            raise self._fault(
                name,
                odd.to_numpy(),
                f"is {series.filter(odd)[0]:g}, which is no label of {what}",
                "give whole numbers or text (continuous values: put them into classes first)",
            )
        if series.dtype.is_integer():
            return _coded(series)
        if series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        if series.dtype != pl.String:
            raise InputError(
                f"column '{name}' holds {series.dtype}, which is no label of {what}",
                where=self.table.names[0],
                fix="give whole numbers or text",
            )
        found = series.unique().sort()
        codes = series.replace_strict(found, pl.Series(range(len(found)), dtype=pl.Int32))
        return Categorical(codes.to_numpy(), tuple(found.to_list()))

    def flags(self, name: str) -> np.ndarray:
        """A column of true/false; empty counts as false."""
        series = self.series(name)
        if series.dtype == pl.String:
            lowered = series.str.to_lowercase()
            words = _FLAGS
            odd = lowered.is_not_null() & ~lowered.is_in(list(words))
            if odd.any():
                raise self._fault(
                    name, odd.to_numpy(), f"is '{series.filter(odd)[0]}'", "give true or false (or --ends COLUMN=VALUE)"
                )
            series = lowered.replace_strict(list(words), list(words.values()), return_dtype=pl.Boolean)
        elif series.dtype.is_numeric():
            if series.dtype.is_float():
                series = series.fill_nan(None)
            odd = (series.is_not_null() & (series != 0) & (series != 1)).fill_null(False)
            if odd.any():
                raise self._fault(name, odd.to_numpy(), f"is {series.filter(odd)[0]}", "give true or false")
            series = series != 0
        elif series.dtype not in (pl.Boolean, pl.Null):
            raise InputError(
                f"column '{name}' holds {series.dtype}", where=self.table.names[0], fix="give true or false"
            )
        return series.cast(pl.Boolean).fill_null(False).to_numpy()

    def _not_numbers(self, name: str, series: pl.Series) -> None:
        if series.dtype == pl.String:
            odd = (series.is_not_null() & series.cast(pl.Float64, strict=False).is_null()).to_numpy()
            if odd.any():
                first = series.filter(pl.Series(odd))[0]
                raise self._fault(name, odd, f"is '{first}', which is no number", "code it as numbers")
            raise InputError(f"column '{name}' holds text", where=self.table.names[0], fix="store it as numbers")
        raise InputError(f"column '{name}' holds {series.dtype}, not numbers", where=self.table.names[0])

    def _fault(self, name: str, wrong: np.ndarray, what: str, fix: str | None = None) -> InputError:
        return InputError(f"column '{name}' {what}", where=self.place(int(np.flatnonzero(wrong)[0])), fix=fix)


def _coded(series: pl.Series) -> Categorical:
    """Whole numbers as labels, a stored chunk at a time; one byte an entry where there are few."""
    low, high = cast(int, series.min()), cast(int, series.max())
    if high - low > _FEW_LABELS:
        return Categorical.of(series.to_numpy())
    chunks = [chunk.to_numpy() for chunk in series.get_chunks()]
    chunks = [(chunk - low if low else chunk).astype(np.uint8) for chunk in chunks]
    present = np.add.reduce([np.bincount(chunk, minlength=high - low + 1) for chunk in chunks]) > 0
    place = (np.cumsum(present) - 1).astype(np.int8)
    codes = np.concatenate([chunk.view(np.int8) if present.all() else place[chunk] for chunk in chunks])
    return Categorical(codes, tuple((np.flatnonzero(present) + low).tolist()))


def whole(series: pl.Series) -> pl.Series:
    """Floats that hold only whole numbers (as data frames with gaps store them) as integers; NaN as empty.

    Integers beyond 64 bits, one for the sign, become text.
    """
    if isinstance(series.dtype, pl.Decimal):
        series = series.cast(pl.Float64 if series.dtype.scale else pl.Int128)
    if series.dtype == pl.Boolean:
        return series.cast(pl.Int8)
    if series.dtype in (pl.UInt64, pl.Int128, pl.UInt128):
        narrow = series.cast(pl.Int64, strict=False)
        return narrow if narrow.null_count() == series.null_count() else series.cast(pl.String)
    if not series.dtype.is_float():
        return series
    series = series.fill_nan(None)
    # A fraction among the first ones settles it.
    every = is_whole(series.head(_FIRST)).all() and is_whole(series).all()
    return series.cast(pl.Int64) if every else series


def has_fractions(series: pl.Series) -> bool:
    """Whether it is seen from the first ones that a column holds other than whole numbers."""
    return series.dtype.is_float() and not is_whole(series.head(_FIRST).fill_nan(None)).all()


def is_whole(series: pl.Series) -> pl.Series:
    """Where a column of floats holds a whole number, or nothing."""
    return (series.is_finite() & (series == series.floor()) & (series.abs() < 2**53)).fill_null(True)
