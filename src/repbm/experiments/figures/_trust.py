"""How far answers are off, and how often their intervals hold the truth, family by family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from repbm.experiments.figures._canvas import GRAY, Chart, color_of, logarithmic, png, shape_of

_ROW = 22
_ERRORS = {"answer": "rms", "answers called supported": "rms_supported", "am": "am_rms", "wdr(repbm)": "wdr_rms"}
_COVERAGE = {
    "value": "coverage",
    "difference": "difference_coverage",
    "individual": "individual_coverage",
    "outcome": "outcome_coverage",
}


def trust_figures(table: pl.DataFrame) -> dict[str, bytes]:
    """Root mean square errors, and coverage of 90 % intervals; lines that sum up families are left out."""
    families = table.filter(~pl.col("family").str.contains("^(development|exam|beside)(, answerable)?$"))
    return {"errors": _errors(families), "coverage": _coverage(families)}


def _errors(table: pl.DataFrame) -> bytes:
    data = _long(table, _ERRORS)
    scale, axis = logarithmic(data["value"].to_list())
    words = "root mean square error, in oracle standard errors"
    title = "How far answers are off (1: as far as if as many episodes had followed the policy)"
    return _panels(data, {"title": words, "scale": scale, "axis": axis}, 1.0, title, list(_ERRORS))


def _coverage(table: pl.DataFrame) -> bytes:
    data = _long(table, _COVERAGE)
    words = "share of 90 % intervals that hold the truth"
    x = {"title": words, "scale": alt.Scale(domain=[0, 1]), "axis": alt.Axis(format="%")}
    return _panels(data, x, 0.9, "How often intervals hold the truth, whatever the verdict", list(_COVERAGE))


def _long(table: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """One row per family, size and series; nothing where there is no number."""
    parts = [
        table.select("family", "episodes", pl.col(column).alias("value")).with_columns(series=pl.lit(name))
        for name, column in columns.items()
    ]
    return pl.concat(parts).drop_nulls("value").filter(pl.col("value") >= 0)


def _panels(data: pl.DataFrame, x: Mapping[str, Any], ideal: float, title: str, names: list[str]) -> bytes:
    sizes = data["episodes"].unique().sort().to_list()
    families = data["family"].unique(maintain_order=True).to_list()
    legend = alt.Legend(orient="top", direction="horizontal")

    def panel(size: int, width: int) -> Chart:
        own = alt.Chart(data.filter(pl.col("episodes") == size))
        marks = own.mark_point(filled=True, size=60, opacity=0.9).encode(
            x=alt.X("value:Q", **x),
            y=alt.Y("family:N", title=None, sort=families, scale=alt.Scale(domain=families)),
            color=color_of("series:N", names, legend),
            shape=shape_of("series:N", names, legend),
        )
        rule = alt.Chart(pl.DataFrame({"ideal": [ideal]})).mark_rule(color=GRAY, strokeDash=[4, 3])
        drawn = alt.layer(rule.encode(x=alt.X("ideal:Q", **x)), marks)
        heading = alt.Title(f"{size:,} episodes", anchor="middle", fontSize=12)
        return drawn.properties(width=width, height=_ROW * len(families), title=heading)

    def draw(width: int) -> Chart:
        return alt.hconcat(*(panel(size, width) for size in sizes)).properties(title=alt.Title(title))

    return png(draw, max(len(sizes), 1))
