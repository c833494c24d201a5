"""Root mean squared errors of estimators, beside the published ones."""

from __future__ import annotations

from functools import partial

import altair as alt
import polars as pl

from repbm.experiments._objectives import alpha_of
from repbm.experiments.figures._canvas import BLACK, BLUE, Chart, logarithmic, png, with_ends

_OURS, _RARE, _PUBLISHED = "this software, 95 % interval over runs", "not defined in most runs", "published"
_MARKS = {
    _PUBLISHED: ("diamond", BLACK, "transparent"),
    _OURS: ("circle", BLUE, BLUE),
    _RARE: ("circle", BLUE, "white"),
}
"""Shape, outline and filling."""

_METRICS = ("mean", "individual")
_ROW = 24


def errors_figure(table: pl.DataFrame, relative: bool = False) -> bytes:
    """Root mean squared errors of all estimators with their intervals, and the published ones.

    Those that were not defined in most runs are hollow: they only tell of the few logs in which they were.
    """
    names = table["estimator"].to_list()
    kinds = _kinds(table)

    def panel(metric: str, width: int) -> Chart:
        points = _points(table, metric)
        scale, axis = logarithmic([*points["value"], *points["low"], *points["high"]], most=7)
        title = f"{'relative ' if relative else ''}root MSE, {metric} value"
        # Every row has its place in both panels; its name stands at the left.
        labels = alt.Axis(grid=True, domain=False, ticks=False, labels=metric == _METRICS[0])
        base = alt.Chart(points).encode(
            y=alt.Y("name:N", title=None, sort=names, scale=alt.Scale(domain=names), axis=labels)
        )
        x = partial(alt.X, title=title, scale=scale, axis=axis)
        bars = base.mark_rule(color=BLUE, strokeWidth=2).encode(x=x("low:Q"), x2="high:Q")
        chart = alt.layer(bars, _marked(base.encode(x=x("value:Q")), kinds))
        return chart.properties(width=width, height=max(_ROW * len(names), 120))

    return png(lambda width: alt.hconcat(*(panel(metric, width) for metric in _METRICS), spacing=16), panels=2)


def alpha_figure(table: pl.DataFrame) -> bytes:
    """Root mean squared errors of RepBM over the weight alpha of the balance."""
    alphas = {name: f"{alpha_of(name):g}" for name in table["estimator"]}
    order = list(dict.fromkeys(alphas.values()))
    kinds = _kinds(table)

    def panel(metric: str, width: int) -> Chart:
        points = _points(table, metric).with_columns(pl.col("name").replace_strict(alphas, return_dtype=pl.String))
        scale, axis = logarithmic([*points["value"], *points["low"], *points["high"]])
        x = alt.X(
            "name:O",
            title="alpha, the weight of the balance",
            sort=order,
            scale=alt.Scale(domain=order),
            axis=alt.Axis(labelAngle=0),
        )
        base = alt.Chart(points).encode(x=x)
        y = partial(alt.Y, title=f"root MSE, {metric} value", scale=scale, axis=axis)
        bars = base.mark_rule(color=BLUE, strokeWidth=2).encode(y=y("low:Q"), y2="high:Q")
        return alt.layer(bars, _marked(base.encode(y=y("value:Q")), kinds)).properties(width=width, height=300)

    return png(lambda width: alt.hconcat(*(panel(metric, width) for metric in _METRICS), spacing=24), panels=2)


def _points(table: pl.DataFrame, metric: str) -> pl.DataFrame:
    """name, kind, value, low, high: what has a place on a logarithmic axis."""
    rare = pl.col("undefined") > 0.5 * pl.col("runs")
    kind = pl.when(rare).then(pl.lit(_RARE)).otherwise(pl.lit(_OURS))
    own, paper = f"rmse_{metric}", f"published_{metric}"
    name = pl.col("estimator").alias("name")
    both = [
        table.select(name, kind.alias("kind"), *with_ends(own, f"{own}_low", f"{own}_high")),
        table.select(name, pl.lit(_PUBLISHED).alias("kind"), *with_ends(paper, paper, paper)),
    ]
    return pl.concat(both).filter(pl.col("value").is_finite() & (pl.col("value") > 0))


def _kinds(table: pl.DataFrame) -> list[str]:
    """The kinds of points in either panel."""
    shown = {kind for metric in _METRICS for kind in _points(table, metric)["kind"]}
    return [kind for kind in _MARKS if kind in shown] or [_OURS]


def _marked(base: Chart, kinds: list[str]) -> Chart:
    """Points that look as their kind, with one legend for all."""
    legend = alt.Legend(orient="top", direction="horizontal", symbolSize=80)
    looks = zip((alt.Shape, alt.Stroke, alt.Fill), zip(*(_MARKS[kind] for kind in kinds), strict=True), strict=True)
    # Ours is smaller, and shows inside the published one where both are the same.
    size = alt.when(alt.datum.kind == _PUBLISHED).then(alt.value(90)).otherwise(alt.value(35))
    return base.mark_point(opacity=1, strokeWidth=1.5).encode(
        *(
            channel("kind:N", title=None, scale=alt.Scale(domain=kinds, range=list(look)), legend=legend)
            for channel, look in looks
        ),
        size=size,
    )
