"""The table of estimates, for a terminal and for a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from rich.table import Table


def number(value: float | None) -> str:
    """Four significant digits, without needless exponents; a dash for nothing."""
    if value is None:
        return "-"
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3e}"
    digits = max(0, 3 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 4
    return f"{value:.{digits}f}"


def _cells(row: Mapping[str, Any], truth: Mapping[str, float]) -> dict[str, str]:
    bounds = "-" if row["low"] is None else f"{number(row['low'])} to {number(row['high'])}"
    cells = {
        "policy": row["policy"],
        "estimator": row["estimator"],
        "value": number(row["value"]),
        f"{row['level']:.0%} interval": bounds,
    }
    if truth:
        error = None if row["value"] is None else row["value"] - truth[row["policy"]]
        cells |= {"truth": number(truth[row["policy"]]), "error": number(error)}
    return cells | {"effective episodes": number(row["effective_episodes"]), "note": row["note"]}


def estimates_table(estimates: pl.DataFrame, truth: Mapping[str, float] | None = None) -> Table:
    """The estimates as a table for a terminal, with the truth beside them where it is known."""
    rows = [_cells(row, truth or {}) for row in estimates.iter_rows(named=True)]
    shown = [name for name in rows[0] if name != "note" or any(row["note"] for row in rows)]
    table = Table(title=f"From {estimates['episodes'][0]} logged episodes")
    for name in shown:
        numeric = name not in ("policy", "estimator", "note")
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", no_wrap=numeric)
    last = None
    for row in rows:
        if last not in (None, row["policy"]):
            table.add_section()
        last = row["policy"]
        table.add_row(*(row[name] for name in shown))
    return table


def estimates_lines(estimates: pl.DataFrame, truth: Mapping[str, float] | None = None) -> Iterator[str]:
    """The estimates as plain lines, cells separated by tabs."""
    rows = [_cells(row, truth or {}) for row in estimates.iter_rows(named=True)]
    yield "\t".join(rows[0])
    for row in rows:
        yield "\t".join(row.values())
