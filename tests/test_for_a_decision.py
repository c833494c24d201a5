"""What the report says for a decision: who is in the log, where policy and practice differ, similar individuals, a
sentence to quote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm.core import SupportRules, Thresholds, number
from repbm.doctor import Check, Verdict
from repbm.estimators import Case
from repbm.evaluation import Cohort, PracticeRegion
from repbm.evaluation._cohort import cohort
from repbm.evaluation._practice import practice_regions
from repbm.evaluation._similar import compared
from repbm.logs import read_log
from repbm.policies.adapters import as_policy
from repbm.report._cohort import cohort_table
from repbm.report._quote import consistent, quote
from repbm.report._scale import Shown
from repbm.report._tables import disagreement, noted
from repbm.report._words import Words


def ward() -> pl.DataFrame:
    """200 patients of one step: every other young one gets a drug, nobody above 60; lactate is missing for a tenth."""
    count = 200
    generator = np.random.default_rng(2)
    age = np.repeat([40.0, 70.0], count // 2) + generator.integers(-5, 5, count)
    drug = (age < 60) & (np.arange(count) % 2 == 0)
    lactate = [None if k // 2 % 10 == 0 else 2.0 + generator.random() for k in range(count)]
    return pl.DataFrame(
        {
            "episode": [f"P{k:03d}" for k in range(count)],
            "obs_age": age,
            "obs_lactate": lactate,
            "obs_sex": np.where(np.arange(count) // 2 % 4 == 0, "M", "F"),
            "action": np.where(drug, "drug", "wait"),
            "reward": np.where(drug, 1.0, 0.0),
            "terminated": True,
        }
    )


@pytest.fixture(scope="module")
def case() -> Case:
    data = read_log(ward())
    return Case.of(data, as_policy(lambda row: "drug"))


def test_the_cohort_is_counted(case: Case) -> None:
    found = cohort(case)
    everybody, *arms = found.arms
    assert everybody.individuals == 200
    assert {arm.name: arm.individuals for arm in arms} == {"wait": 150, "drug": 50}
    assert {arm.name: arm.mean_return for arm in arms} == {"wait": 0.0, "drug": 1.0}
    age = next(row for row in found.rows if row.name == "age")
    np.testing.assert_allclose(age.cells[0], np.quantile(ward()["obs_age"].to_numpy(), [0.25, 0.5, 0.75]))
    lactate = next(row for row in found.rows if row.name == "lactate")
    assert lactate.missing[0] == 20
    known = ward()["obs_lactate"].drop_nulls().to_numpy()
    np.testing.assert_allclose(lactate.cells[0], np.quantile(known, [0.25, 0.5, 0.75]))
    sexes = {row.level: row.cells[0][0] for row in found.rows if row.name == "sex"}
    assert sexes == {"M": 50, "F": 150}
    assert Cohort.stored(found.to_dict()) == found


def test_the_cohort_is_a_table(case: Case) -> None:
    table = cohort_table(cohort(case), Shown("recovery", binary=True), Words.read())
    cells = {row["name"]: row["cells"] for row in table["rows"]}
    assert cells["individuals"] == ["200", "150", "50"]
    assert cells["lactate, missing"][0] == "20 (10%)"
    assert cells["sex: M"][0] == "50 (25%)"
    assert cells["recovery"] == ["25.0%", "0.0%", "100.0%"]


def test_where_nobody_does_what_the_policy_does_is_said_with_counts(case: Case) -> None:
    old, young = practice_regions(case)
    (condition,) = old.conditions
    assert condition.startswith("age > ")
    assert (old.decisions, old.individuals, old.differing) == (100, 100, 1.0)
    assert old.actions == (("drug", 1.0, 0), ("wait", 0.0, 100))
    assert young.differing == 0.5
    assert young.actions == (("drug", 1.0, 50), ("wait", 0.0, 50))
    stored = {**vars(old), "actions": [list(action) for action in old.actions]}
    assert PracticeRegion.stored(stored) == old


def test_similar_individuals_are_others_who_began_alike(case: Case) -> None:
    thresholds = Thresholds.of({"individuals": {"neighbors": 10}})
    states, everybody = case.data.initial_observations, np.arange(200)
    found = compared(case, states, everybody, thresholds, logged=True)
    assert found is not None
    assert set(found["recommended"]) == {"drug"}
    assert found["given"].to_list() == ward()["action"].to_list()
    assert set(found["similar"]) == {10}
    scaled = states / states.std(axis=0)
    apart = np.linalg.norm(scaled[:, None] - scaled[None], axis=2) + np.diag(np.full(200, np.inf))
    near = np.argsort(apart, axis=1)[:, :10]
    drug = (ward()["action"] == "drug").to_numpy()
    assert found["similar_recommended"].to_list() == drug[near].sum(axis=1).tolist()
    assert found.filter(pl.col("similar_recommended") == 0)["similar_return"].is_null().all()
    some = found.filter(pl.col("similar_recommended") > 0)
    assert set(some["similar_return"]) == {1.0}
    named = [names.split(", ") for names in found["nearest"]]
    assert all(f"P{k:03d}" not in names for k, names in enumerate(named))
    few = compared(case, states, np.array([3, 5]), thresholds, logged=True)
    assert few is not None
    assert few["recommended"].null_count() == 198
    new = compared(case, states[7:8], np.array([0]), thresholds, logged=False)
    assert new is not None
    assert new["given"].to_list() == [None]
    assert new["nearest"][0].startswith("P007")


def verdict(**given: Any) -> Verdict:
    checks = (Check("actions", given.pop("holds", True), "it may do what the log never shows (surgery)"),)
    return Verdict(3.0, 5, None, None, 0, checks=checks, rules=SupportRules(), **given)


ROW: dict[str, Any] = {
    "policy": "new",
    "role": "corrected",
    "episodes": 1200,
    "value": 0.8,
    "low": 0.75,
    "high": 0.85,
    "level": 0.95,
    "logged_mean": 0.7,
    "difference": 0.1,
    "difference_low": 0.05,
    "difference_high": 0.2,
    "note": "",
}
SURVIVAL = Shown("survival", binary=True)


def test_the_sentence_to_quote_says_what_the_numbers_say() -> None:
    words = Words.read()
    said = quote(ROW, verdict(precision=1.0), SURVIVAL, words)
    assert "1,200 logged episodes" in said
    assert "from 70.0% to 80.0% (95% interval 75.0% to 85.0%): +10.0 percentage points (+5.0 to +20.0 points)" in said
    assert said.endswith("One more benefits for every 10 treated so (5.0 to 20).")
    deaths = quote(ROW, verdict(precision=1.0), replace(SURVIVAL, name="death", sign=-1), words)
    assert deaths.endswith("One more is harmed for every 10 treated so (5.0 to 20).")
    chance = quote({**ROW, "difference_low": -0.01}, verdict(precision=1.0), SURVIVAL, words)
    assert chance.endswith("The difference may be chance.")
    days = quote(ROW, verdict(precision=1.0), Shown("stay", "days"), words)
    assert "from 0.7000 days to 0.8000 days" in days
    alone = quote({**ROW, "low": None, "difference_low": None}, verdict(precision=1.0), SURVIVAL, words)
    assert "how far that may be off is not known" in alone
    few = quote(ROW, verdict(precision=1.0, answer_episodes=18.2), SURVIVAL, words)
    assert "Only 18 effective episodes stand behind this: the interval may be far too narrow. One more benefits" in few


def test_what_is_not_supported_is_not_quoted() -> None:
    words = Words.read()
    said = quote(ROW, verdict(holds=False), SURVIVAL, words)
    assert "80.0%" not in said
    assert "do not tell" in said
    assert "surgery" in said
    checks = [Check(name, False, f"{name} do not hold") for name in ("regions", "weights")]
    twice = quote(ROW, replace(verdict(), checks=tuple(checks)), SURVIVAL, words)
    assert twice.endswith("would do to survival: regions do not hold.")
    vague = quote(ROW, verdict(precision=9.0), SURVIVAL, words)
    assert "leave open" in vague
    assert "75.0% to 85.0%" in vague


def test_who_says_otherwise_is_called_by_what_it_does() -> None:
    """Of 0/1 outcomes in percent, as all else on the page; in the table as a number."""
    policy = "p"
    rows = pl.DataFrame(
        [
            {
                "policy": policy,
                "estimator": "corrected",
                "family": "corrected",
                "value": 0.25,
                "disagreeing": "am, own",
            },
            {"policy": policy, "estimator": "am", "family": "am", "value": 0.5, "disagreeing": ""},
            {"policy": policy, "estimator": "own", "family": "own", "value": 0.75, "disagreeing": ""},
        ]
    )
    row = rows.row(0, named=True)
    said = "other methods say otherwise: a model of the world fitted to the log (am) {}, own {}"
    row["note"] = f"first; {said.format(number(0.5), number(0.75))}"
    assert noted(row, rows, Shown(binary=True)) == f"first; {said.format('50.0%', '75.0%')}"
    assert noted(row | {"disagreeing": ""}, rows, Shown(binary=True)) == row["note"]
    assert disagreement(row, rows, Shown(binary=True)) == said.format("50.0%", "75.0%")


def test_a_note_does_not_deny_what_the_page_shows() -> None:
    note = "100% of rollouts leave the range of the log; something else"
    assert consistent(note, verdict(novelty=np.array([0.0, 0.01]))) == "something else"
    assert consistent(note, verdict(novelty=np.array([0.0, 0.9]))) == note
    assert consistent(note, verdict()) == note
