"""A saved model remembers what it was asked: `repbm value` answers the same question, or says that it does not."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm.cli import main
from repbm.logs import log_frame
from repbm.models import load_asked, load_model
from tests.test_critics import table_log

EVALUATE = "evaluate log.parquet --policy p.py:greedy --estimator repbm --discount 0.8 --seed 3 --out result"


def run(monkeypatch, capsys, words: str) -> tuple[str, str]:
    monkeypatch.setattr(sys, "argv", ["repbm", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    told = capsys.readouterr()
    return told.out, told.err


def values(text: str) -> np.ndarray:
    return pl.read_csv(io.StringIO(text))["value"].to_numpy()


@pytest.fixture
def saved(tmp_path: Path, monkeypatch, capsys) -> np.ndarray:
    """The values that an evaluation with a discount found; its model is kept in model.npz."""
    monkeypatch.chdir(tmp_path)
    data = table_log(100)
    log_frame(data).write_parquet("log.parquet")
    Path("p.py").write_text("def greedy(x):\n    return (x[:, 0] > 2).astype(int)\n")
    Path("other.py").write_text("def greedy(x):\n    return (x[:, 0] > 1).astype(int)\n")
    run(monkeypatch, capsys, f"{EVALUATE} --save-model model.npz --quiet")
    (name,) = load_model("model.npz").observation_names
    pl.DataFrame({name: data.initial_observations[:, 0]}).write_csv("people.csv")
    return pl.read_csv("result/individuals.csv")["value"].to_numpy()


ASK = "value model.npz --individuals people.csv --policy p.py:greedy"


def test_a_saved_model_answers_with_its_own_discount(saved: np.ndarray, monkeypatch, capsys) -> None:
    """It used to answer without any."""
    out, err = run(monkeypatch, capsys, ASK)
    np.testing.assert_allclose(values(out), saved, rtol=1e-12)
    assert not err
    _, asked = load_asked("model.npz")
    assert asked is not None
    assert (asked.discount, asked.seed, asked.policy, asked.actions) == (0.8, 3, "p.py:greedy", (0, 1))


def test_values_stay_within_what_rewards_allow(saved: np.ndarray, monkeypatch, capsys) -> None:
    model, asked = load_asked("model.npz")
    assert asked is not None
    assert asked.returns is not None
    low, high = asked.returns
    assert low <= saved.min() <= saved.max() <= high
    middle = float(np.median(saved))
    model.save("model.npz", replace(asked, returns=(low, middle)))
    out, _ = run(monkeypatch, capsys, ASK)
    np.testing.assert_allclose(values(out), np.minimum(saved, middle), rtol=1e-12)
    out, _ = run(monkeypatch, capsys, f"{ASK} --discount 1")  # more can be earned than was asked about
    assert values(out).max() > middle


def test_another_question_is_said(saved: np.ndarray, monkeypatch, capsys) -> None:
    out, err = run(monkeypatch, capsys, f"{ASK} --discount 1 --horizon 2")
    assert "discount 1.0, as given; the model was evaluated with 0.8" in err
    assert "horizon 2, as given; the model was evaluated with" in err
    assert not np.allclose(values(out), saved)
    _, err = run(monkeypatch, capsys, ASK.replace("p.py", "other.py"))
    assert "policy other.py:greedy, as given; the model was evaluated with p.py:greedy" in err


def test_a_model_without_a_question_says_what_is_taken(saved: np.ndarray, monkeypatch, capsys) -> None:
    load_model("model.npz").save("model.npz")
    out, err = run(monkeypatch, capsys, ASK)
    assert "does not say its discount: taken as 1" in err
    assert not np.allclose(values(out), saved)
    out, err = run(monkeypatch, capsys, f"{ASK} --discount 0.8")
    assert not err
    np.testing.assert_allclose(values(out), saved, rtol=1e-12)


def test_a_result_answers_for_other_individuals_with_intervals(saved: np.ndarray, monkeypatch, capsys) -> None:
    """Fitted again to the same log, it says of a logged state what the stored table says of it."""
    run(monkeypatch, capsys, f"{EVALUATE.replace('repbm', 'corrected').replace('result', 'answer')} --quiet")
    out, err = run(monkeypatch, capsys, "value answer --individuals people.csv")
    assert not err
    told, stored = pl.read_csv(io.StringIO(out)), pl.read_csv("answer/individuals.csv")
    assert told["policy"].unique().to_list() == ["p.py:greedy"]
    bounds = ["value", "low", "high", "outcome_low", "outcome_high", "difference_low", "difference_high"]
    np.testing.assert_allclose(told[bounds].to_numpy(), stored[bounds].to_numpy(), rtol=1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("value model.npz --individuals people.csv", "a model needs a policy to follow; give --policy"),
        ("value result --individuals people.csv --discount 0.9", "--discount is for models: a result keeps its own"),
        ("value result --individuals people.csv --policy other", "there is no policy 'other'"),
    ],
)
def test_what_cannot_be_asked_of_either_is_said(
    saved: np.ndarray, monkeypatch, capsys, words: str, message: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["repbm", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
