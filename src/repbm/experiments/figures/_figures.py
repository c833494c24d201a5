"""Figures of experiments: PNG files as pure functions of stored rows."""

from __future__ import annotations

import polars as pl

from repbm.experiments import Balance, BehaviorError, Experiment, Spec, TreeBias, Trust, alpha_of, claims
from repbm.experiments.figures._behavior import behavior_figure
from repbm.experiments.figures._errors import alpha_figure, errors_figure
from repbm.experiments.figures._sweeps import sweep_figure
from repbm.experiments.figures._tree import tree_figure
from repbm.experiments.figures._trust import trust_figures


def figures(experiment: Experiment, rows: pl.DataFrame) -> dict[str, bytes]:
    """The figures of an experiment, by name; none where it has no rows."""
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
        case Trust():
            return trust_figures(table)
        case Spec() if all(alpha_of(row) is not None for row in experiment.rows):
            return {"alpha": alpha_figure(table)}
        case Spec():
            return {"errors": errors_figure(table, experiment.relative)}
    return {}
