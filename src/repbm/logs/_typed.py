"""What columns of text hold: numbers, flags, dates or words; and the many ways to write that a value is missing."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

MISSING_WORDS = ("", "NA", "N/A", "#N/A", "n/a", "na", "NaN", "nan", "<NA>", "NULL", "null", ".")
"""Missing in any column."""
_MISSING_NUMBERS = ("none", "-", "--", "?", "missing", "unknown", "nd", "n.a.", "#value!", "#div/0!")
"""Missing among numbers and dates; among words they may be answers."""
_FLAGS = {"true": True, "false": False}
_DATES = ("%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d")
_TIMES = (
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
)


def typed(series: pl.Series) -> pl.Series:
    """A column of text as what it holds, if all of it is; NaN as missing."""
    if series.dtype.is_float():
        return without_nan(series)
    if series.dtype != pl.String:
        return series
    text = cleaned(series)
    if text.null_count() == len(text):
        return pl.Series(series.name, [None] * len(text), dtype=pl.Null)
    lowered = text.str.to_lowercase()
    if lowered.is_in(list(_FLAGS)).fill_null(True).all():
        return lowered.replace_strict(list(_FLAGS), list(_FLAGS.values()), return_dtype=pl.Boolean)
    bare = text.set(lowered.is_in(_MISSING_NUMBERS).fill_null(False), None)
    if bare.null_count() == len(bare):
        return text
    for found in (bare.cast(pl.Float64, strict=False), *_parsed_times(bare)):
        if found.null_count() == bare.null_count():
            return found.fill_nan(None) if found.dtype.is_float() else found
    return text


def without_nan(series: pl.Series) -> pl.Series:
    """A column of floats with nothing in place of NaN. A sum is no number if a value is none, and quick."""
    total = series.sum()
    return series.fill_nan(None) if total != total else series


def cleaned(series: pl.Series) -> pl.Series:
    """Text without blanks around it, nothing where a word says that the value is missing."""
    text = series.str.strip_chars()
    return text.set(text.is_in(MISSING_WORDS).fill_null(False), None)


def share_of_numbers(series: pl.Series) -> float:
    """The share of the values of a column of text that are numbers, or would be with decimal points."""
    given = series.drop_nulls().str.replace(",", ".", literal=True)
    return float(given.cast(pl.Float64, strict=False).is_not_null().to_numpy().mean()) if len(given) else 0.0


def _parsed_times(series: pl.Series) -> Iterator[pl.Series]:
    """The column by each way to write dates, lazily: nothing where it does not fit."""
    first = series.drop_nulls()[0]
    if not first[:1].isdigit() or not any(mark in first for mark in "-./"):
        return
    for form in _DATES:
        yield series.str.to_date(form, strict=False)
    for form in _TIMES:
        yield series.str.to_datetime(form, strict=False, time_unit="us")
