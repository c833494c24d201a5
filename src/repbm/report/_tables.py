"""Estimates as text: the answers alone, or every estimator; for a terminal and for a pipe."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from rich.box import SIMPLE_HEAD
from rich.table import Table

from repbm.core import number, otherwise
from repbm.evaluation import Effect
from repbm.report._scale import PLAIN, Shown

_SAME = 1e-9
"""Estimates whose numbers differ by less, relatively, are one: `is` and `pdis` where episodes have one step."""
_MOST_LINES = 4
"""More lines of who says otherwise do not fit on a screen: then only of whom it is so."""
_NUMBERS = ("value", "low", "high", "difference_low", "difference_high", "effective_episodes")


def answers_of(estimates: pl.DataFrame) -> list[dict[str, Any]]:
    """The row of the answer of every policy; its first row where none has a value."""
    rows = estimates.sort("headline", descending=True, maintain_order=True)
    order = {name: k for k, name in enumerate(estimates["policy"].unique(maintain_order=True))}
    first = rows.unique("policy", keep="first", maintain_order=True).iter_rows(named=True)
    return sorted(first, key=lambda row: order[row["policy"]])


def merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one policy, those with the same numbers once, under all their names."""
    kept: list[dict[str, Any]] = []
    for row in rows:
        twin = next((one for one in kept if row["value"] is not None and _same(one, row)), None)
        if twin is None:
            kept.append(dict(row))
        else:
            twin["estimator"] = f"{twin['estimator']}, {row['estimator']}"
    return kept


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if (one["role"], one["note"]) != (other["role"], other["note"]):
        return False
    pairs = [(one[name], other[name]) for name in _NUMBERS]
    return all(a is b if a is None or b is None else bool(np.isclose(a, b, rtol=_SAME, atol=0)) for a, b in pairs)


def disagreement(row: Mapping[str, Any], estimates: pl.DataFrame, shown: Shown) -> str:
    """Who says otherwise than the answer, and what; empty where nobody does."""
    return otherwise([(name, family, shown.value(value)) for name, family, value in _others(row, estimates)])


def _others(row: Mapping[str, Any], estimates: pl.DataFrame) -> list[tuple[str, str, float]]:
    names = row["disagreeing"].split(", ") if row["disagreeing"] else []
    own = estimates.filter(pl.col("policy") == row["policy"], pl.col("estimator").is_in(names))
    return list(own.select("estimator", "family", "value").iter_rows())


def noted(row: Mapping[str, Any], estimates: pl.DataFrame, shown: Shown) -> str:
    """The note of a row, with the values in it as people read them."""
    plain = otherwise([(name, family, number(value)) for name, family, value in _others(row, estimates)])
    return row["note"].replace(plain, disagreement(row, estimates, shown)) if plain else row["note"]


def _cells(row: Mapping[str, Any], shown: Shown, truth: Mapping[str, float]) -> dict[str, str]:
    """The numbers of one row as people read them."""
    bounds = shown.range(row["low"], row["high"])
    cells = {shown.title: shown.value(row["value"]), f"{row['level']:.0%} interval": bounds}
    if truth:
        error = None if row["value"] is None else row["value"] - truth[row["policy"]]
        return cells | {"truth": shown.value(truth[row["policy"]]), "error": shown.value(error)}
    bounds = shown.differences(row["difference_low"], row["difference_high"])
    return cells | {"against now": shown.difference(row["difference"]), "its interval": bounds}


def _plain_cells(row: Mapping[str, Any], truth: Mapping[str, float]) -> dict[str, str]:
    """The same as programs read them: without percent signs and words."""
    cells = {"value": number(row["value"]), f"{row['level']:.0%} interval": _range(row["low"], row["high"])}
    if truth:
        error = None if row["value"] is None else row["value"] - truth[row["policy"]]
        return cells | {"truth": number(truth[row["policy"]]), "error": number(error)}
    bounds = _range(row["difference_low"], row["difference_high"], True)
    return cells | {"against now": number(row["difference"], True), "its interval": bounds}


def _range(low: float | None, high: float | None, signed: bool = False) -> str:
    return "-" if low is None or high is None else f"{number(low, signed)} to {number(high, signed)}"


def answers_table(
    estimates: pl.DataFrame,
    verdicts: Mapping[str, str],
    truth: Mapping[str, float] | None = None,
    shown: Shown = PLAIN,
) -> Iterator[Table | str]:
    """For a terminal, at most a screen: one row a policy, then what the log supports, and who says otherwise.

    `verdicts` are sentences; policies with the same one share it, and so they do what is to be said against an answer.
    """
    rows = answers_of(estimates)
    title = f"what {rows[0]['episodes']} logged episodes say"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("policy", overflow="fold")
    for name in _cells(rows[0], shown, truth or {}):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for row in rows:
        table.add_row(row["policy"], *_cells(row, shown, truth or {}).values(), row["verdict"])
    yield table
    if not truth:
        yield f"now: {shown.value(rows[0]['logged_mean'])}, the mean return of the log"
    yield from _shared((row["policy"], verdicts[row["policy"]]) for row in rows)
    if shown.binary and not truth:
        effects = ((row["policy"], Effect.of(row)) for row in rows)
        yield from (f"{name}: {shown.effect(effect)}" for name, effect in effects if effect is not None)
    doubts = [(row["policy"], disagreement(row, estimates, shown)) for row in rows]
    lines = list(_shared(doubts))
    if len(lines) > _MOST_LINES:
        names = ", ".join(name for name, doubt in doubts if doubt)
        lines = [f"{names}: other estimators say otherwise; --all shows them"]
    yield from lines
    yield from _shared((row["policy"], row["note"] if row["low"] is None else "") for row in rows)


def _shared(said: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What is said of each name, those of whom the same is said together; nothing of those of whom nothing is."""
    names: dict[str, list[str]] = {}
    for name, words in said:
        names.setdefault(words, []).append(name)
    yield from (f"{', '.join(own)}: {words}" for words, own in names.items() if words)


def estimates_tables(
    estimates: pl.DataFrame,
    verdicts: Mapping[str, str],
    truth: Mapping[str, float] | None = None,
    shown: Shown = PLAIN,
) -> Iterator[Table | str]:
    """For a terminal: one table a policy, the answer first, the truth where it is known, then what is to be noted."""
    for (policy,), group in estimates.group_by("policy", maintain_order=True):
        rows = merged(list(group.iter_rows(named=True)))
        table = Table(title=f"{policy}: what {rows[0]['episodes']} logged episodes say", title_justify="left")
        table.add_column("estimator", no_wrap=True)
        cells = [
            {**_cells(row, shown, truth or {}), "effective episodes": number(row["effective_episodes"])} for row in rows
        ]
        for name in cells[0]:
            # Where the name of an outcome is long, it takes several lines rather than the place of other numbers.
            long = name in (shown.title, "effective episodes")
            width = max(map(len, (*name.split(), *(own[name] for own in cells)))) if long else None
            table.add_column(name, justify="right", width=width, no_wrap=not long)
        for row, own in zip(rows, cells, strict=True):
            table.add_row(row["estimator"], *own.values(), style="bold" if row["headline"] else "")
        yield table
        yield f"{policy}: {verdicts[str(policy)]}"
        if not truth:
            now = shown.value(rows[0]["logged_mean"])
            yield f"now: {now}, the mean return of the log; a value less this is 'against now'"
        notes: dict[str, list[str]] = {}
        for row in rows:
            if row["note"]:
                notes.setdefault(noted(row, estimates, shown), []).append(row["estimator"])
        for note, names in notes.items():
            yield f"{', '.join(names)}: {note}"


def estimates_lines(
    estimates: pl.DataFrame,
    verdicts: Mapping[str, str] | None = None,
    truth: Mapping[str, float] | None = None,
    answers: bool = False,
) -> Iterator[str]:
    """For a pipe: plain lines, cells separated by tabs; the answers alone, or every estimator.

    `verdicts` are sentences: they stand with the answer of their policy.
    """
    first = {row["policy"]: row["estimator"] for row in answers_of(estimates)}
    for k, row in enumerate(answers_of(estimates) if answers else estimates.iter_rows(named=True)):
        cells = {"policy": row["policy"], "estimator": row["estimator"], **_plain_cells(row, truth or {})}
        cells |= {"effective episodes": number(row["effective_episodes"])}
        cells |= {"headline": "yes" if row["headline"] else ""}
        if verdicts is not None:
            told = first[row["policy"]] == row["estimator"]
            cells |= {"verdict": verdicts[row["policy"]] if told else ""}
        cells |= {"note": row["note"]}
        if k == 0:
            yield "\t".join(cells)
        yield "\t".join(cells.values())


def ranking_line(ranking: pl.DataFrame, shown: Shown = PLAIN, refused: Collection[str] = ()) -> str:
    """All policies in one line, the best first; `refused` are those that the log does not support."""
    parts = []
    for row in ranking.iter_rows(named=True):
        chance = row["probability_best"]
        lost = " (not supported)" if row["policy"] in refused else ""
        said = lost if chance is None else f" (best: {chance:.0%})"
        parts.append(f"{row['policy']} {shown.value(row['value'])}{said}")
    return f"ranking: {', '.join(parts)}"
