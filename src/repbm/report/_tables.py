"""The table of estimates, for a terminal and for a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from rich.table import Table

from repbm.core import number


def _range(low: float, high: float, signed: bool = False) -> str:
    return f"{number(low, signed)} to {number(high, signed)}"


def _cells(row: Mapping[str, Any], truth: Mapping[str, float]) -> dict[str, str]:
    """One row as text, without policy and note."""
    bounds = "-" if row["low"] is None else _range(row["low"], row["high"])
    cells = {
        "estimator": row["estimator"],
        "value": number(row["value"]),
        f"{row['level']:.0%} interval": bounds,
    }
    if truth:
        error = None if row["value"] is None else row["value"] - truth[row["policy"]]
        cells |= {"truth": number(truth[row["policy"]]), "error": number(error)}
    else:
        gains = "-" if row["difference_low"] is None else _range(row["difference_low"], row["difference_high"], True)
        cells |= {"against now": number(row["difference"], True), "its interval": gains}
    return cells | {"effective episodes": number(row["effective_episodes"])}


def estimates_tables(
    estimates: pl.DataFrame, truth: Mapping[str, float] | None = None, verdicts: Mapping[str, str] | None = None
) -> Iterator[Table | str]:
    """For a terminal: one table a policy, the answer first, the truth where it is known, then what is to be noted."""
    for (policy,), group in estimates.group_by("policy", maintain_order=True):
        rows = list(group.iter_rows(named=True))
        table = Table(title=f"{policy}: what {rows[0]['episodes']} logged episodes say", title_justify="left")
        for name in _cells(rows[0], truth or {}):
            table.add_column(
                name, justify="left" if name == "estimator" else "right", no_wrap=name != "effective episodes"
            )
        for row in rows:
            table.add_row(*_cells(row, truth or {}).values(), style="bold" if row["headline"] else "")
        yield table
        if verdicts:
            yield f"{policy}: {verdicts[str(policy)]}"
        if not truth:
            now = number(rows[0]["logged_mean"])
            yield f"now: {now}, the mean return of the log; a value less this is 'against now'"
        notes: dict[str, list[str]] = {}
        for row in rows:
            if row["note"]:
                notes.setdefault(row["note"], []).append(row["estimator"])
        for note, names in notes.items():
            yield f"{', '.join(names)}: {note}"


def estimates_lines(
    estimates: pl.DataFrame, truth: Mapping[str, float] | None = None, verdicts: Mapping[str, str] | None = None
) -> Iterator[str]:
    """For a pipe: plain lines, cells separated by tabs."""
    for k, row in enumerate(estimates.iter_rows(named=True)):
        cells = {"policy": row["policy"], **_cells(row, truth or {}), "headline": "yes" if row["headline"] else ""}
        cells |= {"verdict": verdicts[row["policy"]]} if verdicts else {}
        cells |= {"note": row["note"]}
        if k == 0:
            yield "\t".join(cells)
        yield "\t".join(cells.values())


def ranking_line(ranking: pl.DataFrame) -> str:
    """All policies in one line, the best first."""
    parts = []
    for row in ranking.iter_rows(named=True):
        chance = row["probability_best"]
        parts.append(f"{row['policy']} {number(row['value'])}" + ("" if chance is None else f" (best: {chance:.0%})"))
    return f"ranking: {', '.join(parts)}"
