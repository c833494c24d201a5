"""The bias of importance sampling on the binary tree, by formula and from logs."""

from __future__ import annotations

from functools import partial

import altair as alt
import numpy as np
import polars as pl

from repbm.experiments.figures._canvas import color_of, logarithmic, png, shape_of, with_ends


def tree_figure(table: pl.DataFrame) -> bytes:
    """Mean IS estimates over the depth of the tree: by formula as lines, from logs as points."""
    label = pl.format("delta = {}", pl.col("delta").map_elements("{:g}".format, return_dtype=pl.String)).alias("series")
    estimates = (each + 1 for each in with_ends("simulated", "simulated_low", "simulated_high"))
    points = table.select("horizon", label, *estimates)
    depths = np.linspace(0, float(table["horizon"].cast(pl.Float64).to_numpy().max()), 100)
    names = points["series"].unique(maintain_order=True).to_list()
    deltas = table["delta"].unique(maintain_order=True).to_list()
    lines = pl.concat(
        pl.DataFrame({"horizon": depths, "value": (1 - delta) ** -depths}).with_columns(series=pl.lit(name))
        for name, delta in zip(names, deltas, strict=True)
    )
    scale, axis = logarithmic([*points["low"], *points["high"], *lines["value"]])
    legend = alt.Legend(orient="top-left", padding=8, fillColor="white", strokeColor="#cccccc")
    color = color_of("series:N", names, legend)
    x = alt.X(
        "horizon:Q", title="horizon H (steps)", scale=alt.Scale(nice=False, padding=16), axis=alt.Axis(tickMinStep=1)
    )
    y = partial(alt.Y, title="mean IS estimate (the truth is 1)", scale=scale, axis=axis)
    curves = alt.Chart(lines).mark_line(strokeWidth=1.2).encode(x=x, y=y("value:Q"), color=color)
    # An estimate of 0, where no logged episode reaches the leaf, has no place on a logarithmic axis.
    base = alt.Chart(points.filter(pl.col("value") > 0)).encode(x=x, color=color)
    bars = base.mark_rule(strokeWidth=2).encode(y=y("low:Q"), y2="high:Q")
    marks = base.mark_point(filled=True, size=70, opacity=1)
    marks = marks.encode(y=y("value:Q"), shape=shape_of("series:N", names, legend))
    heading = alt.Title(
        "IS with a behavior of relative error delta",
        subtitle="lines: (1 - delta)^-H; points: from logs, 95 % intervals",
    )
    return png(lambda width: alt.layer(curves, bars, marks).properties(width=width, height=380, title=heading))
