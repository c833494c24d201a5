"""Policies of other frameworks: how their answers are read, classifiers, names, and what is missing."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from repbm.evaluation import evaluate
from repbm.policies.adapters import Answer, EnginePolicy, as_policy, classifier_policy
from tests.adapters import (
    EXPECTED,
    LABELS,
    OBSERVATIONS,
    Absent,
    Bomb,
    acts,
    evaluated,
    refused,
    small_log,
)
from tests.test_bad_input import Program


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


# How answers are read


def test_what_rows_of_numbers_are_is_found_once() -> None:
    policy = EnginePolicy(lambda x: x, "mine")
    assert not policy.choices(np.array([[0.25, 0.75], [1.0, 0.0]]), (0, 1)).deterministic
    refused(lambda: policy.choices(np.array([[0.2, 0.9]]), (0, 1)), "policy mine", "sum to 1.1")
    other = EnginePolicy(lambda x: x, "other")
    assert other.choices(np.array([[0.25, 0.75], [-1.0, 2.0]]), (0, 1)).what.tolist() == [1, 1]
    assert other.choices(np.array([[0.75, 0.25]]), (0, 1)).what.tolist() == [0]  # scores they stay
    rounded = EnginePolicy(lambda x: x, "rounded")
    refused(lambda: rounded.choices(np.array([[0.25, 0.75], [0.33, 0.66]]), (0, 1)), "observation 1", "nearly sum to 1")
    told = EnginePolicy(lambda x: x, "told", answer=Answer.SCORES)
    assert told.choices(np.array([[0.25, 0.75]]), (0, 1)).what.tolist() == [1]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([[0.37], [1.0]], ("single number 0.37", "only discrete actions")),
        ([0.5, 1.5], ("single number 0.5",)),
        ([[np.nan, 1.0], [0.0, 1.0]], ("observation 0", "not a finite number")),
        ([1], ("2 observations", "(1,)")),
        ([[[1, 2]], [[1, 2]]], ("2 observations", "(2, 1, 2)")),
        ([["a", "b"], ["a", "b"]], ("rows of", "one number per action")),
        (["go", "stay"], ("'go'", "the log's actions are like 0")),
    ],
)
def test_answers_that_are_none(answer: list, words: tuple[str, ...]) -> None:
    policy = EnginePolicy(lambda x: np.asarray(answer), "mine")
    refused(lambda: policy.choices(np.zeros((2, 1)), (0, 1)), "policy mine", *words)


def test_long_logs_are_asked_in_parts() -> None:
    sizes: list[int] = []

    def engine(observations: np.ndarray) -> np.ndarray:
        sizes.append(len(observations))
        return (observations[:, 0] > 0).astype(np.int64)

    observations = np.random.default_rng(2).normal(size=(70_000, 1))
    choices = EnginePolicy(engine, "mine").choices(observations, (0, 1))
    np.testing.assert_array_equal(np.asarray(choices.labels)[choices.what], observations[:, 0] > 0)
    assert len(sizes) > 1
    assert max(sizes) <= 1 << 15


# Classifiers


def fitted(classifier: Any, labels: tuple[Any, ...] = LABELS) -> Any:
    return classifier.fit(OBSERVATIONS, np.asarray(labels)[EXPECTED])


def test_classifier_objects() -> None:
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()), ("a", "b", "c", "d"))
    policy = as_policy(model)
    assert isinstance(policy, EnginePolicy)
    assert policy.name == "Pipeline"
    labels = ("d", "c", "b", "a")
    np.testing.assert_allclose(policy.probabilities(OBSERVATIONS, labels), model.predict_proba(OBSERVATIONS)[:, ::-1])
    ridge = fitted(RidgeClassifier())
    np.testing.assert_array_equal(acts(as_policy(ridge)), ridge.predict(OBSERVATIONS))


def test_a_classifier_of_one_class_always_takes_it() -> None:
    policy = as_policy(DecisionTreeClassifier().fit(OBSERVATIONS, np.full(len(OBSERVATIONS), 2)))
    assert isinstance(policy, EnginePolicy)
    np.testing.assert_array_equal(policy.probabilities(OBSERVATIONS, LABELS)[:, 2], 1)


def test_a_classifier_finds_its_columns_by_name() -> None:
    log = small_log()
    frame = pd.DataFrame(OBSERVATIONS, columns=pd.Index(["c", "a", "b"]))
    classifier = DecisionTreeClassifier(random_state=0).fit(frame, EXPECTED)
    right = classifier.predict(log.select(c="obs_c", a="obs_a", b="obs_b").to_pandas())
    found = evaluate(log, classifier, estimators=["wpdis"], details=False).estimates
    expected = evaluate(log.with_columns(pi=right), "column:pi", estimators=["wpdis"], details=False).estimates
    assert found["value"].to_list() == expected["value"].to_list()
    assert found["policy"].to_list() == ["DecisionTreeClassifier"]
    renamed = log.rename({"obs_c": "obs_d"})
    refused(lambda: evaluate(renamed, classifier, details=False), "trained on 'c'", "no observation", "--column obs_c=")


def test_objects_that_are_no_classifier() -> None:
    refused(lambda: as_policy(LogisticRegression()), "LogisticRegression", "fitted")
    refused(lambda: as_policy(LinearRegression().fit(OBSERVATIONS, EXPECTED)), "LinearRegression", "classifier")
    many = DecisionTreeClassifier().fit(OBSERVATIONS, np.column_stack([EXPECTED, EXPECTED]))
    refused(lambda: as_policy(many), "several actions")
    refused(
        lambda: evaluate(small_log().drop("obs_c"), fitted(RidgeClassifier()), details=False), "takes 3 observations"
    )


def test_skops_file(program: Program) -> None:
    classifier = fitted(LogisticRegression())
    path = program.folder / "clinic.skops"
    skops.io.dump(classifier, path)
    policy = as_policy(path)
    assert isinstance(policy, EnginePolicy)
    assert policy.name == "clinic"
    np.testing.assert_allclose(policy.probabilities(OBSERVATIONS, LABELS), classifier.predict_proba(OBSERVATIONS))
    found = evaluated(program, str(path))
    expected = evaluate(small_log(), classifier, estimators=["wpdis"], details=False).estimates
    np.testing.assert_allclose(found["value"].to_numpy(), expected["value"].to_numpy())


def doubled(values: np.ndarray) -> np.ndarray:
    return 2 * values


def test_a_skops_file_with_foreign_code_needs_trust(program: Program) -> None:
    classifier = fitted(make_pipeline(FunctionTransformer(doubled), LogisticRegression()))
    path, log = program.folder / "odd.skops", program.store(small_log())
    skops.io.dump(classifier, path)
    line = program.refuses(log, policy=str(path))
    assert "tests.test_policy_adapters.doubled" in line
    assert "--trust-pickle" in line
    assert len(evaluated(program, str(path), "--trust-pickle"))
    broken = program.write("broken.skops", b"nothing")
    assert "no skops file" in program.refuses(log, policy=str(broken), out=program.folder / "other")


@pytest.mark.parametrize("ending", ["pkl", "joblib"])
def test_pickles_need_trust(program: Program, ending: str) -> None:
    classifier = fitted(LogisticRegression())
    path, log = program.folder / f"clinic.{ending}", program.store(small_log())
    if ending == "joblib":
        joblib.dump(classifier, path, compress=3)
    else:
        path.write_bytes(pickle.dumps(classifier))
    line = program.refuses(log, policy=str(path))
    assert "can run any code" in line
    assert "--trust-pickle" in line
    found = evaluated(program, str(path), "--trust-pickle")
    expected = evaluate(small_log(), classifier, estimators=["wpdis"], details=False).estimates
    np.testing.assert_allclose(found["value"].to_numpy(), expected["value"].to_numpy())


@pytest.mark.parametrize("ending", ["pkl", "pickle", "joblib"])
def test_a_pickle_is_not_even_opened_without_trust(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"bomb.{ending}"
    path.write_bytes(pickle.dumps(Bomb(tmp_path / "trace")))
    refused(lambda: as_policy(path), "can run any code")
    assert not (tmp_path / "trace").exists()


def test_pickles_that_hold_no_policy(program: Program) -> None:
    log = program.store(small_log())
    number = program.write("number.pkl", pickle.dumps(3))
    assert "holds a int, which is no policy" in program.refuses(log, "--trust-pickle", policy=str(number))
    unfit = program.write("unfit.pkl", pickle.dumps(LogisticRegression()))
    assert "unfit.pkl: unfit has no classes" in program.refuses(log, "--trust-pickle", policy=str(unfit))
    broken = program.write("broken.pkl", b"nothing")
    assert "cannot be loaded" in program.refuses(log, "--trust-pickle", policy=str(broken))


# Python files and names


def test_a_python_file_may_name_any_policy(tmp_path: Path) -> None:
    source = "import numpy as np\nfrom sklearn.tree import DecisionTreeClassifier\n"
    source += "tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])\ntable = np.eye(2)\n"
    source += "def rule(x):\n    return (x[:, 0] > 0.5).astype(int)\n"
    path = tmp_path / "mine.py"
    path.write_text(source)
    for name, kind in (("tree", "EnginePolicy"), ("table", "TabularPolicy"), ("rule", "CallablePolicy")):
        policy: Any = as_policy(f"{path}:{name}")
        assert type(policy).__name__ == kind
        np.testing.assert_array_equal(policy.probabilities(np.array([[0.0], [1.0]]), (0, 1)), np.eye(2))


def test_every_policy_has_a_short_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "small.npz", w0=np.eye(2), b0=np.zeros(2))
    (tmp_path / "rules.csv").write_text("action\n1\n")

    def cautious(x: np.ndarray) -> np.ndarray:
        return np.zeros(len(x))

    names = {
        "cautious": cautious,
        "lambda": lambda x: x,
        "small": tmp_path / "small.npz",
        "rules": tmp_path / "rules.csv",
        "table": np.eye(2),
        "pi": "column:pi",
        "p": "probability:p",
        "p_0 p_1": "probabilities:p_0,p_1",
        "RidgeClassifier": fitted(RidgeClassifier()),
        "mine": classifier_policy(fitted(RidgeClassifier()), "mine"),
    }
    assert [as_policy(given).name for given in names.values()] == list(names)


# What is missing


@pytest.mark.parametrize(
    ("file", "module", "extra"),
    [
        ("x.onnx", "onnxruntime", "onnx"),
        ("x.pt", "torch", "torch"),
        ("x.zip", "stable_baselines3", "sb3"),
        ("x.d3", "d3rlpy", "d3rlpy"),
        ("x.skops", "skops", "skops"),
    ],
)
def test_a_missing_framework_says_what_to_install(
    program: Program, monkeypatch: pytest.MonkeyPatch, file: str, module: str, extra: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(module), *sys.meta_path])
    path = program.write(file, b"")
    line = program.refuses(program.store(small_log()), policy=str(path))
    assert line == f"{path}: this needs {module}; pip install 'repbm[{extra}]'"


def test_importing_repbm_loads_no_framework() -> None:
    code = "import sys, repbm.evaluation, repbm.policies, repbm.logs, repbm.cli\n"
    code += "heavy = 'torch onnxruntime onnx skops stable_baselines3 d3rlpy minari h5py gymnasium'.split()\n"
    code += "print([name for name in heavy if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
