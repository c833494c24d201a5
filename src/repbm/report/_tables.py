"""The table of estimates, for a terminal and for a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from rich.table import Table


def number(value: float | None, signed: bool = False) -> str:
    """Four significant digits, without needless exponents; a dash for nothing."""
    if value is None:
        return "-"
    if signed and value > 0:
        return f"+{number(value)}"
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3e}"
    digits = max(0, 3 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 4
    return f"{value:.{digits}f}"


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
            yield f"now: {number(rows[0]['practice'])}, the mean return of the log; a value less this is 'against now'"
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
