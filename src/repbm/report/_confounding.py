"""The chart of what hidden causes could make of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from repbm.core import say
from repbm.report._drawing import BLUE, GRAY, Chart, sized, value_axis
from repbm.report._scale import PLAIN, Shown

if TYPE_CHECKING:
    from repbm.inference import Confounding


def confounding_chart(found: Confounding, shown_as: Shown = PLAIN) -> Chart:
    """Bounds of the difference to what is done now against the strength of a hidden cause, and no difference."""
    data = pl.DataFrame({"gamma": found.gammas, "low": found.difference_low, "high": found.difference_high})
    axis = alt.Axis(values=list(found.gammas), format="~g", labelOverlap="greedy", labelSeparation=8)
    x = alt.X(
        "gamma:Q",
        title=say("chart", "hidden_odds"),
        scale=alt.Scale(type="log", nice=False),
        axis=axis,
    )
    # Two lines: beside a chart of this height one is too long.
    title = [say("chart", "hidden_difference"), *([say("chart", "points")] if shown_as.binary else [])]
    y = {"title": title, "scale": alt.Scale(zero=False), "axis": value_axis(shown_as, differences=True)}
    base = alt.Chart(data)
    area = base.mark_area(color=BLUE, opacity=0.25).encode(x=x, y=alt.Y("low:Q", **y), y2="high:Q")
    ends = [base.mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=alt.Y(f"{end}:Q", **y)) for end in ("low", "high")]
    none = alt.Chart(pl.DataFrame({"none": [0.0]}))
    rule = none.mark_rule(color=GRAY, strokeDash=[4, 3], strokeWidth=1.5).encode(y=alt.Y("none:Q", **y))
    return sized(alt.layer(area, *ends, rule), 160)
