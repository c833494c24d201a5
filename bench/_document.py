"""docs/benchmarks.md and its charts: a pure function of what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from bench._pages import PAGES
from bench._recorded import WORSE, Recorded
from bench._sheet import Point, Sheet

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
AXES = {
    "time": ("steps", "seconds"),
    "memory": ("steps", "peak memory, GiB"),
    "workers": ("workers", "times as fast as one process"),
}
"""What charts show, by their name."""
_SHARED = "ratios"
_ABOUT = f"""Written by `make bench`. Every figure is a ratio: to a limit, or to a reference that was measured beside it
on the same machine. So it means much the same elsewhere. The less, the better. `make bench-check` measures again, and
fails where a ratio is more than {WORSE} times the one recorded here. `python -m bench million` runs one page, in
the folder of the source; pages that take very long run only if they are named.
"""


def write_document(recorded: Recorded, path: Path = DOCUMENT) -> None:
    """The page, and one SVG a chart beside it, in a folder of its own name."""
    charts = path.with_suffix("")
    charts.mkdir(parents=True, exist_ok=True)
    for old in charts.glob("*.svg"):
        old.unlink()
    _ratios(recorded).save(charts / f"{_SHARED}.svg")
    for name, sheet in recorded.pages.items():
        for chart in dict.fromkeys(point.chart for point in sheet.points):
            points = [point for point in sheet.points if point.chart == chart]
            _lines(chart, points).save(charts / f"{name}-{chart}.svg")
    path.write_text("\n".join(_document(recorded, charts.name)), "utf-8")


def _document(recorded: Recorded, charts: str) -> Iterator[str]:
    yield "# Benchmarks\n"
    yield _ABOUT
    yield f"{_machine(recorded.machine)}\n"
    yield f"![Every ratio as a share of its limit]({charts}/{_SHARED}.svg)\n"
    for name, sheet in recorded.pages.items():
        yield f"## {PAGES[name].title if name in PAGES else name}\n"
        yield f"`python -m bench {name}`\n"
        yield from _figures(sheet)
        yield from (f"- {line}" for line in sheet.lines)
        if sheet.lines:
            yield ""
        for chart in dict.fromkeys(point.chart for point in sheet.points):
            x, y = AXES[chart]
            yield f"![{y} by {x}]({charts}/{name}-{chart}.svg)\n"


def _machine(machine: Mapping[str, Any]) -> str:
    size = f"{machine['cores']} cores and {machine['memory_gib']} GiB of memory"
    what = f"{machine['processor']}, {machine['system']}, Python {machine['python']}; JAX on its {machine['device']}"
    return f"Measured on a machine with {size} ({what})."


def _figures(sheet: Sheet) -> Iterator[str]:
    if not sheet.figures:
        return
    yield "| ratio | found | at most |"
    yield "|---|---:|---:|"
    for one in sheet.figures:
        limit = "" if one.limit is None else f"{one.limit:g}" if one.kept else f"{one.limit:g}: falls short"
        yield f"| {one.name} | {one.ratio:.2f} | {limit} |"
    yield ""


def _ratios(recorded: Recorded) -> alt.Chart:
    rows = [
        {"figure": f"{page}: {one.name}", "share": one.ratio / one.limit, "kept": "yes" if one.kept else "no"}
        for page, sheet in recorded.pages.items()
        for one in sheet.figures
        if one.limit
    ]
    frame = pl.DataFrame(rows, schema={"figure": pl.String, "share": pl.Float64, "kept": pl.String})
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="share of the limit"),
            y=alt.Y("figure:N", sort=None, title=None, axis=alt.Axis(labelLimit=500)),
            color=alt.Color("kept:N", scale=alt.Scale(domain=["yes", "no"], range=["#4c78a8", "#e45756"]), legend=None),
        )
    )
    limit = alt.Chart(pl.DataFrame({"share": [1.0]})).mark_rule(strokeDash=[4, 4]).encode(x="share:Q")
    return alt.layer(bars, limit).properties(width=420)  # type: ignore[return-value]


def _lines(chart: str, points: list[Point]) -> alt.Chart:
    x, y = AXES[chart]
    frame = pl.DataFrame([{"x": one.x, "y": one.y, "what": one.series} for one in points])
    scale = alt.Scale(type="linear" if chart == "workers" else "log")
    return (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("x:Q", title=x, scale=scale, axis=alt.Axis(format="~s", labelOverlap="greedy", labelSeparation=8)),
            y=alt.Y("y:Q", title=y, scale=scale),
            color=alt.Color("what:N", title=None),
        )
        .properties(width=420, height=280)
    )
