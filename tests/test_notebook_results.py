"""Results at hand: short texts, HTML for notebooks, charts, and names of individuals as the log has them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from repbm.core import InputError
from repbm.doctor import Backtest
from repbm.evaluation import Evaluation, evaluate
from repbm.logs import read_log
from repbm.policies import learn_behavior
from repbm.report import report
from tests.test_report import always, careful, patients

LOG = patients(40, 2).with_columns(episode=pl.col("episode").str.slice(1).cast(pl.Int64) + 100)


@pytest.fixture(scope="module")
def one() -> Evaluation:
    return evaluate(LOG, {"<b>careful</b>": careful}, estimators=["corrected", "wis"])


def test_texts_are_short(one: Evaluation) -> None:
    data = read_log(LOG)
    assert repr(data) == "Trajectories(40 episodes, 80 steps, 2 actions, 2 observations, probabilities known)"
    assert repr(data.actions) == "Categorical(80 of 'saline', 'wait')"
    assert repr(one).startswith("Evaluation(40 episodes: <b>careful</b> -")
    assert one.examination.verdicts["<b>careful</b>"].word in repr(one)
    told = (one.examination, *one.policies.values(), *one.examination.verdicts.values(), learn_behavior(data))
    test = Backtest({1: 0.5}, np.arange(3.0), np.arange(3.0) + 1)
    assert max(len(repr(each)) for each in (one, *told, test)) < 300


def test_a_notebook_shows_answer_interval_verdict_and_picture(one: Evaluation) -> None:
    page = one._repr_html_()
    row = one.estimates.row(0, named=True)
    assert "&lt;b&gt;careful" in page
    assert "<b>" not in page
    assert "95% interval" in page
    assert f"{row['value']:.3f}"[:5] in page
    assert one.examination.verdicts["<b>careful</b>"].word in page
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_what_is_wrong_with_the_log_is_seen_before_the_answer() -> None:
    """No verdict knows that a column is the reward: Python, a notebook and a report tell it all the same."""
    found = evaluate(LOG.with_columns(obs_score=pl.col("reward")), {"careful": careful}, estimators=["corrected"])
    assert [finding.check for finding in found.findings if finding.severity == "warning"] == ["leaking column"]
    assert "look at findings: leaking column" in repr(found)
    warning = "Warning: score: is the reward of the same step"
    for page in (found._repr_html_(), report(found).html()):
        assert -1 < page.index(warning) < page.index(f"{found.estimates['value'][0]:.3f}"[:5])
    fine = evaluate(LOG, {"careful": careful}, estimators=["corrected"])
    assert "findings" not in repr(fine)
    assert "Look at the log first" not in report(fine).html()


def test_charts_by_name(one: Evaluation) -> None:
    drawn = one.chart("individuals").to_dict()
    assert "layer" in drawn
    assert drawn != one.chart("estimates", "<b>careful</b>").to_dict()
    with pytest.raises(InputError, match="did you mean 'individuals'"):
        one.chart("individual")
    with pytest.raises(InputError, match="there is no policy 'other'"):
        one.chart("individuals", "other")


def test_several_policies() -> None:
    both = evaluate(LOG, {"a": careful, "b": always}, estimators=["wis"], details=False)
    assert both._repr_html_().count("<svg") == 3
    with pytest.raises(InputError, match="say which: a, b"):
        both.chart("estimates")
    assert both.chart("ranking").to_dict()


def test_whole_numbers_stay_numbers(one: Evaluation, tmp_path) -> None:
    one.save(tmp_path / "kept")
    again = Evaluation.load(tmp_path / "kept")
    for found in (one, again):
        assert found.individuals["episode"].dtype == found.episodes["episode"].dtype == pl.Int64
        assert found.individuals["episode"][0] == 100
    assert (tmp_path / "kept" / "report.html").read_text().startswith("<!doctype html>")
    assert one.individuals.to_pandas()["episode"].tolist() == again.individuals["episode"].to_list()
    text = evaluate(LOG.with_columns(pl.format("0{}", "episode").alias("episode")), careful, estimators=["wis"])
    assert text.episodes["episode"][0] == "0100"
    assert text.episodes["episode"].dtype == pl.String


def test_new_individuals_with_other_names() -> None:
    people = pl.DataFrame({"individual": ["x", "y"], "obs_age": [30.0, 80.0], "obs_sodium": [130.0, 130.0]})
    found = evaluate(LOG, careful, estimators=["corrected"], individuals=people, details=False)
    assert found.individuals["episode"].dtype == pl.String
    assert set(found.individuals["episode"]) >= {"100", "x", "y"}
