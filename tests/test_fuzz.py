"""Broken tables of every kind: a valid evaluation or one clear line, never anything else."""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repbm.core import InputError
from repbm.estimators import ESTIMATORS, Role
from repbm.evaluation import Evaluation, evaluate
from repbm.policies import NetworkPolicy
from repbm.report import estimates_lines

Table = list[dict[str, Any]]

COLUMNS = ("episode", "step", "obs_a", "obs_b", "action", "reward", "terminated", "truncated", "behavior_prob")
NAMES = (*COLUMNS, "episodes", "rewards", "pscore", "next_obs_a", "behaviour_prob", "obs_", "", "x")
CELLS = (None, math.nan, math.inf, -math.inf, "x", "", -1, 0, 1, 2, 0.5, 1e308, -1e308, 1e-308, 2**53, 2**63, 10**30)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A valid log: 2 to 5 episodes of 1 to 4 steps, some with a closing row."""
    actions = draw(st.sampled_from([(0, 1), ("a", "b"), (1, 2, 3)]))
    rows: Table = []
    for episode in range(draw(st.integers(2, 5))):
        length = draw(st.integers(1, 4))
        for step in range(length):
            rows.append(
                {
                    "episode": episode,
                    "step": step,
                    "obs_a": draw(st.sampled_from([0.0, 1.0, 0.25])),
                    "obs_b": float(step),
                    "action": draw(st.sampled_from(actions)),
                    "reward": draw(st.sampled_from([0.0, 1.0, -2.5])),
                    "terminated": step == length - 1,
                    "truncated": False,
                    "behavior_prob": draw(st.sampled_from([0.5, 1.0, 0.1])),
                }
            )
        if draw(st.booleans()):
            rows.append(rows[-1] | {"step": length, "action": None, "reward": None, "behavior_prob": None})
    return rows


@dataclass(frozen=True)
class Mutation:
    """One way to break a table; rows and columns are counted around its end."""

    kind: str
    row: int
    other: int
    column: str
    name: str
    value: Any
    cast: str

    def __call__(self, rows: Table) -> Table:
        return KINDS[self.kind](self, rows, self.row % len(rows)) if rows else rows


KINDS: dict[str, Callable[[Mutation, Table, int], Table]] = {
    "set cell": lambda m, rows, at: [*rows[:at], rows[at] | {m.column: m.value}, *rows[at + 1 :]],
    "set column": lambda m, rows, at: [row | {m.column: m.value} for row in rows],
    "copy cell": lambda m, rows, at: [*rows[:at], rows[at] | {m.column: rows[at].get(m.name)}, *rows[at + 1 :]],
    "copy column": lambda m, rows, at: [row | {m.column: row.get(m.name)} for row in rows],
    "drop column": lambda m, rows, at: [{name: row[name] for name in row if name != m.column} for row in rows],
    "rename column": lambda m, rows, at: [renamed(row, m.column, m.name) for row in rows],
    "retype column": lambda m, rows, at: [row | {m.column: attempt(CASTS[m.cast], row.get(m.column))} for row in rows],
    "drop row": lambda m, rows, at: [*rows[:at], *rows[at + 1 :]],
    "duplicate row": lambda m, rows, at: [*rows[: m.other], rows[at], *rows[m.other :]],
    "add junk": lambda m, rows, at: [*rows, dict.fromkeys(rows[0], m.value)],
    "shuffle": lambda m, rows, at: [rows[k] for k in np.random.default_rng(m.row).permutation(len(rows))],
    "drop all": lambda m, rows, at: [],
}
CASTS: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "float": float,
    "int": int,
    "bool": bool,
    "list": lambda value: [value],
    "bytes": lambda value: str(value).encode(),
    "complex": complex,
    "date": lambda value: date(2020, 1, 1),
}
mutations = st.builds(
    Mutation,
    kind=st.sampled_from(list(KINDS)),
    row=st.integers(0, 30),
    other=st.integers(0, 20),
    column=st.sampled_from(COLUMNS),
    name=st.sampled_from(NAMES),
    value=st.sampled_from(CELLS),
    cast=st.sampled_from(list(CASTS)),
)


def renamed(row: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: held for name, held in row.items()}


def attempt(cast: Callable[[Any], Any], value: Any) -> Any:
    try:
        return cast(value)
    except (TypeError, ValueError, OverflowError):
        return value


def columns_of(rows: Table) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def as_polars(rows: Table, folder: Path) -> Any:
    return pl.DataFrame([pl.Series(name, held, strict=False) for name, held in columns_of(rows).items()])


def as_pandas(rows: Table, folder: Path) -> Any:
    return pd.DataFrame(columns_of(rows))


def as_arrays(rows: Table, folder: Path) -> Any:
    return columns_of(rows)


def as_objects(rows: Table, folder: Path) -> Any:
    arrays = {name: np.empty(len(rows), dtype=object) for name in columns_of(rows)}
    for name, held in columns_of(rows).items():
        arrays[name][:] = held
    return arrays


def as_csv(rows: Table, folder: Path, name: str = "log.csv") -> Any:
    with (folder / name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns_of(rows))
        writer.writerows(zip(*columns_of(rows).values(), strict=True))
    return folder / name


def as_parquet(rows: Table, folder: Path) -> Any:
    as_polars(rows, folder).write_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def as_folder(rows: Table, folder: Path) -> Any:
    as_csv(rows[:4], folder, "a.csv")
    as_csv(rows[4:], folder, "b.csv")
    return folder


FORMS = (as_polars, as_pandas, as_arrays, as_objects, as_csv, as_parquet, as_folder)


def first_action(observations: np.ndarray) -> np.ndarray:
    return np.where(observations[:, 0] > 0.5, 1, 0)


def halves(observations: np.ndarray) -> np.ndarray:
    return np.full((len(observations), 2), 0.5)


NETWORK = NetworkPolicy([(np.ones((2, 3)), np.zeros(3)), (np.eye(3), np.arange(3.0))], "relu", "softmax")
POLICIES = (first_action, halves, NETWORK, np.full((4, 2), 0.5), "column:action", "probability:behavior_prob")


def check(evaluation: Evaluation) -> None:
    for row in evaluation.estimates.iter_rows(named=True):
        assert row["note"] if row["value"] is None else math.isfinite(row["value"]), row
        numbers = [row[name] for name in ("low", "high", "std_error", "effective_episodes")]
        assert all(number is None or math.isfinite(number) for number in numbers), row
        assert row["note"] or row["low"] is not None, row
    counts = evaluation.diagnostics.select("factual", "counterfactual", "u", "effective_episodes")
    assert counts.select(pl.all().is_finite().all()).row(0) == (True,) * 4
    assert len(list(estimates_lines(evaluation.estimates))) == len(evaluation.estimates) + 1


def evaluated(log: Any, policy: Any, estimators: list[str]) -> Evaluation | str:
    """The evaluation, or the message that refuses it."""
    try:
        return evaluate(log, policy, estimators=estimators, details=False)
    except InputError as fault:
        return str(fault)


BROKEN = given(
    rows=tables(),
    broken=st.lists(mutations, min_size=1, max_size=3),
    form=st.sampled_from(FORMS),
    policy=st.sampled_from(POLICIES),
)


@settings(deadline=None, max_examples=150)
@BROKEN
def test_broken_tables(rows: Table, broken: list[Mutation], form: Callable[..., Any], policy: Any) -> None:
    survive(rows, broken, form, policy, [name for name, spec in ESTIMATORS.items() if spec.role is Role.WEIGHTING])


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@BROKEN
def test_broken_tables_with_models(rows: Table, broken: list[Mutation], form: Callable[..., Any], policy: Any) -> None:
    survive(rows, broken, form, policy, ["corrected", "repbm", "am", "fqe"])


def survive(rows: Table, broken: list[Mutation], form: Callable[..., Any], policy: Any, estimators: list[str]) -> None:
    """Only a valid evaluation or one line is accepted."""
    for mutation in broken:
        rows = mutation(rows)
    with tempfile.TemporaryDirectory() as folder:
        try:
            log = form(rows, Path(folder))
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            return  # no such table can be built
        evaluation = evaluated(log, policy, estimators)
    if isinstance(evaluation, Evaluation):
        check(evaluation)
    else:
        assert evaluation
        assert "\n" not in evaluation
