"""Individuals are shown with the table's own columns: a ward by its name, and nothing where a value was missing."""

from __future__ import annotations

import json
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.evaluation import Evaluation
from repbm.report import logged_states, report
from repbm.report._page import Report


def log(count: int = 40) -> pl.DataFrame:
    random = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "episode": [f"P{k:02d}" for k in range(count)],
            "obs_lactate": [None if k % 4 == 0 else 2.0 + k / 10 for k in range(count)],
            "obs_ward": [("icu", "surgery", "medicine")[k % 3] for k in range(count)],
            "obs_sex": ["F" if k % 2 else "M" for k in range(count)],
            "obs_smoker": [k % 5 == 0 for k in range(count)],
            "obs_admitted": [date(2024, 1, 1) + timedelta(k) for k in range(count)],
            "action": random.choice(["drug", "wait"], count),
            "reward": random.integers(0, 2, count),
            "behavior_prob": 0.5,
        }
    )


def drug(row: dict) -> str:
    return "drug"


@pytest.fixture(scope="module")
def told() -> Evaluation:
    return evaluate(log(), drug, estimators=["corrected"])


def test_states_are_those_of_the_table(told: Evaluation) -> None:
    own, states = log(), logged_states(told)
    assert states.columns == ["lactate", "ward", "sex", "smoker", "admitted"]
    for name in ("lactate", "ward", "sex"):
        assert states[name].to_list() == own[f"obs_{name}"].to_list()
    assert states["smoker"].to_list() == [str(one).lower() for one in own["obs_smoker"]]
    assert states["admitted"].to_list() == own["obs_admitted"].cast(pl.String).to_list()


def test_a_stored_evaluation_shows_the_same(told: Evaluation, tmp_path) -> None:
    told.save(tmp_path / "result")
    assert logged_states(Evaluation.load(tmp_path / "result")).equals(logged_states(told))


def test_the_page_shows_no_codes(told: Evaluation) -> None:
    table = content(report(told))
    assert [table["names"][at] for at in table["states"]] == ["lactate", "ward", "sex", "smoker", "admitted"]
    cells = dict(zip(table["names"], table["cells"], strict=True))
    assert cells["lactate"][:3] == [None, 2.1, 2.2]
    assert cells["ward"][:3] == ["icu", "surgery", "medicine"]


def test_differences_of_shares_are_in_points(told: Evaluation) -> None:
    names = content(report(told))["names"]
    assert "value (%)" in names
    assert "difference (points)" in names


def content(page: Report) -> dict:
    held = page.html().partition('id="content">')[2].partition("</script>")[0]
    return json.loads(held)["tables"][0]
