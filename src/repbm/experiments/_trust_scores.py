"""What an evaluation says, beside the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from repbm.evaluation import Evaluation
from repbm.experiments._trust_table import ANSWER, FIFTHS, LEVELS, SHOWN, bound

_BESIDE = ("am", "repbm", "wdr(repbm)", "wis", "wpdis")
"""Estimators whose rows stand beside the answer's."""

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Truth:
    """What the policy earns: on average, and from up to so many logged initial states."""

    mean: float
    deviation: float
    difference: float
    """To what the behavior earns."""
    individuals: np.ndarray
    variances: np.ndarray
    """Of the values of individuals, as far as they are means of a few rollouts."""
    outcomes: np.ndarray
    gains: np.ndarray
    hidden: bool


@dataclass(frozen=True, eq=False)
class Said:
    """What an evaluation says under one name: a value, intervals by level, and the table of logged individuals."""

    name: str
    source: str
    value: float | None
    bounds: Mapping[float, tuple[float | None, float | None]]
    difference: float | None
    difference_bounds: Mapping[float, tuple[float | None, float | None]]
    individuals: pl.DataFrame | None
    level: float
    note: str


def read(evaluation: Evaluation) -> tuple[bool, str, list[Said]]:
    """Whether the answer is called supported, the verdict in words, and what is said: the answer first.

    Nothing else here knows the tables of an evaluation. They hold intervals of one level; those of the others are as
    much narrower as a normal distribution has it.
    """
    (verdict,) = evaluation.examination.verdicts.values()
    logged = evaluation.individuals.filter(pl.col("source") == "log")
    known = {str(key): frame for (key,), frame in logged.group_by("estimator", maintain_order=True)}
    said = []
    for row in evaluation.estimates.iter_rows(named=True):
        names = [ANSWER] if row["headline"] else []
        names += [row["estimator"]] if row["estimator"] in _BESIDE else []
        frame = known.get(row["estimator"])
        for name in names:
            # The answer may be one without values of individuals: then those of the model beside it are shown.
            shown = known.get("repbm") if frame is None and name == ANSWER else frame
            gain = {key: row[f"difference{key and '_'}{key}"] for key in ("", "low", "high")}
            said.append(
                Said(
                    name,
                    row["estimator"],
                    row["value"],
                    {level: _narrowed(row["value"], row["low"], row["high"], row["level"], level) for level in LEVELS},
                    gain[""],
                    {level: _narrowed(gain[""], gain["low"], gain["high"], row["level"], level) for level in LEVELS},
                    shown,
                    row["level"],
                    row["note"],
                )
            )
    said.sort(key=lambda one: one.name != ANSWER)
    return verdict.supported, verdict.word, said


def _narrowed(value: Any, low: Any, high: Any, given: float, level: float) -> tuple[Any, Any]:
    """The ends of the interval of another level."""
    if low is None:
        return None, None
    share = _quantile(level) / _quantile(given)
    return value + share * (low - value), value + share * (high - value)


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def scored(said: Said, true: Truth, oracle: float) -> dict[str, Any]:
    """The row of what is said."""
    row: dict[str, Any] = {"estimator": said.name, "source": said.source, "value": said.value, "note": said.note}
    if said.value is not None:
        row["error"] = (said.value - true.mean) / oracle if oracle > 0 else None
    for level, (low, high) in said.bounds.items():
        row |= {bound("low", level): low, bound("high", level): high}
    row["difference"] = said.difference
    for level, (low, high) in said.difference_bounds.items():
        row |= {bound("difference_low", level): low, bound("difference_high", level): high}
    return row if said.individuals is None else row | _scored_individuals(said.individuals, said.level, true)


def _scored_individuals(said: pl.DataFrame, given: float, true: Truth) -> dict[str, Any]:
    count = min(len(said), len(true.individuals))
    told = said.head(count)
    kept = told["refused"].is_null().to_numpy()
    row: dict[str, Any] = {"individuals": count, "refused": float(1 - kept.mean())}
    if not kept.any():
        return row
    told, values = told.filter(kept), true.individuals[:count][kept]
    row |= {
        "mse_individual": float(((told["value"].to_numpy() - values) ** 2).mean()),
        "sampling_error": float(true.variances[:count][kept].mean()),
        "variance_individual": float(values.var()),
    }
    middles = {"individual": ("value", ""), "outcome": ("value", "outcome_"), "gain": ("difference", "difference_")}
    drawn = {
        "individual": values[:, None],
        "outcome": true.outcomes[:count][kept],
        "gain": true.gains[:count][kept, None],
    }
    for what, (middle, prefix) in middles.items():
        if told[f"{prefix}low"].null_count():
            continue
        numbers = [told[name].to_numpy()[:, None] for name in (middle, f"{prefix}low", f"{prefix}high")]
        for level in LEVELS:
            low, high = _narrowed(numbers[0], numbers[1], numbers[2], given, level)
            slack = _ROUNDING * np.abs(high - low).max()
            inside = (low - slack <= drawn[what]) & (drawn[what] <= high + slack)
            row[bound(what, level)] = float(inside.mean())
            if what == "individual" and level == SHOWN:
                fifths = np.array_split(np.argsort(values, kind="stable"), FIFTHS)
                row |= {f"fifth_{k}": float(inside[own].mean()) for k, own in enumerate(fifths) if len(own)}
    return row
