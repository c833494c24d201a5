"""Charts of an evaluation, as Vega-Lite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl
from jaxtyping import Float

from repbm.report._scale import PLAIN, Shown

if TYPE_CHECKING:
    from repbm.doctor import Backtest, Verdict
    from repbm.inference import Group

Chart = Any
"""Altair's charts have no common public type."""

BLUE, ORANGE, GREEN, GRAY = "#0072b2", "#c45100", "#00795a", "#6b6b6b"
_WIDTH = 340
_ROW = 24
_SCALE = 1.3
_MOST_STEPS = 400
_SHORT = " : ".join(
    f"abs(datum.value) >= {large:g} ? format(datum.value / {large:g}, '.3~g') + ' {word}'"
    for large, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
)
"""Numbers on axes: 2.4 billion in place of 2,400,000,000."""
_FAR = 0.005
"""The share of individuals at either end that counts as far."""


def forest_chart(rows: pl.DataFrame, logged_mean: float, shown_as: Shown = PLAIN) -> Chart:
    """The estimates of a policy with their intervals, the answer on top in color, and what is done now as a line."""
    role = pl.when("headline").then(pl.lit(_ANSWER)).otherwise(pl.lit(_OTHERS))
    shown = _with_ends(rows.filter(pl.col("value").is_not_null()).with_columns(role.alias("role")), "estimator")
    window = _window(shown.with_columns(headline=pl.col("role") == _ANSWER), logged_mean)
    line = (logged_mean, f"now: {shown_as.value(logged_mean)}")
    return _intervals(shown, f"{shown_as.title}, following the policy", line, window, shown_as)


def _window(rows: pl.DataFrame, logged_mean: float) -> tuple[float, float]:
    """The part of the axis that is shown: the answer, what is done now, and most of the others."""
    answer = rows.filter("headline")
    ends = [logged_mean, *answer["low"], *answer["high"], *answer["value"]]
    for name in ("low", "high", "value"):
        ends += np.quantile(rows[name].to_numpy(), [0.1, 0.9]).tolist() if len(rows) else []
    core = max(logged_mean, *answer["high"], *answer["value"]) - min(logged_mean, *answer["low"], *answer["value"])
    core = core if core > 0 else max(abs(logged_mean), 1e-12)
    middle = float(answer["value"][0]) if len(answer) else logged_mean
    return _padded([max(min(ends), middle - 4 * core), min(max(ends), middle + 4 * core)])


def support_chart(steps: pl.DataFrame, verdict: Verdict) -> Chart:
    """Step by step: the episodes that go on, those that did only what the policy does, and who is on known ground."""
    episodes = float(steps["alive"][0])
    count = len(steps)
    kept = steps.filter(pl.col("step") % max(1, -(-count // _MOST_STEPS)) == 0)
    lines = [
        (_GOING, kept["step"], kept["alive"] / episodes),
        (_FOLLOWING, kept["step"], kept["factual"] / episodes),
    ]
    if verdict.novelty is not None:
        known = 1 - verdict.novelty[kept["step"].to_numpy().clip(0, len(verdict.novelty) - 1)]
        lines.append((_KNOWN, kept["step"], pl.Series(known)))
    data = pl.concat(
        pl.DataFrame({"step": at.cast(pl.Int64), "share": share.cast(pl.Float64), "what": [what] * len(at)})
        for what, at, share in lines
    )
    names = [what for what, _, _ in lines]
    dashes = {_GOING: [1, 0], _FOLLOWING: [6, 3], _KNOWN: [2, 2]}
    colors = {_GOING: GRAY, _FOLLOWING: BLUE, _KNOWN: ORANGE}
    legend = alt.Legend(orient="top", direction="vertical", labelLimit=_WIDTH, symbolSize=300)
    mark = alt.Chart(data).mark_line(strokeWidth=2.2, point=count == 1)
    return sized(
        mark.encode(
            x=alt.X("step:Q", title="step", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            color=alt.Color(
                "what:N", title=None, scale=alt.Scale(domain=names, range=[colors[n] for n in names]), legend=legend
            ),
            strokeDash=alt.StrokeDash(
                "what:N", title=None, scale=alt.Scale(domain=names, range=[dashes[n] for n in names]), legend=legend
            ),
        ),
        200,
    )


_GOING = "logged episodes that are still going"
_FOLLOWING = "those that did only what the policy would do"
_KNOWN = "followers who met only what the log shows"


def ahead_chart(tested: Backtest) -> Chart:
    """How far predicted states go wrong, so many steps ahead."""
    data = pl.DataFrame(
        {
            "steps": list(tested.ahead),
            "error": [None if np.isnan(e) else min(e, 2.0) for e in tested.ahead.values()],
        }
    )
    top = max(1.1, *(error for error in data["error"] if error is not None), 1.1)
    axis = alt.Axis(values=data["steps"].to_list())
    lines = (
        alt.Chart(data)
        .mark_line(point=alt.OverlayMarkDef(size=60, filled=True), color=BLUE, strokeWidth=2)
        .encode(
            x=alt.X("steps:Q", title="steps ahead", scale=alt.Scale(type="log"), axis=axis),
            y=alt.Y("error:Q", title="error / movement", scale=alt.Scale(domain=[0, top])),
        )
    )
    useless = alt.Chart(pl.DataFrame({"error": [1.0], "label": ["1: as bad as saying 'nothing changes'"]}))
    rule = useless.mark_rule(color=GRAY, strokeDash=[4, 3]).encode(y="error:Q")
    words = useless.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=GRAY).encode(
        x=alt.value(0), y="error:Q", text="label:N"
    )
    return sized(alt.layer(rule, words, lines), 180)


def backtest_chart(tested: Backtest, shown_as: Shown = PLAIN) -> Chart:
    """What the model says of what is done now, beside what happened, for groups of held-out individuals."""
    bins = tested.bins()
    data = pl.DataFrame(
        [
            {
                "predicted": predicted,
                "observed": observed,
                "low": observed - 2 * error,
                "high": observed + 2 * error,
                "individuals": count,
            }
            for predicted, observed, error, count in bins
        ]
    )
    ends = [*data["predicted"], *data["low"], *data["high"]]
    low, high = min(ends), max(ends)
    pad = 0.06 * (high - low) or 0.5
    scale = alt.Scale(domain=[low - pad, high + pad], zero=False, nice=False)
    diagonal = (
        alt.Chart(pl.DataFrame({"predicted": [low - pad, high + pad], "observed": [low - pad, high + pad]}))
        .mark_line(color=GRAY, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x=alt.X("predicted:Q", scale=scale), y=alt.Y("observed:Q", scale=scale))
    )
    base = alt.Chart(data)
    axis = value_axis(shown_as)
    x = alt.X("predicted:Q", title="the model says (what is done now)", scale=scale, axis=axis)
    bars = base.mark_rule(color=BLUE, strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q", title="the log says", scale=scale, axis=axis), y2="high:Q"
    )
    points = base.mark_point(filled=True, size=70, color=BLUE, opacity=1).encode(
        x=x, y=alt.Y("observed:Q", title="the log says", scale=scale, axis=axis)
    )
    return sized(alt.layer(diagonal, bars, points), 260, 300)


def individual_bins(values: Float[np.ndarray, " individuals"]) -> tuple[np.ndarray, np.ndarray]:
    """How many individuals have values between which edges; the few far ones are counted in the first and the last."""
    low, high = np.quantile(values, [_FAR, 1 - _FAR])
    inside = values[(values >= low) & (values <= high)]
    counts, edges = np.histogram(inside, bins=min(40, max(5, round(np.sqrt(len(values))))))
    counts[0] += (values < low).sum()
    counts[-1] += (values > high).sum()
    return counts, edges


def individuals_chart(values: Float[np.ndarray, " individuals"], mean: float, shown_as: Shown = PLAIN) -> Chart:
    """How the values of individuals are spread."""
    counts, edges = individual_bins(values)
    said = [
        f"{shown_as.range(a, b)}: {count} individuals" for a, b, count in zip(edges, edges[1:], counts, strict=False)
    ]
    data = pl.DataFrame({"from": edges[:-1], "to": edges[1:], "individuals": counts, "said": said})
    scale = alt.Scale(zero=False, nice=False)
    bars = (
        alt.Chart(data)
        .mark_bar(color=BLUE, opacity=0.85)
        .encode(
            x=alt.X(
                "from:Q",
                bin="binned",
                title=f"{shown_as.title}, for the individual",
                scale=scale,
                axis=value_axis(shown_as),
            ),
            x2="to:Q",
            description="said:N",
            y=alt.Y("individuals:Q", title="individuals", axis=alt.Axis(tickMinStep=1)),
        )
    )
    middle = alt.Chart(pl.DataFrame({"mean": [mean], "label": [f"mean {shown_as.value(mean)}"]}))
    rule = middle.mark_rule(color=ORANGE, strokeWidth=2).encode(x=alt.X("mean:Q", scale=scale))
    words = middle.mark_text(color=ORANGE, align="left", dx=4, baseline="bottom", dy=-4).encode(
        x=alt.X("mean:Q", scale=scale), y=alt.value(0), text="label:N"
    )
    return sized(alt.layer(bars, rule, words), 180)


def groups_chart(groups: Sequence[Group], shown_as: Shown = PLAIN) -> Chart:
    """Mean gains of groups with their intervals, and zero as a line."""
    rows = [
        {"name": f"group {k + 1}", "value": group.gain, "low": group.low, "high": group.high}
        for k, group in enumerate(groups)
    ]
    return _intervals(
        _with_ends(pl.DataFrame(rows), "name"), "difference to what is done now", (0.0, "none"), None, shown_as
    )


def ranking_chart(
    ranking: pl.DataFrame, logged_mean: float, shown_as: Shown = PLAIN, supported: Sequence[str] | None = None
) -> Chart:
    """The answers of all policies with their intervals, the best first, and what is done now as a line.

    Those that the log does not support are gray.
    """
    line = (logged_mean, f"now: {shown_as.value(logged_mean)}")
    if supported is not None:
        known = pl.col("policy").is_in(supported)
        ranking = ranking.with_columns(role=pl.when(known).then(pl.lit(_SUPPORTED)).otherwise(pl.lit(_UNSUPPORTED)))
    return _intervals(_with_ends(ranking, "policy"), shown_as.title, line, None, shown_as)


_ANSWER, _OTHERS = "the answer", "other estimates"
_SUPPORTED, _UNSUPPORTED = "supported", "not supported by the log"
_COLORS = {_ANSWER: ORANGE, _OTHERS: BLUE, _SUPPORTED: BLUE, _UNSUPPORTED: GRAY}


def _with_ends(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Name, value, low and high of every row; an interval without ends is its value. `role` where rows have one."""
    role = pl.col("role") if "role" in rows.columns else pl.lit(_OTHERS).alias("role")
    ends = (pl.col(end).fill_null(pl.col("value")) for end in ("low", "high"))
    return rows.select(pl.col(name).cast(pl.String).alias("name"), "value", *ends, role)


def _intervals(
    rows: pl.DataFrame, title: str, line: tuple[float, str], window: tuple[float, float] | None, shown_as: Shown
) -> Chart:
    """Values with their intervals by name, and a dashed line with its label above; what lies beyond a window is cut."""
    at, label = line
    low, high = window or _padded([at, *rows["low"], *rows["high"]])
    data = rows.select(
        "name",
        "role",
        *(pl.col(name).clip(low, high).alias(name) for name in ("low", "high")),
        pl.col("value").clip(low, high).alias("place"),
        (pl.col("value") < low).alias("before"),
        (pl.col("value") > high).alias("after"),
        _spoken("name", "value", "low", "high", shown_as),
    )
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    axis = value_axis(shown_as)
    y = alt.Y("name:N", title=None, sort=data["name"].to_list())
    shown = [role for role in _COLORS if role in data["role"]]
    both = len(shown) > 1
    colors = alt.Scale(domain=shown, range=[_COLORS[role] for role in shown])
    color = alt.Color("role:N", title=None, scale=colors, legend=alt.Legend(orient="bottom") if both else None)
    base = alt.Chart(data).encode(y=y, color=color, description="said:N")
    x = alt.X("place:Q", title=title, scale=scale, axis=axis)
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high:Q")
    points = base.transform_filter("!datum.before && !datum.after").mark_point(filled=True, size=75, opacity=1)
    cut = {"fontSize": 10, "fontStyle": "italic"}
    far = [
        base.transform_filter("datum.before").mark_text(align="left", text="◂ beyond", **cut),
        base.transform_filter("datum.after").mark_text(align="right", text="beyond ▸", **cut),
    ]
    reference = alt.Chart(pl.DataFrame({"at": [at], "label": [label]})).encode(x=alt.X("at:Q", scale=scale))
    rule = reference.mark_rule(strokeDash=[4, 3], color=GRAY, strokeWidth=1.5)
    said = reference.mark_text(align="left", dx=4, dy=-4, baseline="bottom", color=GRAY).encode(
        y=alt.value(0), text="label:N"
    )
    marks = [mark.encode(x=x) for mark in (points, *far)]
    return sized(alt.layer(rule, said, bars, *marks), _ROW * max(len(data), 2))


def _padded(ends: Sequence[float]) -> tuple[float, float]:
    """From the least to the largest, and a little further."""
    low, high = min(ends), max(ends)
    room = 0.08 * (high - low) or 0.5
    return low - room, high + room


def value_axis(shown_as: Shown) -> alt.Axis:
    """An axis of values: percentages of 0/1 outcomes, short numbers of others; no labels on top of each other."""
    if shown_as.binary:
        return alt.Axis(format="~%", tickCount=5, labelOverlap="greedy", labelSeparation=8)
    return alt.Axis(labelExpr=f"{_SHORT} : datum.label", tickCount=5, labelOverlap="greedy", labelSeparation=8)


def _spoken(name: str, value: str, low: str, high: str, shown_as: Shown) -> pl.Expr:
    """What a mark says when it is pointed at, or read aloud."""

    def sentence(row: dict[str, Any]) -> str:
        reach = "" if row[low] == row[high] else f" ({shown_as.range(row[low], row[high])})"
        return f"{row[name]}: {value} {shown_as.value(row[value])}{reach}"

    return pl.struct(name, value, low, high).map_elements(sentence, return_dtype=pl.String).alias("said")


def sized(chart: Chart, height: int, width: int = _WIDTH) -> Chart:
    """The chart in the style of the page."""
    return (
        chart.properties(width=width, height=height, background="transparent")
        .configure(font="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif")
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e8e8e8", labelLimit=150
        )
        .configure_view(stroke=None)
        .configure_legend(labelFontSize=12, labelLimit=_WIDTH)
        .configure_text(fontSize=12)
    )


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
