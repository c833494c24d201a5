"""Rewards: numbers, words that are worth something, or outcomes in last rows."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

import numpy as np
import polars as pl

from repbm.core import InputError
from repbm.logs._columns import Columns
from repbm.logs._faults import LogFault
from repbm.logs._structure import Structure
from repbm.logs._tables import Table
from repbm.logs._typed import cleaned, share_of_numbers, without_nan

FEW_WORDS = 6
"""So many different words in place of rewards are listed."""

_GOOD = ("survived", "alive", "success", "cured", "recovered", "yes", "y", "true", "won", "discharged")
_BAD = ("died", "dead", "deceased", "failure", "failed", "no", "n", "false", "lost")


def in_last_rows(at: Columns, name: str, shape: Structure) -> bool:
    """Whether rewards stand in last rows alone, with nothing in the others."""
    series = at.series(name)
    series = without_nan(series) if series.dtype.is_float() else series
    if not series.null_count():
        return False
    empty = series.is_null().to_numpy()
    last = np.zeros(len(empty), dtype=bool)
    last[shape.offsets[1:] - 1] = True
    return bool(not empty[last].any() and empty[~last].all())


def rewards_of(at: Columns, name: str, only_last: bool) -> np.ndarray:
    """The rewards; 0 where nothing stands, if they stand in last rows alone."""
    series = at.series(name)
    if series.dtype == pl.String and not share_of_numbers(series):
        words = series.drop_nulls().unique().sort().to_list()
        if len(words) <= FEW_WORDS:
            options = " ".join(f"--worth {quote(f'{word}=NUMBER')}" for word in words)
            raise LogFault(
                f"column '{name}' holds text ({', '.join(words)})",
                where=at.table.names[0],
                fix=f"say what each is worth: {options}",
                option=options,
            )
    if only_last:
        return np.nan_to_num(at.numbers(name, gaps=True).astype(np.float64), nan=0.0)
    return at.numbers(name).astype(np.float64, copy=False)


def known_worth(series: pl.Series) -> dict[str, float]:
    """1 for words of success and 0 for words of failure, as a column spells them; empty if it holds any others."""
    if series.dtype != pl.String:
        return {}
    words = series.drop_nulls().unique().sort().to_list()
    known = {word: 1.0 if word.lower() in _GOOD else 0.0 for word in words if word.lower() in (*_GOOD, *_BAD)}
    return known if len(known) == len(words) <= FEW_WORDS else {}


def valued(series: pl.Series, worth: Mapping[str, float], name: str, table: Table) -> pl.Series:
    """A column of words as what they are worth."""
    words = cleaned(series.cast(pl.String))
    known = {word.lower(): number for word, number in worth.items()}
    lowered = words.str.to_lowercase()
    odd = (lowered.is_not_null() & ~lowered.is_in(list(known))).to_numpy()
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise InputError(
            f"column '{name}' is '{words[row]}', whose worth is not said",
            where=table.place(row),
            fix=f"say --worth {words[row]}=NUMBER, too",
        )
    return lowered.replace_strict(list(known), list(known.values()), return_dtype=pl.Float64)
