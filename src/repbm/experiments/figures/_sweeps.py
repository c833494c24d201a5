"""What balancing gains over AM as one factor changes."""

from __future__ import annotations

from functools import partial

import altair as alt
import polars as pl

from repbm.experiments._points import Sweep
from repbm.experiments.figures._canvas import GRAY, color_of, logarithmic, png, shape_of, with_ends
from repbm.models import AM

_UNITS = {
    "world": "world",
    "behavior": "whose policy makes the log",
    "noise": "noise on every next state (share of its usual swing)",
    "episodes": "logged episodes",
    "epsilon": "epsilon, the share of random actions in the log",
    "fit": "kind of model",
    "units": "units of the network",
}


def sweep_figure(table: pl.DataFrame, sweep: Sweep) -> bytes:
    """Root MSE of every model over that of AM, at every level of a factor: below 1 balancing helps."""
    models = [model for model in sweep.models if model != AM.name]
    levels = [str(level) or "its own" for level in sweep.levels]
    points = pl.concat(
        _along(table, sweep, model).select(
            *with_ends("ratio", "ratio_low", "ratio_high"), model=pl.lit(model), level=pl.Series(levels)
        )
        for model in models
    ).filter(pl.col("value").is_not_null())
    scale, axis = logarithmic([1.0, *points["value"], *points["low"], *points["high"]])
    legend = alt.Legend(orient="bottom", columns=2, offset=12)
    x = alt.X(
        "level:O",
        title=_UNITS[sweep.factor],
        sort=levels,
        scale=alt.Scale(domain=levels, paddingInner=0.2, paddingOuter=0.1),
        axis=alt.Axis(labelAngle=0, grid=False, ticks=False),
    )
    place = alt.XOffset("model:N", sort=models, scale=alt.Scale(domain=models))
    title = ["root MSE of individual values,", "model / AM (below 1: better)"]
    y = partial(alt.Y, title=title, scale=scale, axis=axis)
    base = alt.Chart(points).encode(x=x, xOffset=place, color=color_of("model:N", models, legend))
    bars = base.mark_rule(strokeWidth=2).encode(y=y("low:Q"), y2="high:Q")
    marks = base.mark_point(filled=True, size=70, opacity=1)
    marks = marks.encode(y=y("value:Q"), shape=shape_of("model:N", models, legend))
    one = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule(color=GRAY, strokeWidth=1.5).encode(y=y("one:Q"))
    heading = alt.Title(sweep.name, subtitle="ratios on the same logs, 95 % intervals over runs")
    return png(lambda width: alt.layer(one, bars, marks).properties(width=width, height=340, title=heading))


def _along(table: pl.DataFrame, sweep: Sweep, model: str) -> pl.DataFrame:
    """The lines of a model at all levels of a sweep, empty where there are no runs yet."""
    points = pl.DataFrame([vars(point) for point in sweep.points()], schema_overrides=dict(table.schema), strict=False)
    own = table.filter(pl.col("model") == model)
    return points.join(own, on=points.columns, how="left", maintain_order="left")
