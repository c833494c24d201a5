"""Charts of values with their intervals: estimates, groups, policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from repbm.core import say
from repbm.report._drawing import BLUE, GRAY, ORANGE, Chart, difference_title, sized, spoken, value_axis
from repbm.report._scale import PLAIN, Shown

if TYPE_CHECKING:
    from repbm.inference import Group

_ROW = 24
_LONGEST = 27
"""Letters of a name beside a chart."""
_LABEL_WIDTH = 320


def forest_chart(rows: pl.DataFrame, logged_mean: float, shown_as: Shown = PLAIN) -> Chart:
    """The estimates of a policy with their intervals, the answer on top in color, and what is done now as a line."""
    role = pl.when("headline").then(pl.lit(_ANSWER)).otherwise(pl.lit(_OTHERS))
    shown = _with_ends(rows.filter(pl.col("value").is_not_null()).with_columns(role.alias("role")), "estimator")
    window = _window(shown.with_columns(headline=pl.col("role") == _ANSWER), logged_mean)
    line = (logged_mean, say("chart", "now", value=shown_as.value(logged_mean)))
    return _intervals(shown, say("chart", "following_policy", outcome=shown_as.title), line, window, shown_as)


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


def groups_chart(groups: Sequence[Group], shown_as: Shown = PLAIN) -> Chart:
    """Mean gains of groups with their intervals, and zero as a line."""
    rows = [
        {"name": say("chart", "group", number=k + 1), "value": group.gain, "low": group.low, "high": group.high}
        for k, group in enumerate(groups)
    ]
    line = 0.0, say("chart", "no_difference")
    title = difference_title(say("chart", "difference"), shown_as)
    return _intervals(_with_ends(pl.DataFrame(rows), "name"), title, line, None, shown_as, differences=True)


def ranking_chart(
    ranking: pl.DataFrame, logged_mean: float, shown_as: Shown = PLAIN, supported: Sequence[str] | None = None
) -> Chart:
    """The answers of all policies with their intervals, the best first, and what is done now as a line.

    Those that the log does not support are gray.
    """
    line = (logged_mean, say("chart", "now", value=shown_as.value(logged_mean)))
    if supported is not None:
        known = pl.col("policy").is_in(supported)
        ranking = ranking.with_columns(role=pl.when(known).then(pl.lit(_SUPPORTED)).otherwise(pl.lit(_UNSUPPORTED)))
    return _intervals(_with_ends(ranking, "policy"), shown_as.title, line, None, shown_as)


_ANSWER, _OTHERS, _SUPPORTED, _UNSUPPORTED = "answer", "others", "supported", "unsupported"
"""Roles, by the words of what the legend calls them."""

_COLORS = {_ANSWER: ORANGE, _OTHERS: BLUE, _SUPPORTED: BLUE, _UNSUPPORTED: GRAY}


def _with_ends(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Name, value, low and high of every row; an interval without ends is its value. `role` where rows have one."""
    role = pl.col("role") if "role" in rows.columns else pl.lit(_OTHERS).alias("role")
    ends = (pl.col(end).fill_null(pl.col("value")) for end in ("low", "high"))
    return rows.select(pl.col(name).cast(pl.String).alias("name"), "value", *ends, role)


def _intervals(
    rows: pl.DataFrame,
    title: str,
    line: tuple[float, str],
    window: tuple[float, float] | None,
    shown_as: Shown,
    differences: bool = False,
) -> Chart:
    """Values with their intervals by name, and a dashed line with its label above; what lies beyond a window is cut."""
    at, label = line
    low, high = window or _padded([at, *rows["low"], *rows["high"]])
    data = rows.select(
        "name",
        pl.col("role").replace_strict({role: say("chart", role) for role in _COLORS}),
        *(pl.col(name).clip(low, high).alias(name) for name in ("low", "high")),
        pl.col("value").clip(low, high).alias("place"),
        (pl.col("value") < low).alias("before"),
        (pl.col("value") > high).alias("after"),
        spoken("name", "value", "low", "high", shown_as, differences),
    )
    data = data.with_columns(name=pl.Series(_shortened(data["name"].to_list()), dtype=pl.String))
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    axis = value_axis(shown_as, differences)
    y = alt.Y("name:N", title=None, sort=data["name"].to_list(), axis=alt.Axis(labelLimit=_LABEL_WIDTH))
    shown = [role for role in _COLORS if role in rows["role"]]
    both = len(shown) > 1
    colors = alt.Scale(domain=[say("chart", role) for role in shown], range=[_COLORS[role] for role in shown])
    color = alt.Color("role:N", title=None, scale=colors, legend=alt.Legend(orient="bottom") if both else None)
    base = alt.Chart(data).encode(y=y, color=color, description="said:N")
    x = alt.X("place:Q", title=title, scale=scale, axis=axis)
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high:Q")
    points = base.transform_filter("!datum.before && !datum.after").mark_point(filled=True, size=75, opacity=1)
    cut = {"fontSize": 10, "fontStyle": "italic"}
    far = [
        base.transform_filter("datum.before").mark_text(align="left", text=say("chart", "below"), **cut),
        base.transform_filter("datum.after").mark_text(align="right", text=say("chart", "above"), **cut),
    ]
    reference = alt.Chart(pl.DataFrame({"at": [at], "label": [label]})).encode(x=alt.X("at:Q", scale=scale))
    rule = reference.mark_rule(strokeDash=[4, 3], color=GRAY, strokeWidth=1.5)
    said = reference.mark_text(align="left", dx=4, dy=-4, baseline="bottom", color=GRAY).encode(
        y=alt.value(0), text="label:N"
    )
    marks = [mark.encode(x=x) for mark in (points, *far)]
    return sized(alt.layer(rule, said, bars, *marks), _ROW * max(len(data), 2))


def _shortened(names: Sequence[str]) -> list[str]:
    """Names that fit beside a chart: what tells files apart often stands at their end, so long ones lose their middle.

    Where that would make two of them alike, they stay as they are.
    """
    half = (_LONGEST - 1) // 2
    short = [name if len(name) <= _LONGEST else f"{name[:half]}…{name[-half:]}" for name in names]
    return [one if short.count(one) == 1 else name for one, name in zip(short, names, strict=True)]


def _padded(ends: Sequence[float]) -> tuple[float, float]:
    """From the least to the largest, and a little further."""
    low, high = min(ends), max(ends)
    room = 0.08 * (high - low) or 0.5
    return low - room, high + room
