"""The page about the paper's experiments: our tables beside the published ones, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from repbm.core import number
from repbm.experiments._cells import result_cells
from repbm.experiments._fidelity import Fidelity

if TYPE_CHECKING:
    from repbm.experiments import Result

Notes = Mapping[str, Mapping[str, str]]
"""Notes on every experiment: one for each row that needs it; `about` comes first, `conclusion` last."""


@dataclass(frozen=True)
class Page:
    """Markdown, and the PNG files it shows by name."""

    markdown: str
    figures: dict[str, bytes]


def reproduction_page(results: Sequence[Result], notes: Notes, folder: str) -> Page:
    """All results in the order of the notes, both fidelities in one section. Figures are linked in `folder`."""
    # Loaded when needed: most of what imports experiments draws nothing.
    from repbm.experiments.figures import figures

    known = list(dict.fromkeys(result.experiment.name for result in results))
    # In the order of the notes; experiments without notes come last.
    names = [*(name for name in notes if name in known), *(name for name in known if name not in notes)]
    pictures: dict[str, bytes] = {}
    parts = [notes.get("page", {}).get("about", "# The paper, reproduced").strip()]
    for name in names:
        own = {result.kind: result for result in results if result.experiment.name == name}
        shown = own.get("corrected") or next(iter(own.values()))
        drawn = {f"{name}-{key}.png": png for key, png in figures(shown.experiment, shown.rows).items()}
        pictures |= drawn
        parts += [*_section(name, own, notes.get(name, {})), *(f"![{key}]({folder}/{key})" for key in drawn)]
        parts += [text.strip() for text in [notes.get(name, {}).get("conclusion", "")] if text]
    return Page("\n\n".join(parts) + "\n", pictures)


def _section(name: str, own: Mapping[str, Result], notes: Mapping[str, str]) -> Iterator[str]:
    from repbm.experiments import Spec

    yield f"## {name}"
    yield " ".join(
        f"{kind[0].upper()}{kind[1:]}: {result.runs} runs, seed {result.seed}, version {result.version}."
        for kind, result in own.items()
    )
    if "about" in notes:
        yield notes["about"].strip()
    first = next(iter(own.values()))
    if not isinstance(first.experiment, Spec):
        yield _markdown(result_cells(first.table, first.experiment.hidden))
        return
    yield _markdown(_lines({kind: result.table for kind, result in own.items()}))
    for kind, result in own.items():
        if result.fidelity is Fidelity.AS_PUBLISHED:
            said = list(_differences(kind, result.table, notes))
            # The notes tell why, with the experiment's own policy.
            yield from said if kind == Fidelity.AS_PUBLISHED.value else said[:1]


def _lines(tables: Mapping[str, pl.DataFrame]) -> list[dict[str, str]]:
    """One line per estimator: published, repeated as published, corrected; for the mean, then for individuals."""
    rows = {kind: {row["estimator"]: row for row in table.iter_rows(named=True)} for kind, table in tables.items()}
    names = list(dict.fromkeys(name for table in rows.values() for name in table))
    lines = []
    for name in names:
        found = {kind: table[name] for kind, table in rows.items() if name in table}
        line = {"estimator": f"`{name}`"}
        for metric in ("mean", "individual"):
            any_row = next(iter(found.values()))
            line[f"{metric}: published"] = number(any_row[f"published_{metric}"])
            for kind in sorted(tables):
                line[f"{metric}: {kind}"] = _with_interval(found.get(kind), metric)
        lines.append(line)
    return lines


def _with_interval(row: Mapping[str, Any] | None, metric: str) -> str:
    if row is None or row[f"rmse_{metric}"] is None:
        return "-"
    low, high = row[f"rmse_{metric}_low"], row[f"rmse_{metric}_high"]
    return number(row[f"rmse_{metric}"]) + ("" if low is None else f" ({number(low)} to {number(high)})")


def _differences(kind: str, table: pl.DataFrame, notes: Mapping[str, str]) -> Iterator[str]:
    """How many rows repeated as published agree with the paper; those that do not, each with the reason."""
    apart = []
    count = 0
    for row in table.iter_rows(named=True):
        for metric in ("mean", "individual"):
            agrees = row[f"agrees_{metric}"]
            count += agrees is not None
            if agrees is False:
                own, paper = number(row[f"rmse_{metric}"]), number(row[f"published_{metric}"])
                reason = notes.get(row["estimator"], notes.get("others", "The reason is not known."))
                apart.append(f"- `{row['estimator']}`, {metric}: {own}, published {paper}. {reason.strip()}")
    yield f"Repeated {kind}, {count - len(apart)} of {count} figures agree with the paper's."
    if apart:
        yield "Those that do not:"
        yield "\n".join(apart)


def _markdown(lines: Sequence[Mapping[str, str]]) -> str:
    if not lines:
        return "No runs yet."
    head = list(lines[0])
    rows = [head, ["---" if k == 0 else "---:" for k in range(len(head))], *(list(line.values()) for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
