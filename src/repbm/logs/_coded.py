"""Observations coded as those of another part of the log, which has shown how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from repbm.core import InputError
from repbm.data import Coding, Encoding, Kind
from repbm.logs._columns import Columns
from repbm.logs._layout import Layout
from repbm.logs._typed import cleaned

_FITTING = {
    Kind.NUMBER: lambda dtype: dtype.is_numeric() or dtype in (pl.Duration, pl.Time),
    Kind.FLAG: lambda dtype: dtype == pl.Boolean,
    Kind.CATEGORY: lambda dtype: dtype in (pl.String, pl.Categorical) or dtype.is_numeric(),
    Kind.ORDER: lambda dtype: isinstance(dtype, pl.Enum),
    Kind.DATE: lambda dtype: dtype in (pl.Date, pl.Datetime),
    Kind.ELAPSED: lambda dtype: dtype in (pl.Date, pl.Datetime),
}


class CodedOtherwise(InputError):
    """A column holds what the coding has no place for: what was learned from it says nothing about these rows."""


def coded_layout(found: Layout, encoding: Encoding) -> Layout:
    """With the observations that are coded, and no others."""
    theirs = found.next_observations or (None,) * len(found.observations)
    columns = dict(zip(found.observation_names, zip(found.observations, theirs, strict=True), strict=True))
    lacking = [coding.column for coding in encoding.codings if coding.name not in columns]
    if lacking:
        raise CodedOtherwise(f"there is no column '{lacking[0]}'")
    kept = [columns[coding.name] for coding in encoding.codings]
    return replace(
        found,
        observations=tuple(own for own, _ in kept),
        next_observations=tuple(other for _, other in kept if other is not None),
        observation_names=tuple(coding.name for coding in encoding.codings),
    )


def as_words(found: Layout, encoding: Encoding) -> set[str]:
    """The columns that are taken as words, whatever these look like."""
    theirs = found.next_observations or found.observations
    pairs = zip(encoding.codings, found.observations, theirs, strict=True)
    return {name for coding, *both in pairs if coding.kind is Kind.CATEGORY for name in both}


def check_coded(encoding: Encoding, at: Columns) -> None:
    """An error where a column is empty that is never empty there, or holds something else."""
    for coding in encoding.codings:
        series = at.series(coding.column)
        if series.dtype != pl.Null and not _FITTING[coding.kind](series.dtype):
            raise CodedOtherwise(f"column '{coding.column}' holds {series.dtype}, but {coding.kind} elsewhere")
        if coding.missing or (coding.plain and not series.null_count()):
            continue
        empty = cleaned(series.cast(pl.String)) if coding.kind is Kind.CATEGORY else series
        if empty.null_count():
            raise CodedOtherwise(f"column '{coding.column}' is empty, but never elsewhere")


def widened(encoding: Encoding, words: Mapping[str, pl.Series]) -> tuple[Encoding, list[str]]:
    """With a place in `other` for all these words of its columns, and what is to be said of those that it lacks."""
    codings, notes = [], []
    for coding in encoding.codings:
        if coding.column not in words:
            codings.append(coding)
            continue
        shown = set(cleaned(words[coding.column].cast(pl.String)).drop_nulls().to_list())
        new = sorted(shown - set(coding.levels) - set(coding.grouped) - {Coding.OTHER})
        codings.append(replace(coding, other=coding.other or bool(new) or Coding.OTHER in shown))
        if new:
            few = ", ".join(new[:4]) + (", ..." if len(new) > 4 else "")
            notes.append(f"rare in {coding.column}, put into '{coding.name}=other': {few}")
    return replace(encoding, codings=tuple(codings)), notes
