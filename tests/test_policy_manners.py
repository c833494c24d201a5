"""What policies of users may do, and what is noticed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repbm.core import InputError, Label
from repbm.evaluation import evaluate
from repbm.logs import read_log
from repbm.policies import CallablePolicy, Choices, ObservationPolicy
from repbm.policies.adapters import as_policy
from repbm.policies.adapters._engine import EnginePolicy
from tests.test_bad_input import GOOD, Program, put, says, zeros


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


def spoiling(observations: np.ndarray) -> np.ndarray:
    answer = (observations[:, 0] > 0.65).astype(int)
    observations -= 1
    return answer


class Spoiling(ObservationPolicy):
    """A policy object of a user's own."""

    def choices(self, observations: np.ndarray, labels: tuple[Label, ...]) -> Choices:
        return Choices(labels, spoiling(observations))


@pytest.mark.parametrize(
    "policy", [CallablePolicy(spoiling), EnginePolicy(spoiling, "engine"), Spoiling()], ids=lambda one: one.name
)
def test_a_policy_that_changes_its_input_changes_nothing(policy: ObservationPolicy) -> None:
    data = read_log(GOOD)
    before = data.observations.copy()
    decisions = policy.decisions(data)
    assert decisions.matrix is not None
    np.testing.assert_array_equal(decisions.matrix()[:, 1], [0, 0, 1, 1])
    np.testing.assert_array_equal(data.observations, before)


def test_answers_do_not_depend_on_what_the_policy_does_to_its_input() -> None:
    clean, spoiled = (
        evaluate(GOOD, {"it": one}, details=False).estimates
        for one in (lambda x: (x[:, 0] > 0.65).astype(int), spoiling)
    )
    assert clean.equals(spoiled)


def test_what_a_policy_prints_is_not_among_the_results(program: Program) -> None:
    path = program.write("policy.py", "print('loading')\ndef act(x):\n    print('acting')\n    return [0] * len(x)\n")
    options = ("--estimator", "wis")
    code, printed, error = program.run(program.store(GOOD), "--policy", f"{path}:act", *options)
    assert code == 0
    assert printed.startswith("policy\t")
    assert "acting" not in printed
    assert "loading" not in printed
    assert {"loading", "acting"} <= set(error.splitlines())


def sampling(observations: np.ndarray) -> np.ndarray:
    return np.random.default_rng().integers(0, 2, len(observations))


def seeded(observations: np.ndarray) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 2, len(observations))


def ranked(observations: np.ndarray) -> np.ndarray:
    return (observations[:, 0] > np.sort(observations[:, 0])[len(observations) // 3]).astype(int)


LONG = put("episode", *range(60), frame=GOOD[[1, 3] * 30]).with_columns(step=0, obs_age=np.linspace(0, 1, 60))


@pytest.mark.parametrize("policy", [sampling, seeded, ranked])
def test_a_policy_that_answers_differently_is_named(policy: Any) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(LONG, {"mine": policy}, estimators=["wis"])
    says(str(caught.value), "mine", policy.__name__, "asked again", "probabilities")


def nearly(observations: np.ndarray) -> np.ndarray:
    """As single precision answers in batches of different sizes."""
    odds = np.full(len(observations), 0.5) + 1e-6 * (len(observations) % 3)
    return np.stack([odds, 1 - odds], axis=1)


@pytest.mark.parametrize("policy", [zeros, nearly])
def test_rounding_is_no_difference(policy: Any) -> None:
    evaluate(LONG, policy, estimators=["wis"], details=False)


@pytest.mark.parametrize("text", ["1 / 0", "sys.exit(3)", "self"])
@pytest.mark.parametrize("place", ["in a call", "on load"])
def test_an_exception_whose_text_raises(program: Program, text: str, place: str) -> None:
    fault = f"import sys\nclass Odd(Exception):\n    def __str__(self):\n        return {text}\n"
    body = "def act(x):\n    raise Odd()\n" if place == "in a call" else "raise Odd()\n"
    path = program.write("policy.py", fault + body)
    says(program.refuses(program.store(GOOD), policy=f"{path}:act"), "policy.py", "Odd")


def test_nothing_is_left_in_the_folder_of_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python would keep what it compiled there."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "beside.py").write_text("LIMIT = 1\n")
    (tmp_path / "rule.py").write_text("import beside\n\ndef act(states):\n    return states[:, 0] > beside.LIMIT\n")
    as_policy(f"{tmp_path}/rule.py:act")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.py", "rule.py"]
    assert not sys.dont_write_bytecode
