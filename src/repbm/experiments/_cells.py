"""Tables of experiments as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from repbm.core import number


def result_cells(table: pl.DataFrame, hidden: Sequence[str] = ()) -> list[dict[str, str]]:
    """Every line of an experiment's table as text; columns x_low and x_high become one, "x interval"."""
    shown = [name for name in table.columns if name not in hidden]
    ends = {name: (f"{name}_low", f"{name}_high") for name in shown if f"{name}_low" in shown}
    bounds = {end for pair in ends.values() for end in pair}
    lines = []
    for row in table.iter_rows(named=True):
        cells: dict[str, str] = {}
        for name in (name for name in shown if name not in bounds):
            cells[_title(name)] = _text(row[name])
            if name in ends:
                low, high = (row[end] for end in ends[name])
                cells[f"{_title(name)} interval"] = "-" if low is None else f"{number(low)} to {number(high)}"
        lines.append(cells)
    return lines


def _title(name: str) -> str:
    return name.replace("_", " ")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return "-" if value is None else str(value)
