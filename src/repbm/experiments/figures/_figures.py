"""Figures of experiments: PNG files as pure functions of stored rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from repbm.experiments.figures._canvas import PAPER, column, pen, plain_logarithmic, png, reach, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from repbm.experiments import Experiment, Sweep


def figures(experiment: Experiment, rows: pl.DataFrame) -> dict[str, bytes]:
    """The figures of an experiment, by name; none where it has no rows."""
    # Loaded when needed, with all that experiments run: other results do not wait for it.
    from repbm.experiments import Balance, BehaviorError, Spec, TreeBias, alpha_of, claims

    table = experiment.table(rows)
    if not len(table):
        return {}
    match experiment:
        case TreeBias():
            return {"bias": tree_figure(table)}
        case BehaviorError():
            return {"error": behavior_figure(table, claims(experiment.published))}
        case Balance():
            return {sweep.name: sweep_figure(table, sweep) for sweep in experiment.sweeps}
        case Spec() if all(alpha_of(row) is not None for row in experiment.rows):
            return {"alpha": alpha_figure(table)}
        case Spec():
            return {"errors": errors_figure(table, experiment.relative)}
    return {}


def errors_figure(table: pl.DataFrame, relative: bool = False) -> bytes:
    """Root mean squared errors of all estimators with their intervals, and the published ones.

    Those that were not defined in most runs are hollow: they tell of the few logs in which they were.
    """
    figure, panels = sheet(1.6 + 0.24 * len(table), 2, sharey=True)
    places = np.arange(len(table))[::-1]
    for panel, metric in zip(panels, ("mean", "individual"), strict=True):
        _errors(panel, table, metric, places, upright=False)
        panel.set_xscale("log")
        panel.set_xlabel(f"{'relative ' if relative else ''}root MSE, {metric} value")
        panel.grid(True, axis="y", color="0.95")
    panels[0].set_yticks(places, table["estimator"].to_list(), fontsize=9)
    panels[0].set_ylim(-0.7, len(table) - 0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return png(figure)


def alpha_figure(table: pl.DataFrame) -> bytes:
    """Root mean squared errors of RepBM over the weight alpha of the balance."""
    from repbm.experiments import alpha_of

    figure, panels = sheet(4.2, 2)
    places = np.arange(len(table))
    for panel, metric in zip(panels, ("mean", "individual"), strict=True):
        _errors(panel, table, metric, places, upright=True)
        panel.set_yscale("log")
        plain_logarithmic(panel.yaxis)
        panel.set_xticks(places, [f"{alpha_of(name):g}" for name in table["estimator"]])
        panel.set_xlabel("alpha, the weight of the balance")
        panel.set_ylabel(f"root MSE, {metric} value")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return png(figure)


def _errors(panel: Axes, table: pl.DataFrame, metric: str, places: np.ndarray, *, upright: bool) -> None:
    own, low, high = (column(table, f"rmse_{metric}{end}") for end in ("", "_low", "_high"))
    bars, paper = reach(own, low, high), column(table, f"published_{metric}")
    style = {**pen(0), "linestyle": "none", "capsize": 3, "label": "this software, 95 % interval over runs"}
    if upright:
        panel.errorbar(places, own, yerr=bars, **style)
        panel.plot(places, paper, label="published", **PAPER)
    else:
        panel.errorbar(own, places, xerr=bars, **style)
        rare = np.isfinite(own) & (column(table, "undefined") > 0.5 * column(table, "runs"))
        if rare.any():
            hollow = {**pen(0), "linestyle": "none", "markerfacecolor": "white", "zorder": 5}
            panel.plot(own[rare], places[rare], label="not defined in most runs", **hollow)
        panel.plot(paper, places, label="published", **PAPER)


def tree_figure(table: pl.DataFrame) -> bytes:
    """Mean IS estimates over the depth of the tree: by formula as lines, from logs as points."""
    figure, (panel,) = sheet(5.0)
    deepest = int(table["horizon"].to_numpy().max())
    depths = np.linspace(0, deepest, 200)
    for k, delta in enumerate(table["delta"].unique(maintain_order=True)):
        lines = table.filter(pl.col("delta") == delta)
        panel.plot(depths, (1 - delta) ** -depths, color=pen(k)["color"], linewidth=1)
        middle, low, high = (1 + column(lines, f"simulated{end}") for end in ("", "_low", "_high"))
        bars, label = reach(middle, low, high), f"delta = {delta:g}"
        panel.errorbar(column(lines, "horizon"), middle, bars, **pen(k), linestyle="none", capsize=3, label=label)
    panel.set_yscale("log")
    plain_logarithmic(panel.yaxis)
    panel.set_xlabel("horizon H (steps)")
    panel.set_ylabel("mean IS estimate (the truth is 1)")
    panel.set_title(
        "IS with a behavior of relative error delta: lines (1 - delta)^-H,\npoints from logs, 95 % intervals"
    )
    panel.legend(loc="upper left")
    return png(figure)


def behavior_figure(table: pl.DataFrame, claimed: pl.DataFrame) -> bytes:
    """The relative error of weighted PDIS over the error of the learned behavior; a color a behavior, a marker a k."""
    figure, (panel,) = sheet(5.4)
    panel.axhline(0, color="0.4", linewidth=1)
    behaviors = {name: pen(k)["color"] for k, name in enumerate(table["behavior"].unique(maintain_order=True))}
    neighbors = {count: pen(k)["marker"] for k, count in enumerate(table["neighbors"].unique(maintain_order=True))}
    for (behavior, count), lines in table.group_by("behavior", "neighbors", maintain_order=True):
        color, marker = behaviors[behavior], neighbors[count]
        x, deviation = column(lines, "behavior_error"), 100 * np.nan_to_num(column(lines, "deviation"))
        middle, low, high = (100 * column(lines, f"error{end}") for end in ("", "_low", "_high"))
        panel.errorbar(x, middle, deviation, color=color, alpha=0.4, linestyle="none", linewidth=1)
        bars = reach(middle, low, high)
        panel.errorbar(x, middle, bars, color=color, marker=marker, linestyle="none", linewidth=2.5, markersize=5)
    for name, color in behaviors.items():
        panel.plot([], [], color=color, linewidth=2.5, label=f"behavior '{name}'")
    for count, marker in neighbors.items():
        words = "known behavior" if count is None else f"{count} neighbors"
        panel.plot([], [], color="black", marker=marker, linestyle="none", label=words)
    for claim in claimed.iter_rows(named=True):
        label = f'the paper, on another map: "over {claim["error"]:.0%}" at {claim["behavior_error"]:g}'
        panel.axvline(claim["behavior_error"], color="black", linestyle=":", linewidth=1, label=label)
    panel.set_xlabel("mean absolute error of the behavior's probabilities")
    panel.set_ylabel("error of weighted PDIS (% of the value)")
    panel.set_title(
        "Weighted PDIS with a learned behavior: means\nthick: 95 % intervals, thin: one standard deviation", fontsize=11
    )
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    return png(figure)


def sweep_figure(table: pl.DataFrame, sweep: Sweep) -> bytes:
    """Root MSE of every model over that of AM, at every level of a factor: below 1 balancing helps."""
    models = [model for model in sweep.models if model != "am"]
    figure, (panel,) = sheet(4.6 + 0.12 * len(models))
    panel.axhline(1, color="0.3", linewidth=1.2)
    for k, model in enumerate(models):
        lines = _along(table, sweep, model)
        middle, low, high = (column(lines, f"ratio{end}") for end in ("", "_low", "_high"))
        places = np.arange(len(lines)) + 0.6 * ((k + 0.5) / len(models) - 0.5)
        panel.errorbar(places, middle, reach(middle, low, high), **pen(k), linestyle="none", capsize=3, label=model)
    panel.set_yscale("log")
    plain_logarithmic(panel.yaxis)
    panel.set_xticks(range(len(sweep.levels)), [str(level) or "its own" for level in sweep.levels])
    panel.set_xlim(-0.5, len(sweep.levels) - 0.5)
    panel.grid(False, axis="x")
    panel.set_xlabel(_UNITS[sweep.factor])
    panel.set_ylabel("root MSE of individual values,\nmodel / AM (below 1: better)")
    panel.set_title(f"{sweep.name}: ratios on the same logs, 95 % intervals over runs", fontsize=11)
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    return png(figure)


_UNITS = {
    "world": "world",
    "behavior": "whose policy makes the log",
    "noise": "noise on every next state (share of its usual swing)",
    "episodes": "logged episodes",
    "epsilon": "epsilon, the share of random actions in the log",
    "fit": "kind of model",
    "units": "units of the network",
}


def _along(table: pl.DataFrame, sweep: Sweep, model: str) -> pl.DataFrame:
    """The lines of a model at all levels of a sweep, empty where there are no runs yet."""
    points = pl.DataFrame([vars(point) for point in sweep.points()], schema_overrides=dict(table.schema), strict=False)
    own = table.filter(pl.col("model") == model)
    return points.join(own, on=points.columns, how="left", maintain_order="left")
