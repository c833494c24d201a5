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
_DIFFERENCES = ("difference", "difference_low", "difference_high")
_SINGLE = ("outcome_low", "outcome_high")
"""Where what really comes of an individual may lie: an outcome of 0 and 1 is one or the other, and nothing between."""
_MOST_STATES = 12


def people_table(
    logged: pl.DataFrame,
    new: pl.DataFrame,
    earned: pl.Series,
    states: pl.DataFrame,
    titles: Mapping[str, str],
    binary: bool,
) -> dict[str, Any]:
    """Names of the columns, their cells, and where the page finds what it needs.

    Of `logged` individuals, with what they `earned` and the `states` that they began in, in the same order, and of
    `new` ones. Binary outcomes are in percent.
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
    columns["happened"] = _outcomes(earned, binary) + empty
    has = list(columns)
    names = [_title(name, titles[name]) if binary else titles[name] for name in has]
    begun = states.get_columns()[:_MOST_STATES]
    names += [one.name if one.name not in names else say("page", "at_first", name=one.name) for one in begun]
    values = [cell for cell in columns.get("value", []) if cell is not None]
    table = {
        "names": names,
        "cells": [*columns.values(), *(_cells(one) + empty for one in begun)],
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


def _cells(state: pl.Series) -> list[Any]:
    return state.to_list() if state.dtype == pl.String else _short(state)


def _title(name: str, title: str) -> str:
    """Of shares: a difference between two is in points."""
    if name not in _OUTCOMES:
        return title
    return say("page", "in_points" if name in _DIFFERENCES else "in_percent", name=title)


def _outcomes(numbers: pl.Series, binary: bool) -> list[float | None]:
    """Of binary outcomes percentages, as everywhere else on the page with one digit."""
    if not binary:
        return _short(numbers)
    return [None if x is None or not np.isfinite(x) else round(100.0 * x, 1) for x in numbers]


def _short(numbers: pl.Series) -> list[float | None]:
    """Four significant digits are enough to read."""
    return [None if x is None or not np.isfinite(x) else float(f"{x:.4g}") for x in numbers]
