"""The table of individuals, as columns for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from repbm.core import say
from repbm.report._charts import individual_bins

_COLUMNS = (
    "recommended",
    "given",
    "value",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "logged_value",
    "outcome_low",
    "outcome_high",
    "support",
    "similar",
    "similar_return",
    "nearest",
    "refused",
)
_OUTCOMES = (
    "value",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "logged_value",
    "outcome_low",
    "outcome_high",
    "similar_return",
    "happened",
)
"""Columns in units of the outcome."""
_SINGLE = ("outcome_low", "outcome_high")
"""Where what really comes of an individual may lie: an outcome of 0 and 1 is one or the other, and nothing between."""
_MOST_STATES = 12


def people_table(
    logged: pl.DataFrame, new: pl.DataFrame, episodes: pl.DataFrame, titles: Mapping[str, str], binary: bool
) -> dict[str, Any]:
    """Names of the columns, their cells, and where the page finds what it needs.

    Of `logged` individuals, whose `episodes` are in the same order, and of `new` ones. Binary outcomes are in percent.
    """
    both = pl.concat([logged, new])
    factor = 100.0 if binary else 1.0
    columns: dict[str, list] = {"individual": both["episode"].to_list()}
    for name in _COLUMNS:
        if not both[name].is_not_null().any() or (binary and name in _SINGLE):
            continue
        if name == "similar":
            pairs = zip(both["similar_recommended"], both["similar"], strict=True)
            columns[name] = [None if known is None else f"{count} / {known}" for count, known in pairs]
        elif both[name].dtype == pl.String:
            columns[name] = both[name].to_list()
        else:
            columns[name] = _outcomes(both[name], binary) if name in _OUTCOMES else _short(both[name])
    empty = [None] * len(new)
    columns["happened"] = _outcomes(episodes["logged_return"], binary) + empty
    has = list(columns)
    names = [_title(titles[name], binary and name in _OUTCOMES) for name in has]
    states = episodes.columns[2 : 2 + _MOST_STATES]
    names += [name if name not in names else say("page", "at_first", name=name) for name in states]
    values = [cell for cell in columns.get("value", []) if cell is not None]
    table = {
        "names": names,
        "cells": [*columns.values(), *(_short(episodes[name]) + empty for name in states)],
        "value": has.index("value") if "value" in has else 0,
        "support": has.index("support") if "support" in has else None,
        "nearest": has.index("nearest") if "nearest" in has else None,
        "states": list(range(len(has), len(names))),
        "edges": [],
        "has": has,
    }
    own = logged["value"].drop_nulls().drop_nans().to_numpy() * factor
    if len(own):
        edges = individual_bins(own)[1]
        table |= {"edges": [float(f"{edge:.5g}") for edge in edges]}
        table |= {"least": min(values), "most": max(values)}
    return table


def _title(name: str, percent: bool) -> str:
    return f"{name} (%)" if percent else name


def _outcomes(numbers: pl.Series, binary: bool) -> list[float | None]:
    """Of binary outcomes percentages, as everywhere else on the page with one digit."""
    if not binary:
        return _short(numbers)
    return [None if x is None or not np.isfinite(x) else round(100.0 * x, 1) for x in numbers]


def _short(numbers: pl.Series) -> list[float | None]:
    """Four significant digits are enough to read."""
    return [None if x is None or not np.isfinite(x) else float(f"{x:.4g}") for x in numbers]
