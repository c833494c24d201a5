"""Functions that find columns by name, and see what the log has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from repbm.core import InputError
from repbm.estimators import Case
from repbm.evaluation import evaluate
from repbm.logs import read_log
from repbm.policies import Form, Greedy, NamedPolicy, ObservationPolicy, Softened, form_of
from repbm.policies.adapters import as_policy, classifier_policy
from tests.test_bad_input import GOOD, Program, says
from tests.test_tables import survival

LOG = survival()
WANTED = [
    "drug" if row["ward"] == "icu" or (row["lactate"] is not None and row["lactate"] > 2) else "wait"
    for row in LOG.sort("patient_id", "day").iter_rows(named=True)
]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


def by_row(row):
    return "drug" if row["ward"] == "icu" or (row["lactate"] is not None and row["lactate"] > 2) else "wait"


def by_mapping(patient: Mapping[str, Any]) -> str:
    return by_row(patient)


def by_dict(patient: dict) -> str:
    return by_row(patient)


def by_values(ward, lactate):
    return by_row({"ward": ward, "lactate": lactate})


def by_keywords(*, lactate, ward):
    return by_row({"ward": ward, "lactate": lactate})


def by_all(**row):
    return by_row(row)


def by_columns(ward: np.ndarray, lactate: np.ndarray) -> np.ndarray:
    return np.where((ward == "icu") | (lactate > 2), "drug", "wait")


def by_arrays(log: Mapping[str, np.ndarray]) -> np.ndarray:
    return by_columns(log["ward"], log["lactate"])


def by_polars(log: pl.DataFrame) -> pl.Series:
    sick = (pl.col("ward") == "icu") | (pl.col("lactate") > 2).fill_null(False)
    return log.select(pl.when(sick).then(pl.lit("drug")).otherwise(pl.lit("wait"))).to_series()


def by_frame(df):
    return by_polars(df)


def by_pandas(log: pd.DataFrame) -> np.ndarray:
    return np.where((log["ward"] == "icu") | (log["lactate"] > 2), "drug", "wait")


FORMS: dict[Callable[..., Any], Form] = {
    by_row: Form.ROW,
    by_mapping: Form.ROW,
    by_dict: Form.ROW,
    by_values: Form.VALUES,
    by_keywords: Form.VALUES,
    by_all: Form.VALUES,
    by_columns: Form.COLUMNS,
    by_arrays: Form.MAPPING,
    by_polars: Form.POLARS,
    by_frame: Form.POLARS,
    by_pandas: Form.PANDAS,
}


def decided(policy: Any, log: pl.DataFrame = LOG) -> list[Any]:
    """What the policy does at every step of the log."""
    data = read_log(log)
    decisions = Case.of(data, as_policy(policy)).decisions
    assert decisions.matrix is not None
    return [decisions.labels[code] for code in decisions.matrix().argmax(axis=1)]


@pytest.mark.parametrize("function", FORMS, ids=lambda function: function.__name__)
def test_every_form_sees_the_log_as_it_is(function: Callable[..., Any]) -> None:
    assert form_of(function) is FORMS[function]
    assert decided(function) == WANTED


def test_one_parameter_without_a_hint_is_an_array() -> None:
    def act(x):
        return x

    def also(states, limit=3.0):
        return states

    def typed(states: np.ndarray) -> np.ndarray:
        return states

    assert [form_of(one) for one in (act, also, typed, np.sin)] == [Form.ARRAY] * 4
    assert as_policy(act).by_order
    assert not as_policy(by_row).by_order


def test_one_parameter_with_the_name_of_a_column_is_that_column() -> None:
    """Age is neither the first column nor the only one."""

    def by_age(age):
        return "drug" if age > 60 else "wait"

    def by_ages(age: np.ndarray):
        assert age.ndim == 1
        return np.where(age > 60, "drug", "wait")

    def by_ward(ward, needed="icu"):
        return "drug" if ward == needed else "wait"

    rows = LOG.sort("patient_id", "day")
    ages = ["drug" if age > 60 else "wait" for age in rows["age"]]
    wards = ["drug" if ward == "icu" else "wait" for ward in rows["ward"]]
    wrapped = as_policy(by_age)
    assert isinstance(wrapped, ObservationPolicy)
    assert [decided(by_age), decided(by_ages), decided(Greedy(wrapped))] == [ages] * 3
    assert decided(by_ward) == wards
    policies = {
        "one": by_age,
        "two": by_ages,
        "three": by_ward,
        "four": Greedy(wrapped),
        "all": lambda x: ["wait"] * len(x),
    }
    notes = evaluate(LOG, policies, estimators=["wis"], details=False).run["notes"]
    assert "one, two, four: the parameter age is given the column of that name, not all observations" in notes
    assert "three: the parameter ward is given the column of that name, not all observations" in notes
    assert next(note for note in notes if "in this order" in note).startswith("all: ")


def test_general_words_are_all_observations_whatever_columns_are_called() -> None:
    log = GOOD.rename({"obs_age": "obs_state"}).with_columns(obs_x=pl.col("obs_state"))
    seen = []

    def by_state(state):
        seen.append(state.shape[1])
        return np.zeros(len(state), int)

    def by_x(x):
        return by_state(x)

    def by_income(income):
        return by_state(income)

    for function in (by_state, by_x, by_income):
        decisions = Case.of(read_log(log), as_policy(function)).decisions
        assert decisions.logged(slice(None)).tolist() == [1, 0, 0, 1]
    assert set(seen) == {2}


def test_whoever_expected_all_observations_is_told_what_came() -> None:
    def by_age(age):
        return age[:, 1] > 0

    with pytest.raises(InputError, match=r"it is given the column .age., .* for all columns call its parameter"):
        decided(by_age)


def test_missing_values_are_none() -> None:
    seen: list[Any] = []
    decided(lambda row: seen.append(row["lactate"]) or "wait")
    assert seen[: len(LOG)] == LOG.sort("patient_id", "day")["lactate"].to_list()


def test_probabilities_may_be_mappings() -> None:
    policy = as_policy(lambda row: {"drug": 0.9, "wait": 0.1} if row["ward"] == "icu" else {"wait": 1.0})
    case = Case.of(read_log(LOG), policy)
    ward = LOG.sort("patient_id", "day")["ward"]
    assert case.decisions.matrix is not None
    chance = case.decisions.matrix()[:, case.decisions.labels.index("drug")]
    np.testing.assert_allclose(chance, np.where(ward == "icu", 0.9, 0.0))
    with pytest.raises(InputError, match=r"sum to 0\.5"):
        decided(lambda row: {"drug": 0.5})


def test_wrapped_functions_find_their_columns_too() -> None:
    policy = as_policy(by_values)
    assert isinstance(policy, NamedPolicy)
    assert decided(Greedy(policy)) == WANTED
    assert decided(Softened(policy, 0.1)) == WANTED


def test_renamed_columns_are_known_by_both_names() -> None:
    log = GOOD.rename({"obs_age": "years"})
    for function in (
        lambda row: int(row["age"] > 0.6),
        lambda *, age: int(age > 0.6),
        lambda *, years: int(years > 0.6),
    ):
        data = read_log(log, columns={"obs_age": "years"})
        decisions = Case.of(data, as_policy(function)).decisions
        assert decisions.logged(slice(None)).tolist() == [1, 0, 1, 0]


def test_models_ask_functions_by_name_in_states_that_nobody_logged() -> None:
    found = evaluate(LOG, {"rule": by_values}, estimators=["repbm"], details=False)
    assert found.estimates["value"].is_finite().all()


def test_the_text_of_rules_is_stored() -> None:
    found = evaluate(LOG, {"rule": by_values, "column": "column:treatment"}, estimators=["wis"], details=False)
    assert found.run["rules"]["rule"].startswith("def by_values(ward, lactate):")
    assert found.run["rules"]["column"] is None


def test_functions_of_arrays_are_told_the_order(program: Program) -> None:
    path = program.write("policy.py", "def act(x):\n    return ['drug'] * len(x)\n")
    log = program.store(LOG, "log.csv")
    code, _, notes = program.run(log, "--policy", f"mine={path}:act", "--estimator", "wis")
    assert code == 0
    assert "mine: observations come in this order: age, lactate, lactate missing, sex=M, ward=icu" in notes


FAULTS = {
    "unknown": ("def act(age, lactat): return 'drug'", ("asks for 'lactat'", "did you mean 'lactate'?")),
    "nothing alike": ("def act(age, blood): return 'drug'", ("asks for 'blood'", "age, lactate, sex, ward")),
    "missing": ("def act(row):\n    return 'drug' if row['lactate'] > 2 else 'wait'", ("policy.py:2", "TypeError")),
    "no such column": ("def act(row): return row['blood']", ("KeyError", "policy.py:1")),
    "no action": ("def act(row): return 0.5", ("0.5", "as the log spells it")),
}


@pytest.mark.parametrize(("text", "words"), FAULTS.values(), ids=FAULTS.keys())
def test_faults_are_one_line(program: Program, text: str, words: tuple[str, ...]) -> None:
    path = program.write("policy.py", text)
    says(program.refuses(program.store(LOG), policy=f"{path}:act"), *words)


# Decision tables.


@pytest.mark.parametrize(
    ("cell", "inside"),
    [
        ("icu", ["icu"]),
        ("ICU", ["icu"]),
        ("icu|surgery", ["icu", "surgery"]),
        ("!icu", ["medicine", "surgery"]),
    ],
)
def test_categories_in_decision_tables(tmp_path: Path, cell: str, inside: list[str]) -> None:
    (tmp_path / "rules.csv").write_text(f"ward,action\n{cell},drug\n*,wait\n")
    ward = LOG.sort("patient_id", "day")["ward"]
    assert decided(tmp_path / "rules.csv") == ["drug" if one in inside else "wait" for one in ward]


def test_two_categories_flags_order_dates_and_missing_in_decision_tables(tmp_path: Path) -> None:
    pain = pl.Series("pain", ["none", "mild", "severe"] * len(LOG))[: len(LOG)].cast(
        pl.Enum(["none", "mild", "severe"])
    )
    log = LOG.sort("patient_id", "day").with_columns(pain, old=pl.col("age") > 60, born=pl.date(2000, 1, 1))
    for header, cell, expected in (
        ("sex", "F", log["sex"] == "F"),
        ("lactate", "missing", log["lactate"].is_null()),
        ("lactate", "!missing", log["lactate"].is_not_null()),
        ("lactate", ">2|missing", (log["lactate"] > 2).fill_null(True)),
        ("pain", ">=mild", log["pain"].cast(pl.String) != "none"),
        ("old", "yes", log["old"]),
        ("born", ">=2000-01-01", log["age"] > 0),
    ):
        (tmp_path / "rules.csv").write_text(f"{header},action\n{cell},drug\n*,wait\n")
        assert decided(tmp_path / "rules.csv", log) == ["drug" if one else "wait" for one in expected], cell


def test_decision_tables_follow_renames(program: Program) -> None:
    log = program.store(GOOD.rename({"obs_age": "Years", "action": "drug given"}))
    rules = program.write("rules.csv", "Years,drug given\n<0.65,1\n*,0\n")
    options = ("--column", "obs_age=Years", "--column", "action=drug given", "--estimator", "wis")
    code, printed, error = program.run(log, "--policy", rules, *options)
    assert code == 0, error
    assert "wis" in printed


TABLE_FAULTS = {
    "unknown category": ("ward,action\nicuu,drug\n*,wait\n", ("'icuu'", "never shows", "did you mean 'icu'?")),
    "no category": ("ward,action\n>3,drug\n*,wait\n", ("'>3'", "it shows icu, medicine, surgery")),
    "text for a number": ("age,action\nold,drug\n*,wait\n", ("'old'", "no condition")),
    "nothing fits": ("ward,lactate,action\nicu,<0,drug\n", ("no row fits ward=", "lactate=")),
}


@pytest.mark.parametrize(("text", "words"), TABLE_FAULTS.values(), ids=TABLE_FAULTS.keys())
def test_faults_of_tables_are_one_line(program: Program, text: str, words: tuple[str, ...]) -> None:
    path = program.write("rules.csv", text)
    says(program.refuses(program.store(LOG), policy=str(path)), "rules.csv", *words)


def test_rare_categories_cannot_be_told_apart(program: Program) -> None:
    log = program.store(LOG)
    path = program.write("rules.csv", "ward,action\nicu,drug\nsurgery,drug\nmedicine,drug\n*,wait\n")
    message = program.refuses(log, "--rule", "encoding.most_categories=1", policy=str(path))
    says(message, "so rare", "'other'", "encoding.rare_rows=1")


@pytest.mark.parametrize(
    "content",
    ["wärd;action\nicu;drug\n*;wait\n".encode("cp1252"), "wärd\taction\nicu\tdrug\n*\twait\n".encode("utf-16")],
)
def test_tables_of_spreadsheets(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rules.csv").write_bytes(content)
    ward = LOG.sort("patient_id", "day")["ward"]
    log = LOG.rename({"ward": "wärd"})
    assert decided(tmp_path / "rules.csv", log) == ["drug" if one == "icu" else "wait" for one in ward]


def test_classifiers_of_named_columns_see_the_log_as_it_is() -> None:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    frame = LOG.sort("patient_id", "day").to_pandas()[["ward", "lactate"]]
    coded = make_column_transformer((OrdinalEncoder(), ["ward"]), remainder="passthrough")
    model = make_pipeline(coded, HistGradientBoostingClassifier(max_iter=5)).fit(frame, WANTED)
    assert decided(Greedy(classifier_policy(model))) == list(model.predict(frame))


def test_groups_are_told_in_words_of_the_log() -> None:
    from sklearn.tree import DecisionTreeRegressor

    from repbm.inference._subgroups import leaf_conditions

    tree = DecisionTreeRegressor(max_depth=1).fit(np.array([[0.0, 1.0], [1.0, 1.0]]), [0.0, 1.0])
    assert set(leaf_conditions(tree, ("ward=icu", "age")).values()) == {("not ward=icu",), ("ward=icu",)}
