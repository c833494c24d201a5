"""Decision tables: rules that an analyst writes as CSV."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm.cli import main
from repbm.core import InputError
from repbm.evaluation import evaluate
from repbm.policies import Greedy, Softened
from repbm.policies.adapters import DecisionTable, as_policy
from tests.adapters import evaluated, small_log
from tests.test_bad_input import Program

RULES = "age,obs_sodium,action\n<40,*,0\n40..60,<135,1\n>=60,*,2\n*,*,3\n"
STATES = np.array([[39.9, 100], [40, 100], [40, 135], [59.9, 134], [60, 0], [100, 200]])


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


def table(folder: Path, text: str) -> DecisionTable:
    path = folder / "rules.csv"
    path.write_text(text)
    return DecisionTable.load(path)


def taken(policy: Any, observations: np.ndarray, labels: tuple[Any, ...]) -> list[Any]:
    choices = policy.choices(observations, labels)
    return [choices.labels[code] for code in choices.what]


def test_the_first_row_that_fits_wins(tmp_path: Path) -> None:
    rules = table(tmp_path, RULES)
    assert taken(rules.bind(("age", "sodium")), STATES, (0, 1, 2, 3)) == [0, 1, 3, 1, 2, 2]
    assert taken(rules.bind(("sodium", "weight", "age")), STATES[:, [1, 1, 0]], (0, 1, 2, 3)) == [0, 1, 3, 1, 2, 2]


@pytest.mark.parametrize(
    ("cell", "inside", "outside"),
    [
        ("<40", [39.9, -1e9], [40, 41]),
        ("<= 40", [40, 0], [40.1]),
        ("≤40", [40, 0], [40.1]),
        (">40", [40.1], [40]),
        ("≥40", [40], [39.9]),
        ("40..60", [40, 59.9], [39.9, 60]),
        ("-1.5 .. -0.5", [-1.5, -0.6], [-0.5, -2]),
        ("3", [3], [2.9, 3.1]),
        ("=3", [3], [4]),
        ("1e3", [1000], [999]),
        ("*", [-1, 0, 1], []),
    ],
)
def test_cells(tmp_path: Path, cell: str, inside: list[float], outside: list[float]) -> None:
    policy = table(tmp_path, f"x,action\n{cell},yes\n" + ("*,no\n" if cell != "*" else "")).bind(("x",))
    states = np.array([*inside, *outside], dtype=float)[:, None]
    assert taken(policy, states, ("no", "yes")) == ["yes"] * len(inside) + ["no"] * len(outside)


def test_actions_are_spelled_as_the_log_does(tmp_path: Path) -> None:
    policy = table(tmp_path, "x,action\n<0,1\n*,2.0\n").bind(("x",))
    states = np.array([[-1.0], [1.0]])
    assert taken(policy, states, (1, 2)) == [1, 2]
    assert taken(policy, states, ("1", "2.0")) == ["1", "2.0"]


def test_files_of_spreadsheets(tmp_path: Path) -> None:
    path = tmp_path / "rules.csv"
    path.write_bytes('\ufeff"age", action\r\n"<40", wait \r\n\r\n*,treat\r\n,\r\n'.encode())
    policy = DecisionTable.load(path).bind(("age",))
    assert taken(policy, np.array([[30.0], [50.0]]), ("treat", "wait")) == ["wait", "treat"]


def test_decimal_commas_where_commas_separate_nothing(tmp_path: Path) -> None:
    """As a spreadsheet writes it in half of Europe; text stays as it is, and "1,5" between commas is no number."""
    rows = ["x;y;action", ">2,5;*;0,5 mg", "0,5..1,5;≤-0,25;none", "1,5;*;half", "*;*;rest"]
    policy = table(tmp_path, "\n".join(rows)).bind(("x", "y"))
    states = np.array([[2.6, 0], [0.5, -0.25], [1.5, 0], [2.5, 0], [0.5, 0]])
    assert taken(policy, states, ("0,5 mg", "half", "none", "rest")) == ["0,5 mg", "none", "half", "rest", "rest"]
    with pytest.raises(InputError, match="'>2,5', which is no condition"):
        table(tmp_path, 'x,action\n">2,5",a\n*,b').bind(("x",))


def test_wrapped_tables_find_their_columns_too(tmp_path: Path) -> None:
    rules = table(tmp_path, "c,action\n<0,1\n*,2\n")
    log = small_log()
    plain = evaluate(log, rules, estimators=["wpdis"], details=False).estimates
    greedy = evaluate(log, Greedy(rules), estimators=["wpdis"], details=False).estimates
    assert plain["value"].to_list() == greedy["value"].to_list()
    assert Softened(rules, 0.1).name == "rules, softened"
    assert len(evaluate(log, Softened(rules, 0.1), estimators=["wpdis"], details=False).estimates)


def test_evaluate_from_the_command_line(program: Program) -> None:
    path = program.write("rules.csv", "b,action\n<0,1\n*,2\n")
    found = evaluated(program, f"mine={path}", "--estimator", "fqe")
    expected = evaluate(
        small_log(), lambda x: np.where(x[:, 1] < 0, 1, 2), estimators=["wpdis", "fqe"], details=False
    ).estimates
    assert found["policy"].to_list() == ["mine", "mine"]
    np.testing.assert_allclose(found["value"].to_numpy(), expected["value"].to_numpy())


def test_text_actions_from_the_command_line(program: Program) -> None:
    path = program.write("rules.csv", "obs_a,action\n<0,wait\n*,treat\n")
    log = small_log(("treat", "wait"))
    found = evaluated(program, str(path), log=log)
    expected = evaluate(
        log, lambda x: np.where(x[:, 0] < 0, "wait", "treat"), estimators=["wpdis"], details=False
    ).estimates
    np.testing.assert_allclose(found["value"].to_numpy(), expected["value"].to_numpy())


def test_values_of_individuals(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    path, model = program.write("rules.csv", "b,action\n<0,1\n*,2\n"), program.folder / "model.npz"
    people = program.store(pl.DataFrame({"obs_c": [0.1], "obs_b": [-0.2], "obs_a": [0.3]}), "people.csv")
    code, _, error = program.run(
        program.store(small_log().head(27)), "--policy", path, "--estimator", "repbm", "--save-model", model
    )
    assert (code, error.strip()) == (0, "warning: there are 9 episodes: intervals rest on very little")
    out = program.folder / "values.csv"
    words = ["repbm", "value", model, "--individuals", people, "--policy", path, "--out", out]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    assert pl.read_csv(out)["value"].is_finite().all()


def test_the_doctor_takes_a_table_too(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program.write("rules.csv", "b,action\n<0,1\n*,2\n")
    log = program.store(small_log().head(27))
    monkeypatch.setattr(sys, "argv", ["repbm", "doctor", str(log), "--policy", f"mine={path}"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)


FAULTS = {
    "empty": ("", ("the decision table is empty",)),
    "no rules": ("a,action\n", ("no rule",)),
    "no action": ("a,b\n1,2\n", ("no column 'action'",)),
    "near action": ("a,Actions\n1,2\n", ("no column 'action'", "'actions'")),
    "one column": ("a\n1\n", ("no column 'action'", "commas")),
    "twice": ("a,a,action\n1,1,2\n", ("column 'a' is there twice",)),
    "nameless": ("a,,action\n1,1,2\n", ("has no name",)),
    "cells": ("a,action\n1\n", ("row 1", "1 cells under 2 columns")),
    "no condition": ("a,action\nlow,1\n", ("row 1", "column 'a' is 'low'", "<40")),
    "empty cell": ("a,action\n,1\n", ("row 1", "column 'a' is empty", "write *")),
    "empty action": ("a,action\n<0,1\n*,\n", ("row 2", "column 'action' is empty")),
    "backwards": ("a,action\n60..40,1\n", ("row 1", "'60..40'", "lower end first")),
    "no number": ("a,action\n<nan,1\n", ("row 1", "'<nan'")),
    "unreached": ("a,action\n*,1\n<0,2\n", ("row 2", "row 1 fits everything")),
    "no row fits": ("a,b,action\n<0,*,1\n", ("no row fits a=", ", b=", "last row of *")),
    "unknown column": ("aa,action\n*,1\n", ("column 'aa' is no observation", "a, b, c")),
    "text action": ("a,action\n*,treat\n", ("'treat' is no whole number", "like 0")),
    "unknown action": ("a,action\n*,17\n", ("17", "none of the log's")),
}


@pytest.mark.parametrize(("text", "words"), FAULTS.values(), ids=FAULTS.keys())
def test_faults_are_one_line(program: Program, text: str, words: tuple[str, ...]) -> None:
    path = program.write("rules.csv", text)
    line = program.refuses(program.store(small_log()), policy=str(path))
    assert not [word for word in ("rules.csv", *words) if word not in line], line


def test_not_text_at_all(program: Program) -> None:
    path = program.write("rules.csv", b"\xff\x00\x00a,action\n")
    assert "no CSV file" in program.refuses(program.store(small_log()), policy=str(path))
    assert "no such file" in program.refuses(program.store(small_log()), policy=str(program.folder / "none.csv"))


def test_without_names_a_table_does_not_guess(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names of observations"):
        taken(table(tmp_path, RULES), STATES, (0, 1))
    assert as_policy(tmp_path / "rules.csv").name == "rules"
