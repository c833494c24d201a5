"""What all charts have in common: colors, sizes, axes, and how they become pictures."""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import polars as pl

from repbm.core import say
from repbm.report._scale import Shown

Chart = Any
"""Altair's charts have no common public type."""

BLUE, ORANGE, GREEN, GRAY = "#0072b2", "#c45100", "#00795a", "#6b6b6b"

WIDTH = 340

_SCALE = 1.3

_LARGE = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
"""Numbers on axes: 2.4 billion in place of 2,400,000,000."""


def value_axis(shown_as: Shown, differences: bool = False) -> alt.Axis:
    """An axis of values: percentages of 0/1 outcomes, short numbers of others; no labels on top of each other.

    Differences of percentages are percentage points, and no percentages (see `difference_title`).
    """
    if shown_as.binary and not differences:
        return alt.Axis(format="~%", tickCount=5, labelOverlap="greedy", labelSeparation=8)
    short = " : ".join(
        f"abs(datum.value) >= {large:g} ? format(datum.value / {large:g}, '.3~g') + ' {say('chart', word)}'"
        for large, word in _LARGE
    )
    told = "datum.value == 0 ? '0' : format(100 * datum.value, '+~g')" if shown_as.binary else f"{short} : datum.label"
    return alt.Axis(labelExpr=told, tickCount=5, labelOverlap="greedy", labelSeparation=8)


def difference_title(title: str, shown_as: Shown) -> str:
    """What stands at an axis of differences."""
    return say("chart", "in_points", title=title) if shown_as.binary else title


def spoken(name: str, value: str, low: str, high: str, shown_as: Shown, differences: bool = False) -> pl.Expr:
    """What a mark says when it is pointed at, or read aloud."""

    def sentence(row: dict[str, Any]) -> str:
        one, several = shown_as.value, shown_as.range
        if differences:
            one, several = shown_as.difference, shown_as.differences
        told = f"{value} {one(row[value])}"
        if row[low] == row[high]:
            return say("chart", "point", name=row[name], value=told)
        return say("chart", "interval", name=row[name], value=told, range=several(row[low], row[high]))

    return pl.struct(name, value, low, high).map_elements(sentence, return_dtype=pl.String).alias("said")


def sized(chart: Chart, height: int, width: int = WIDTH) -> Chart:
    """The chart in the style of the page, all at once: every change of a chart copies it with all that it holds."""
    style = alt.Config(
        font="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif",
        axis=alt.AxisConfig(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e8e8e8", labelLimit=150
        ),
        view=alt.ViewConfig(stroke=None),
        legend=alt.LegendConfig(labelFontSize=12, labelLimit=WIDTH),
        text=alt.MarkConfig(fontSize=12),
    )
    return chart.properties(width=width, height=height, background="transparent", config=style)


def svg(chart: Chart) -> str:
    """The chart as a picture that stays sharp at any size; what Altair would check before, the drawing shows."""
    import vl_convert

    return vl_convert.vegalite_to_svg(chart.to_dict(validate=False, format="vega-lite"))


def drawn(chart: Chart) -> str:
    """The same for a page: as wide as the page lets it, up to some more than its own size."""
    found = svg(chart)
    width = re.search(r'<svg[^>]*? width="([\d.]+)" height="[\d.]+"', found)
    assert width is not None
    style = f' style="width: min(100%, {_SCALE * float(width[1]):.0f}px)"'
    return re.sub(r'(<svg[^>]*?) width="[\d.]+" height="[\d.]+"', lambda found: found[1] + style, found, count=1)


def png(chart: Chart) -> bytes:
    """The chart as pixels, on white."""
    import vl_convert

    return vl_convert.vegalite_to_png(
        {**chart.to_dict(validate=False, format="vega-lite"), "background": "white"}, scale=2
    )
