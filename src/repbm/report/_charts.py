"""Charts of an evaluation, as Vega-Lite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl
from jaxtyping import Float

from repbm.core import say
from repbm.report._drawing import BLUE, GRAY, ORANGE, WIDTH, Chart, sized, value_axis
from repbm.report._scale import PLAIN, Shown

if TYPE_CHECKING:
    from repbm.doctor import Backtest, Verdict


_MOST_STEPS = 400
_FAR = 0.005
"""The share of individuals at either end that counts as far."""


def support_chart(steps: pl.DataFrame, verdict: Verdict) -> Chart:
    """Step by step: the episodes that go on, those that did only what the policy does, and who is on known ground."""
    episodes = float(steps["alive"][0])
    count = len(steps)
    kept = steps.filter(pl.col("step") % max(1, -(-count // _MOST_STEPS)) == 0)
    lines = [
        (say("chart", "going"), kept["step"], kept["alive"] / episodes),
        (say("chart", "following"), kept["step"], kept["factual"] / episodes),
    ]
    if verdict.novelty is not None:
        known = 1 - verdict.novelty[kept["step"].to_numpy().clip(0, len(verdict.novelty) - 1)]
        lines.append((say("chart", "known"), kept["step"], pl.Series(known)))
    data = pl.concat(
        pl.DataFrame({"step": at.cast(pl.Int64), "share": share.cast(pl.Float64), "what": [what] * len(at)})
        for what, at, share in lines
    )
    names = [what for what, _, _ in lines]
    dashes, colors = [[1, 0], [6, 3], [2, 2]], [GRAY, BLUE, ORANGE]
    legend = alt.Legend(orient="top", direction="vertical", labelLimit=WIDTH, symbolSize=300)
    mark = alt.Chart(data).mark_line(strokeWidth=2.2)
    return sized(
        mark.encode(
            x=alt.X("step:Q", title=say("chart", "step"), axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("share:Q", title=say("chart", "share"), scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            color=alt.Color(
                "what:N", title=None, scale=alt.Scale(domain=names, range=colors[: len(names)]), legend=legend
            ),
            strokeDash=alt.StrokeDash(
                "what:N", title=None, scale=alt.Scale(domain=names, range=dashes[: len(names)]), legend=legend
            ),
        ),
        200,
    )


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
            x=alt.X("steps:Q", title=say("chart", "ahead_steps"), scale=alt.Scale(type="log"), axis=axis),
            y=alt.Y("error:Q", title=say("chart", "ahead_error"), scale=alt.Scale(domain=[0, top])),
        )
    )
    useless = alt.Chart(pl.DataFrame({"error": [1.0], "label": [say("chart", "ahead_useless")]}))
    rule = useless.mark_rule(color=GRAY, strokeDash=[4, 3]).encode(y="error:Q")
    words = useless.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=GRAY).encode(
        x=alt.value(0), y="error:Q", text="label:N"
    )
    return sized(alt.layer(rule, words, lines), 180)


def backtest_chart(
    tested: Backtest, shown_as: Shown = PLAIN, possible: tuple[float, float] = (-np.inf, np.inf)
) -> Chart:
    """What the model says of what is done now, beside what happened, for groups of held-out individuals; errors end
    where returns do."""
    bins = tested.bins()
    data = pl.DataFrame(
        [
            {
                "predicted": predicted,
                "observed": observed,
                "low": max(observed - 2 * error, min(observed, possible[0])),
                "high": min(observed + 2 * error, max(observed, possible[1])),
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
    x = alt.X("predicted:Q", title=say("chart", "model_says"), scale=scale, axis=axis)
    bars = base.mark_rule(color=BLUE, strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q", title=say("chart", "log_says"), scale=scale, axis=axis), y2="high:Q"
    )
    points = base.mark_point(filled=True, size=70, color=BLUE, opacity=1).encode(
        x=x, y=alt.Y("observed:Q", title=say("chart", "log_says"), scale=scale, axis=axis)
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
        say("chart", "individuals_between", range=shown_as.range(a, b), count=count)
        for a, b, count in zip(edges, edges[1:], counts, strict=False)
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
                title=say("chart", "individual", outcome=shown_as.title),
                scale=scale,
                axis=value_axis(shown_as),
            ),
            x2="to:Q",
            description="said:N",
            y=alt.Y("individuals:Q", title=say("chart", "individuals"), axis=alt.Axis(tickMinStep=1)),
        )
    )
    middle = alt.Chart(pl.DataFrame({"mean": [mean], "label": [say("chart", "mean", value=shown_as.value(mean))]}))
    rule = middle.mark_rule(color=ORANGE, strokeWidth=2).encode(x=alt.X("mean:Q", scale=scale))
    words = middle.mark_text(color=ORANGE, align="left", dx=4, baseline="bottom", dy=-4).encode(
        x=alt.X("mean:Q", scale=scale), y=alt.value(0), text="label:N"
    )
    return sized(alt.layer(bars, rule, words), 180)
