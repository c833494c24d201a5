"""Logs larger than memory that do not say how probable their actions were: learned from a sample, asked about all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.core import Thresholds, stream
from repbm.critics import CriticSpec, Marginal, fit_critic
from repbm.data import Trajectories
from repbm.domains.worlds import DEVELOPMENT
from repbm.engines import Processes, Ray
from repbm.estimators import ESTIMATORS, Case, Corrected, FoldCritic
from repbm.evaluation import Evaluation, Reading
from repbm.inference import standard_error
from repbm.logs import Drawn, draw_log, log_frame, read_log
from repbm.policies import CallablePolicy, learn_behavior
from tests.test_large_logs import _FORMS, _SIZES, _policy, _table

_NAMES = [spec.name for spec in _FORMS]


def _target() -> CallablePolicy:
    return CallablePolicy(_policy, actions=(0, 1))


def _evaluated(log: Any, estimators: list[str] = _NAMES, engine: Any = None, **memory: int) -> Evaluation:
    return evaluate(
        log if isinstance(log, pl.DataFrame) else str(log),
        _target(),
        estimators=estimators,
        reading=Reading(memory=1.5e6),
        thresholds=Thresholds.of({"memory": {"program": 0, "step": 1000, "value": 0} | memory}),
        details=False,
        engine=engine,
    )


_EACH = ("together", "named", "shuffled", "rows")


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.slow) for kind in _EACH[:2]] + list(_EACH[2:]))
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, pl.DataFrame]:
    """Episodes in order, rows in any order, episodes that are named by words, and episodes of one row."""
    table = _table(probability=False)
    if request.param == "shuffled":
        table = table.sample(fraction=1, shuffle=True, seed=1)
    if request.param == "named":
        table = table.with_columns(episode=pl.format("no. {}", pl.col("episode")))
    if request.param == "rows":
        table = table.drop("episode", "step", "terminated")
    table.write_parquet(tmp_path / "log.parquet", row_group_size=300)
    return tmp_path / "log.parquet", table


def _folds(drawn: Drawn, folds: np.ndarray, data: Trajectories) -> np.ndarray:
    """The fold of every episode, given those of the sample: others take turns in the order of parts."""
    assert drawn.names is not None
    assert drawn.scan is not None
    found, first = {}, 0
    for piece in drawn.scan.pieces():
        part = drawn.read(drawn.scan.read_piece(piece))
        names = piece.row_numbers if drawn.scan.layout.episode is None else part.labels_of()
        assert (piece.before, piece.episodes) == (first, len(part))
        found |= {name: (first + k) % 5 for k, name in enumerate(names.tolist())}
        first += len(part)
    found |= dict(zip(drawn.names.tolist(), folds.tolist(), strict=True))
    return np.array([found[name] for name in data.labels_of().tolist()])


def _judged(path: Path, table: pl.DataFrame) -> Trajectories:
    """The whole log with the probabilities that each episode should have."""
    drawn, data = draw_log(path, 1.5e6, 0, _SIZES), read_log(table)
    learned = learn_behavior(drawn.data)
    assert drawn.names is not None
    assert 0 < len(drawn.names) < 0.7 * len(data)
    own = _folds(drawn, learned.folds, data)
    inside = np.isin(data.labels_of(), drawn.names)
    chances = learned.elsewhere(data, own)[np.arange(len(data.rewards)), data.actions.codes]
    known = learned.logged(drawn.data)
    place = {name: k for k, name in enumerate(drawn.names.tolist())}
    order = np.array([place[name] for name in data.labels_of()[inside].tolist()])
    np.testing.assert_array_equal(data.take(inside).rewards, drawn.data.take(order).rewards)
    np.testing.assert_allclose(chances[data.positions(inside)], known[drawn.data.positions(order)], rtol=1e-12)
    return replace(data, behavior=chances)


def test_importance_sampling_rests_on_all_episodes(stored: tuple[Path, pl.DataFrame]) -> None:
    """Those of the sample are judged as they are there, without themselves."""
    found = _evaluated(stored[0])
    whole = Case.of(_judged(*stored), _target())
    for row in found.estimates.to_dicts():
        expected = ESTIMATORS[row["estimator"]].estimator(None)(whole)
        assert row["value"] == pytest.approx(expected.value, rel=1e-9)
        assert (row["episodes"], row["behavior"]) == (len(whole.data), "estimated")
        assert row["note"].startswith(f"from all {len(whole.data)} episodes")
        assert "estimated behavior" in row["note"]
        assert row["effective_episodes"] == pytest.approx(expected.effective_episodes, rel=1e-9)
        assert row["logged_mean"] == pytest.approx(whole.returns.mean(), rel=1e-9)
    np.testing.assert_allclose(found.diagnostics["alive"], whole.data.alive)


def test_the_answer_is_corrected_by_all_episodes(stored: tuple[Path, pl.DataFrame]) -> None:
    """Values and state ratios come from the sample; every episode is judged by a fold that it is not in."""
    (found,) = _evaluated(stored[0], ["corrected"]).estimates.to_dicts()
    drawn, data = draw_log(stored[0], 1.5e6, 0, _SIZES), _judged(*stored)
    learned = learn_behavior(drawn.data)
    sample = replace(drawn.data, behavior=learned.logged(drawn.data))
    case = Case.of(sample, _target(), horizon=data.longest, behavior=learned.probabilities)
    critic = fit_critic(case, CriticSpec(Marginal())).critic
    assert isinstance(critic, FoldCritic)
    whole = Case.of(data, _target(), horizon=data.longest)
    critic = critic.elsewhere(whole, _folds(drawn, critic.folds, data))
    expected = Corrected(critic)(whole)
    assert found["value"] == pytest.approx(expected.value, rel=1e-9)
    assert found["effective_episodes"] == pytest.approx(expected.effective_episodes, rel=1e-9)
    assert found["logged_mean"] == pytest.approx(data.returns().mean(), rel=1e-9)
    assert found["episodes"] == len(data)
    if len(data) == 400:
        # Every episode is a group.
        assert found["std_error"] == pytest.approx(standard_error(expected), rel=1e-9)
    assert f"from all {len(data)} episodes; values are learned from {len(sample)} of" in found["note"]


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["logged", "learned"])
def test_more_episodes_that_correct_leave_less_chance(tmp_path: Path, known: bool) -> None:
    """Of a log of 4,000 episodes about 400 teach, and 400 or all correct: the error is that of so many."""
    world = DEVELOPMENT["noisy-linear"](stream(1, "world"))
    data, _ = world.log(4000, stream(1, "log"))
    log_frame(data if known else replace(data, behavior=None)).write_parquet(tmp_path / "log.parquet")
    policy = world.evaluated()
    rows = []
    for asked in (10_000_000, 1):
        memory = {"program": 0, "step": 1000, "value": 0, "asked_steps": asked}
        found = evaluate(
            str(tmp_path / "log.parquet"),
            policy,
            estimators=["corrected"],
            discount=world.discount,
            horizon=world.horizon,
            reading=Reading(memory=1e3 * len(data.rewards) / 10),
            thresholds=Thresholds.of({"memory": memory}),
            details=False,
        )
        rows += found.estimates.to_dicts()
    whole, sample = rows
    assert (whole["episodes"], round(sample["episodes"], -1)) == (4000, 400)
    generator = stream(1, "truth")
    returns = world.returns(world.initial(20_000, generator), generator)
    truth, noise = returns.mean(), returns.std() / np.sqrt(len(returns))
    # The error of what is fitted does not shrink; 4.5 standard errors: a false alarm in 150,000.
    assert 0.25 < whole["std_error"] / sample["std_error"] < 0.75
    for row in rows:
        assert abs(row["value"] - truth) < 4.5 * np.hypot(row["std_error"], noise)


@pytest.mark.parametrize("kind", [pytest.param("together", marks=pytest.mark.slow), "shuffled"])
def test_of_a_very_large_log_evenly_spread_episodes_are_asked(tmp_path: Path, kind: str) -> None:
    table = _table(probability=False)
    table = table if kind == "together" else table.sample(fraction=1, shuffle=True, seed=1)
    table.write_parquet(tmp_path / "log.parquet", row_group_size=300)
    found = _evaluated(tmp_path / "log.parquet", asked_steps=2000)
    rows = found.estimates.to_dicts()
    count = rows[0]["episodes"]
    assert 270 < count < 300
    assert rows[0]["note"].startswith(f"from {count} of 400 episodes, evenly spread")
    # The mean length of as many episodes at random would be off by 0.1 or more two times of three.
    assert found.diagnostics["alive"].sum() / count == pytest.approx(len(table) / 400, abs=0.05)
    few = _evaluated(tmp_path / "log.parquet", asked_steps=1000)
    assert all("a sample stratified" in note for note in few.estimates["note"])


def test_an_action_that_the_sample_lacks_leaves_rows_to_the_sample(tmp_path: Path) -> None:
    table, path = _table(probability=False), tmp_path / "log.parquet"
    table.write_parquet(path)
    inside = draw_log(path, 1.5e6, 0, _SIZES).data.labels_of()
    outside = next(k for k in range(400) if k not in set(inside.tolist()))
    here = (pl.col("episode") == outside) & (pl.col("step") == 0)
    table.with_columns(action=pl.when(here).then(7).otherwise("action")).write_parquet(path)
    found = _evaluated(path)
    assert all("a sample stratified" in note for note in found.estimates["note"])


@pytest.mark.parametrize("engine", ["processes", pytest.param("ray", marks=pytest.mark.slow)], ids=["processes", "ray"])
@pytest.mark.parametrize(
    "probability", [pytest.param(True, marks=pytest.mark.slow, id="logged"), pytest.param(False, id="learned")]
)
def test_all_engines_sum_alike(tmp_path: Path, probability: bool, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit: parts are tasks, and are added in their order."""
    if engine == "ray":
        pytest.importorskip("ray")
    names = [*_NAMES, "corrected"]
    monkeypatch.setattr("repbm.logs._scan.PART_STEPS", 700)
    table = _table(probability=probability).sample(fraction=1, shuffle=True, seed=1)
    table.write_parquet(tmp_path / "log.parquet", row_group_size=300)
    here = _evaluated(tmp_path / "log.parquet", names)
    with Processes(2) if engine == "processes" else Ray(2) as several:
        there = _evaluated(tmp_path / "log.parquet", names, engine=several)
    assert here.estimates["episodes"].to_list() == [400] * len(names)
    assert there.estimates.equals(here.estimates)
    assert there.diagnostics.equals(here.diagnostics)
