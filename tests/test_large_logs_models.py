"""Models of logs larger than memory: a sample chooses their form, all steps fit them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.core import FitRules, Thresholds
from repbm.critics import CRITICS, CriticSpec, PolicyScale, WholeModel, fit_critic
from repbm.engines import Engine, Processes, Ray
from repbm.estimators import Case, DirectMethod
from repbm.evaluation import Evaluation, PolicyEvaluator, Reading
from repbm.logs import draw_log, read_log
from repbm.models import AM, TabularModel, fit_tabular
from repbm.models.transitions._table import TransitionTable
from repbm.policies import CallablePolicy
from tests.test_large_logs import _SIZES, _policy, _table

_RULES = {"program": 0, "step": 1000, "value": 0}
_MODELS = ["am", "repbm", "am-pi"]


def _target(certain: bool = False) -> CallablePolicy:
    return CallablePolicy((lambda x: (x[:, 0] > 0).astype(np.int64)) if certain else _policy, actions=(0, 1))


def _evaluated(log: Any, certain: bool = False, names: list[str] = _MODELS, **options: Any) -> Evaluation:
    memory = _RULES | options.pop("rules", {})
    return evaluate(
        log if isinstance(log, pl.DataFrame) else str(log),
        _target(certain),
        estimators=names,
        reading=Reading(memory=1.5e6),
        thresholds=Thresholds.of({"memory": memory}),
        details=False,
        **options,
    )


def _places(episodes: int = 400) -> pl.DataFrame:
    """States are whole numbers; the largest is in a few episodes."""
    table = _table(episodes)
    rounded = pl.col("obs_x").round().clip(-2, 2)
    far = (pl.col("episode") % 97 == 5) & (pl.col("step") == 1)
    return table.with_columns(obs_x=pl.when(far).then(pl.lit(3.0)).otherwise(rounded)).drop("obs_y")


@pytest.mark.parametrize("certain", [False, True], ids=["drawn", "certain"])
@pytest.mark.parametrize("kind", [pytest.param("together", marks=pytest.mark.slow), "shuffled"])
def test_rows_are_those_of_a_model_fitted_to_the_whole_log(tmp_path: Path, certain: bool, kind: str) -> None:
    table, path = _table(), tmp_path / "log.parquet"
    rows = table if kind == "together" else table.sample(fraction=1, shuffle=True, seed=1)
    rows.write_parquet(path, row_group_size=300)
    found = {row["estimator"]: row for row in _evaluated(path, certain).estimates.to_dicts()}
    drawn, data = draw_log(path, 1.5e6, 0, _SIZES), read_log(table)
    sample, whole = (Case.of(each, _target(certain), horizon=data.longest) for each in (drawn.data, data))
    for name in _MODELS:
        fitted = fit_critic(sample, CriticSpec(CRITICS[name]))
        form = WholeModel.of(fitted, sample, Thresholds())
        assert form is not None
        completed = form.completed(fitted, form.sums(whole), len(data.rewards))
        assert completed is not None
        expected = DirectMethod(completed.critic)(sample)
        assert found[name]["value"] == pytest.approx(expected.value, rel=1e-9)
        assert f"fitted to all {len(table):,} steps, but for ends and noise" in found[name]["note"]
        assert found[name]["value"] != pytest.approx(DirectMethod(fitted.critic)(sample).value, rel=1e-6)


@pytest.mark.parametrize("certain", [False, True], ids=["drawn", "certain"])
def test_the_sample_is_scaled_as_in_a_fit_to_it(certain: bool) -> None:
    case = Case.of(read_log(_table()), _target(certain))
    scale = PolicyScale.of(case, FitRules())
    assert scale is not None
    expected = TransitionTable.of(case.data, case.support, FitRules().trust, weight_limit=1.0).marginal
    np.testing.assert_allclose(scale.marginal(case), expected, rtol=1e-12)
    assert expected.max() > 1.5


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes", "ray"])
def test_all_engines_fit_alike(tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit; and however the log is cut, to rounding."""
    if engine == "ray":
        pytest.importorskip("ray")
    path = tmp_path / "log.parquet"
    _table().write_parquet(path, row_group_size=300)
    once = _evaluated(path)
    monkeypatch.setattr("repbm.logs._scan.PART_STEPS", 700)
    here = _evaluated(path)
    np.testing.assert_allclose(here.estimates["value"], once.estimates["value"], rtol=1e-9)
    several: Engine = Processes(2) if engine == "processes" else Ray(2)
    with several:
        there = _evaluated(path, engine=several)
    assert there.estimates.equals(here.estimates)


def test_tables_count_all_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also states that the sample lacks: the table is that of the whole log."""
    monkeypatch.setattr("repbm.logs._scan.PART_STEPS", 500)
    path, table = tmp_path / "log.parquet", _places()
    table.write_parquet(path, row_group_size=300)
    found = _evaluated(path, names=["am"])
    model = found.models["policy", "am"] if ("policy", "am") in found.models else next(iter(found.models.values()))
    data, sample = read_log(table), draw_log(path, 1.5e6, 0, _SIZES).data
    expected = fit_tabular(data, None, AM, data.longest)
    assert isinstance(model, TabularModel)
    np.testing.assert_array_equal(model.states, expected.states)
    np.testing.assert_array_equal(model.visits, expected.visits)
    np.testing.assert_allclose(model.rewards, expected.rewards, rtol=1e-9)
    np.testing.assert_allclose(model.moves.toarray(), expected.moves.toarray(), rtol=1e-9)
    policy = _target().bind(data.names, None)
    values = expected.values(policy, sample.initial_observations, horizon=data.longest).values  # pyright: ignore[reportArgumentType]
    (row,) = found.estimates.to_dicts()
    assert row["value"] == pytest.approx(values.mean(), rel=1e-9)
    assert f"fitted to all {len(table):,} steps" in row["note"]
    assert "but for" not in row["note"]


@pytest.mark.slow
def test_of_a_very_large_log_some_steps_fit(tmp_path: Path) -> None:
    path, table = tmp_path / "log.parquet", _table()
    table.write_parquet(path, row_group_size=300)
    (row,) = _evaluated(path, names=["am"], rules={"asked_steps": 2000}).estimates.to_dicts()
    told = row["note"].split("fitted to ")[1]
    assert told.endswith(f" of {len(table):,} steps, but for ends and noise: those of the sample")
    assert 1900 < int(told.split(" ")[0].replace(",", "")) < 2100
    (row,) = _evaluated(path, names=["am"], rules={"asked_steps": 1000}).estimates.to_dicts()
    assert "fitted to" not in row["note"]


@pytest.mark.slow
def test_what_no_policy_changes_is_fitted_once(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    _table().write_parquet(path, row_group_size=300)
    evaluator = PolicyEvaluator(
        estimators=["am"], reading=Reading(memory=1.5e6), thresholds=Thresholds.of({"memory": _RULES}), details=False
    ).fit(str(path))
    for certain in (False, True):
        found, alone = evaluator.evaluate(_target(certain)), _evaluated(path, certain, ["am"])
        assert found.estimates.drop("policy").equals(alone.estimates.drop("policy"))


def test_models_of_very_many_terms_are_fitted_to_fewer_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pass of their own; what else is asked of all episodes is asked of all."""
    monkeypatch.setattr("repbm.models.dynamics._whole_polynomials._USUAL_TERMS", 3)
    path, table = tmp_path / "log.parquet", _table()
    table.write_parquet(path, row_group_size=300)
    found = _evaluated(path, names=["am", "wis"], rules={"asked_steps": 4000})
    notes = dict(found.estimates.select("estimator", "note").rows())
    assert "fitted to 2," in notes["am"] or "fitted to 1," in notes["am"]
    assert f" of {len(table):,} steps" in notes["am"]
    assert notes["wis"].startswith("from all 400 episodes")
