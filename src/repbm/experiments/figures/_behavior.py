"""The error of weighted PDIS over the error of a learned behavior."""

from __future__ import annotations

import altair as alt
import polars as pl

from repbm.experiments.figures._canvas import BLACK, GRAY, color_of, png, shape_of, with_ends


def behavior_figure(table: pl.DataFrame, claimed: pl.DataFrame) -> bytes:
    """The relative error of weighted PDIS, in percent: one color per behavior, one shape per number of neighbors."""
    percent = (each * 100 for each in with_ends("error", "error_low", "error_high"))
    known = pl.col("neighbors").is_null()
    neighbors = pl.when(known).then(pl.lit("known behavior")).otherwise(pl.format("{} neighbors", "neighbors"))
    reach = 100 * pl.col("deviation").fill_null(0.0)
    points = (
        table.select("behavior_error", "behavior", neighbors.alias("learned"), *percent, reach.alias("reach"))
        .filter(pl.col("value").is_not_null())
        .with_columns(pl.format("behavior '{}'", "behavior").alias("behavior"))
        .with_columns(least=pl.col("value") - pl.col("reach"), most=pl.col("value") + pl.col("reach"))
    )
    behaviors = points["behavior"].unique(maintain_order=True).to_list()
    kinds = points["learned"].unique(maintain_order=True).to_list()
    below = alt.Legend(orient="bottom", columns=5, offset=12)
    color = color_of(
        "behavior:N",
        behaviors,
        alt.Legend(orient="bottom", symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1, offset=12),
    )
    title = "error of weighted PDIS (% of the value)"
    x = alt.X(
        "behavior_error:Q",
        title="mean absolute error of the behavior's probabilities",
        scale=alt.Scale(padding=16, nice=False),
        axis=alt.Axis(tickCount=8),
    )
    base = alt.Chart(points).encode(x=x, color=color)
    thin = base.mark_rule(strokeWidth=1, opacity=0.45).encode(
        y=alt.Y("least:Q", title=title, scale=alt.Scale(padding=12, nice=False)), y2="most:Q"
    )
    thick = base.mark_rule(strokeWidth=3).encode(y="low:Q", y2="high:Q")
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        y="value:Q", shape=shape_of("learned:N", kinds, below)
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=GRAY).encode(y="zero:Q")
    layers = [zero, thin, thick, marks]
    if len(claimed):
        text = pl.struct("error", "behavior_error").map_elements(_claim, return_dtype=pl.String)
        paper = alt.Chart(claimed.select("behavior_error", text.alias("text"))).encode(x="behavior_error:Q")
        layers += [
            paper.mark_rule(color=BLACK, strokeDash=[2, 3]),
            paper.mark_text(align="left", baseline="bottom", dy=-4).encode(y=alt.value(0), text="text:N"),
        ]
    heading = alt.Title(
        "Weighted PDIS with a learned behavior", subtitle="means; thick: 95 % intervals, thin: one standard deviation"
    )
    chart = alt.layer(*layers)
    return png(lambda width: chart.properties(width=width, height=380, title=heading))


def _claim(row: dict[str, float]) -> str:
    return f'the paper, on another map: "over {row["error"]:.0%}" at {row["behavior_error"]:g}'
