"""Columns as people have them to numbers: categories, flags, dates, missing values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from jaxtyping import Float

from repbm.core import EncodingRules, InputError, nearest
from repbm.data import LARGEST_OBSERVATION, Coding, Kind
from repbm.logs._columns import Columns
from repbm.logs._typed import cleaned, share_of_numbers

_DAY = 86_400_000_000
_WORDS = (pl.String, pl.Categorical)


class NothingToLearn(InputError):
    """A column that tells nothing: always empty, or another text in every row."""


def fitted(
    name: str, column: str, at: Columns, offsets: np.ndarray | None, missing: str, rules: EncodingRules
) -> Coding:
    """How to code a column, from its values at the steps of the log; `offsets` tell where episodes begin."""
    stored = at.table.columns[column]
    if stored.dtype.is_numeric() and not stored.null_count():
        return Coding(name, column)
    series = at.series(column)
    coding = _coding(name, column, at, series, offsets, rules)
    absent = series.is_null().to_numpy()
    if not absent.any():
        return coding
    if missing == "refuse" or absent.all():
        more = f" here and in {absent.sum() - 1} more of {len(series)} rows" if absent.sum() > 1 else ""
        fix = "leave the column out" if absent.all() else "fill it in, or say --missing impute"
        kind = NothingToLearn if absent.all() else InputError
        raise kind(f"column '{column}' is empty{more}", where=at.place(int(np.flatnonzero(absent)[0])), fix=fix)
    fill = 0.0
    if coding.kind is not Kind.CATEGORY:
        fill = float(np.nanmedian(_numbers(coding, at, series, starts(coding, at, offsets))))
    return replace(coding, missing=True, fill=fill)


def _coding(
    name: str, column: str, at: Columns, series: pl.Series, offsets: np.ndarray | None, rules: EncodingRules
) -> Coding:
    if series.dtype.is_numeric() or series.dtype in (pl.Null, pl.Duration, pl.Time):
        return Coding(name, column)
    if series.dtype == pl.Boolean:
        return Coding(name, column, Kind.FLAG)
    if series.dtype in (pl.Date, pl.Datetime):
        moving = Coding(name, column, Kind.ELAPSED)
        begun = starts(moving, at, offsets)
        if begun is not None and (_micros(series) > begun).any():
            return moving
        return Coding(name, column, Kind.DATE, origin=str(series.min())[:10])
    if isinstance(series.dtype, pl.Enum):
        return Coding(name, column, Kind.ORDER, tuple(series.dtype.categories.to_list()))
    if series.dtype in _WORDS:
        return _category(name, column, at, cleaned(series.cast(pl.String)), rules)
    raise InputError(f"column '{column}' holds {series.dtype}, not numbers", where=at.table.names[0])


def _category(name: str, column: str, at: Columns, words: pl.Series, rules: EncodingRules) -> Coding:
    odd = (words.is_not_null() & words.cast(pl.Float64, strict=False).is_null()).to_numpy()
    # Numbers alone are here where they are stored as categories.
    if odd.any() and share_of_numbers(words) > rules.mostly_numbers:
        raise InputError(
            f"column '{column}' is '{words.filter(pl.Series(odd))[0]}', which is no number",
            where=at.place(int(np.flatnonzero(odd)[0])),
            fix="correct it, or leave it empty",
        )
    given = words.drop_nulls()
    counts = given.value_counts(sort=True)
    levels, sizes = counts[counts.columns[0]].to_list(), counts["count"].to_numpy()
    if len(levels) > rules.most_categories and len(levels) > rules.mostly_distinct * len(given):
        raise NothingToLearn(
            f"column '{column}' holds {len(levels)} different texts in {len(given)} rows, which are no categories",
            where=at.table.names[0],
            fix="leave the column out",
        )
    few = (sizes < rules.rare_rows) & (sizes < rules.rare_share * len(given))
    few |= np.arange(len(levels)) >= rules.most_categories
    few |= np.asarray([level == Coding.OTHER for level in levels])
    grouped = sorted(level for level, rare in zip(levels, few, strict=True) if rare and level != Coding.OTHER)
    kept = tuple(sorted(level for level, rare in zip(levels, few, strict=True) if not rare))
    return Coding(name, column, Kind.CATEGORY, kept, bool(few.any()), tuple(grouped[: rules.most_categories]))


def starts(coding: Coding, at: Columns, offsets: np.ndarray | None) -> np.ndarray | None:
    """When the episode of each step began, where a column tells elapsed time; these rows are the steps."""
    if coding.kind is not Kind.ELAPSED or offsets is None:
        return None
    begun = np.fmin.reduceat(_micros(at.series(coding.column)), offsets[:-1])
    return np.repeat(begun, np.diff(offsets))


def encoded(
    coding: Coding, at: Columns, column: str, begun: np.ndarray | None = None
) -> Float[np.ndarray, "rows columns"]:
    """A column of these rows as numbers; NaN where it is empty and the log's never was.

    `begun` is when each row's episode began, from which elapsed time counts; without it, this row is its first.
    Categories that the log does not show go into `other`, where there is one; else the error names them.
    """
    series = at.series(column)
    absent = series.is_null().to_numpy()
    result = np.empty((len(series), len(coding.names)))
    if coding.kind is Kind.CATEGORY:
        words = cleaned(series.cast(pl.String))
        known = words.is_in(coding.levels).fill_null(True)
        if not coding.other and not known.all():
            raise _never_shown(coding, at, column, words, (~known).to_numpy())
        for k, level in enumerate(coding.shown):
            fits = ~known if coding.other and level == Coding.OTHER else words == level
            result[:, k] = fits.fill_null(False).cast(pl.Float64).to_numpy()
    else:
        result[:, 0] = _numbers(coding, at, series, begun, column)
        if coding.missing:
            result[absent, 0] = coding.fill
    if coding.missing:
        result[:, -1] = absent
    else:
        result[absent] = np.nan
    return result


def _never_shown(coding: Coding, at: Columns, column: str, words: pl.Series, new: np.ndarray) -> InputError:
    """Some categories are new, and there is no place for them: what the first may mean, or what there is."""
    row = int(np.flatnonzero(new)[0])
    guess = nearest(words[row], coding.levels)
    return InputError(
        f"column '{column}' is '{words[row]}', which the log never shows",
        where=at.place(row),
        fix=f"did you mean '{guess}'?" if guess else f"it shows {', '.join(coding.levels)}",
    )


def _numbers(
    coding: Coding, at: Columns, series: pl.Series, begun: np.ndarray | None, column: str | None = None
) -> Float[np.ndarray, " rows"]:
    """The column as numbers, NaN where it is empty."""
    column = column or coding.column
    wrong = InputError(
        f"column '{column}' holds {series.dtype}, but {coding.kind} in the log",
        where=at.table.names[0],
        fix="give it alike",
    )
    if series.dtype == pl.Null:
        return np.full(len(series), np.nan)
    if coding.kind is Kind.ORDER:
        words = series.cast(pl.String)
        codes = words.replace_strict(coding.levels, range(len(coding.levels)), default=None, return_dtype=pl.Float64)
        new = (codes.is_null() & words.is_not_null()).to_numpy()
        if new.any():
            raise _never_shown(coding, at, column, words, new)
        return codes.to_numpy()
    if coding.kind in (Kind.DATE, Kind.ELAPSED):
        if series.dtype not in (pl.Date, pl.Datetime):
            raise wrong
        if coding.kind is Kind.DATE:
            origin = np.datetime64(coding.origin, "us").astype(np.int64)
        else:
            origin = _micros(series) if begun is None else begun
        return (_micros(series) - origin) / _DAY
    if series.dtype in (pl.Duration, pl.Time):
        return series.cast(pl.Duration("us")).cast(pl.Int64).cast(pl.Float64).to_numpy() / _DAY
    if coding.kind is Kind.FLAG and not (series.dtype == pl.Boolean or series.dtype.is_numeric()):
        raise wrong
    return at.numbers(column, gaps=True, most=LARGEST_OBSERVATION).astype(np.float64)


def _micros(series: pl.Series) -> np.ndarray:
    return series.cast(pl.Datetime("us")).cast(pl.Int64).cast(pl.Float64).to_numpy()
