"""Outcomes with a name, a unit and a direction; 0/1 outcomes as percentages, with the number needed to treat."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm.core import InputError
from repbm.evaluation import Effect, Evaluation, Outcome, Scale, evaluate, repeat
from repbm.logs import less_is_better, propose
from repbm.report import Shown, plain_answers, report
from tests.pages import run


def treated(count: int = 300, low: float = 0.0, high: float = 1.0) -> pl.DataFrame:
    """Drug helps the sick: nine in ten have the better outcome with it, three in ten without."""
    generator = np.random.default_rng(8)
    sick = generator.integers(0, 2, count)
    drug = generator.random(count) < 0.5
    well = generator.random(count) < np.where(drug | (sick == 0), 0.9, 0.3)
    return pl.DataFrame(
        {
            "episode": np.arange(count),
            "obs_sick": sick,
            "action": np.where(drug, "drug", "none"),
            "reward": np.where(well, high, low),
            "terminated": True,
            "behavior_prob": 0.5,
        }
    )


POLICIES = {"drug": lambda x: np.full(len(x), "drug"), "none": lambda x: np.full(len(x), "none")}


@pytest.fixture(scope="module")
def survival() -> Evaluation:
    return evaluate(treated(), POLICIES, estimators=["corrected", "am"], outcome=Outcome("survival"), details=False)


def answer(found: Evaluation, policy: str) -> dict:
    return found.estimates.filter(pl.col("headline"), pl.col("policy") == policy).row(0, named=True)


def test_shares_are_percentages_and_their_difference_is_in_points(survival: Evaluation) -> None:
    assert survival.scale == Scale(0.0, 1.0, binary=True)
    shown = Shown.of(survival)
    assert shown.title == "survival"
    assert (shown.value(0.777), shown.difference(-0.05), shown.differences(-0.1, 0.02)) == (
        "77.7%",
        "-5.0 points",
        "-10.0 to +2.0 points",
    )


def test_a_notebook_shows_percentages_and_units_too(survival: Evaluation) -> None:
    shown, row = survival._repr_html_(), answer(survival, "drug")
    assert f"drug: survival {100 * row['value']:.1f}%" in shown
    assert f"{100 * row['difference']:+.1f} points (" in shown
    days = evaluate(
        treated(high=9.0), {"drug": POLICIES["drug"]}, estimators=["wis"], outcome=Outcome("stay", "days <b>")
    )
    assert re.search(r"drug: stay \d\.\d+ days &lt;b&gt;", days._repr_html_())


def test_that_more_deaths_count_as_better_is_said(tmp_path: Path) -> None:
    treated().rename({"reward": "died"}).write_csv(tmp_path / "log.csv")
    words = ["repbm", "evaluate", str(tmp_path / "log.csv"), "--policy", "column:action", "--estimator", "wis"]
    words += ["--column", "reward=died"]
    said = "note: more of died counts as better (otherwise: --better less)"
    assert said in run(words)[1]
    assert said not in run([*words, "--better", "less"])[1]


@pytest.mark.parametrize("name", ["death_free_days", "cost savings", "mortality_reduction", "relapse.free_survival"])
def test_what_is_free_of_deaths_is_better_more_often(name: str, tmp_path: Path) -> None:
    assert not less_is_better(name)
    treated().rename({"reward": name}).write_csv(tmp_path / "log.csv")
    assert not propose(tmp_path / "log.csv", {"reward": name}).less
    assert all(map(less_is_better, ("died", "mortality_28d", "length_of_stay", "total_cost")))


def test_no_difference_has_no_sign() -> None:
    shown = Shown(binary=True)
    assert (shown.difference(-0.0002), shown.differences(-0.0002, 0.1)) == ("0.0 points", "0.0 to +10.0 points")


def test_a_single_outcome_of_two_is_one_of_them(page: str) -> None:
    """Nobody survives by 7 to 100 %: the page says what can be expected, and no interval of a single outcome."""
    assert "outcome from" not in page
    assert all(words in page for words in ("<em>now</em>", "similar so treated"))
    assert all(cell == round(cell, 1) for cell in told(page)["cells"][3])


def test_differences_of_percentages_are_points_in_charts_too(page: str) -> None:
    assert "(percentage points)" in page[page.index("If something hidden") :]


def test_of_one_step_a_sentence_says_who_follows_the_policy(page: str) -> None:
    """A chart of one step is two dots. What could not be looked at has no tick: that is no good sign."""
    own = page[page.index("<h3>How far the log follows") : page.index("<h3>If something hidden")]
    assert "<svg" not in own
    assert re.search(r"In \d\d% of the logged decisions the policy would have done what was done", own)
    assert "– every episode has one step: nothing comes before a state" in own
    assert "– the log cannot show whether a hidden cause drove decisions" in own
    assert "✓ the log shows every action of the policy" in own


def test_files_are_told_apart_beside_a_chart() -> None:
    """Cut at the end, all of a folder were called alike."""
    names = [f"policies/candidates/threshold_{k}.py:act" for k in (1, 2)]
    found = evaluate(treated(100), dict.fromkeys(names, POLICIES["drug"]), estimators=["wis"], details=False)
    shown = found.chart("ranking").to_dict()
    drawn = {row["name"] for rows in shown["datasets"].values() for row in rows if "name" in row}
    assert drawn == {f"policies/cand…hold_{k}.py:act" for k in (1, 2)}
    alike = [f"policies/candidates/{k}/threshold.py:act" for k in (1, 2)]
    found = evaluate(treated(100), dict.fromkeys(alike, POLICIES["drug"]), estimators=["wis"], details=False)
    shown = found.chart("ranking").to_dict()
    assert {row["name"] for rows in shown["datasets"].values() for row in rows if "name" in row} == set(alike)


def test_what_several_methods_have_to_say_is_said_once(page: str) -> None:
    """It made rows of a page each on a telephone."""
    table = page[page.index('class="plain stack methods"') :]
    rows, below = table[: table.index("</table>")], table[table.index("</table>") :]
    assert rows.count("estimated behavior") == 0
    assert "To be noted of corrected, is, wis, wpdis" in below
    assert below.count("estimated behavior") == 1
    assert '<code class="keep">corrected</code>' in rows


def told(page: str) -> dict:
    start = page.index('id="content">') + len('id="content">')
    return json.loads(page[start : page.index("</script>", start)])["tables"][0]


@pytest.fixture(scope="module")
def page() -> str:
    """Of a log that does not say how probable its actions were."""
    log = treated().drop("behavior_prob")
    rule = {"drug": lambda x: np.full(len(x), "drug")}
    return report(
        evaluate(log, rule, estimators=["corrected", "is", "wis", "wpdis"], outcome=Outcome("survival"))
    ).html()


def test_checks_speak_in_percentages_of_shares(survival: Evaluation) -> None:
    said = {check.name: check.sentence for check in survival.examination.verdicts["drug"].checks or ()}
    now = answer(survival, "drug")["logged_mean"]
    assert said["back-test"].endswith(f"the log says {100 * now:.1f}%")
    assert said["range"].endswith("(0.0% to 100.0%)")


def test_the_number_needed_to_treat_is_one_over_the_difference(survival: Evaluation) -> None:
    row = answer(survival, "drug")
    found = Effect.of(row)
    assert found is not None
    assert found.relative == pytest.approx(row["value"] / row["logged_mean"] - 1)
    assert found.needed == pytest.approx(1 / row["difference"])
    assert found.needed_low == pytest.approx(1 / row["difference_high"])
    assert found.needed_high == pytest.approx(1 / row["difference_low"])
    assert "for one benefit" in Shown.of(survival).effect(found)
    harm = Effect.of(answer(survival, "none"))
    assert harm is not None
    assert harm.needed is not None
    assert harm.needed_low < harm.needed < harm.needed_high  # type: ignore[operator]
    assert "for one harm" in Shown.of(survival).effect(harm)
    unsure = Effect.of({**row, "difference_low": -0.01})
    assert unsure is not None
    assert unsure.needed is None
    assert "not known" in Shown.of(survival).effect(unsure)


def test_where_less_is_better_the_least_is_best(survival: Evaluation) -> None:
    deaths = evaluate(
        treated(low=1.0, high=0.0),
        POLICIES,
        estimators=["corrected"],
        outcome=Outcome("deaths", better="less"),
        details=False,
    )
    assert survival.ranking["policy"].to_list() == deaths.ranking["policy"].to_list() == ["drug", "none"]
    assert deaths.ranking["value"][0] < deaths.ranking["value"][1]
    np.testing.assert_allclose(deaths.ranking["probability_best"], survival.ranking["probability_best"])
    found = Effect.of(answer(deaths, "drug"))
    assert found is not None
    assert "for one benefit" in Shown.of(deaths).effect(found)


def test_nothing_lies_beyond_what_is_possible() -> None:
    """All who got the drug lived: the value is at its limit, and so are its difference and all intervals."""
    log = treated(60).with_columns(reward=(pl.col("action") == "drug").cast(pl.Float64))
    found = evaluate(log, POLICIES["drug"], estimators=["corrected"], details=False)
    row = found.estimates.row(0, named=True)
    assert row["difference"] == pytest.approx(row["value"] - row["logged_mean"])
    assert row["logged_mean"] + row["difference_high"] <= 1 + 1e-12
    assert row["logged_mean"] + row["difference_low"] >= -1e-12
    each = found.individuals.drop_nulls("difference_low")
    assert each["difference_low"].min() >= -1  # type: ignore[operator]
    assert each["difference_high"].max() <= 1  # type: ignore[operator]
    assert each["low"].min() >= 0  # type: ignore[operator]
    assert each["outcome_high"].max() <= 1  # type: ignore[operator]


def test_other_outcomes_have_a_unit_and_no_percentages() -> None:
    found = evaluate(
        treated(40, high=12.5), POLICIES["drug"], estimators=["wis"], outcome=Outcome("stay", "days"), details=False
    )
    assert not found.scale.binary
    assert Shown.of(found).title == "stay (days)"
    assert plain_answers(found)["policies"][0]["effect"] is None
    still = evaluate(treated(40, high=0.0), POLICIES["drug"], estimators=["wis"], details=False)
    assert not still.scale.binary


def test_the_command_stores_and_repeats_the_outcome(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    treated(60).write_csv("log.csv")
    Path("drug.csv").write_text("sick,action\n*,drug\n")
    words = "repbm evaluate log.csv --policy drug.csv --estimator wis --outcome survival --better more --out result"
    code, shown = run([*words.split()])
    assert code == 0
    assert "survival" in shown
    assert "%" in shown
    stored = Evaluation.load("result")
    assert stored.question.outcome == Outcome("survival")
    assert stored.scale.binary
    assert repeat("result").question.outcome == stored.question.outcome
    code, shown = run([*words.split(), "--better", "higher"])
    assert code == 2
    assert "say more or less" in shown
    with pytest.raises(InputError, match="one line"):
        Outcome("two\nlines")


def test_a_policy_that_is_not_supported_does_not_compete() -> None:
    never = {"surgery": lambda x: np.where(x[:, 0] > 0, "surgery", "drug")}
    found = evaluate(treated(100), {**never, **POLICIES}, estimators=["wis"], details=False)
    assert found.ranking["policy"].to_list() == ["drug", "none", "surgery"]
    assert found.ranking["probability_best"][2] is None
    assert found.ranking["probability_best"][:2].sum() == pytest.approx(1)
    assert found.ranking["to_best"][0] == 0
    alone = evaluate(treated(100), never, estimators=["wis"], details=False)
    assert alone.ranking["policy"].to_list() == ["surgery"]
