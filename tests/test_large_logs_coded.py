"""Logs larger than memory whose observations are words, flags and dates, or missing: coded as the sample is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.core import Thresholds
from repbm.critics import CriticSpec, Marginal, fit_critic
from repbm.engines import Processes
from repbm.estimators import Case, Corrected, FoldCritic
from repbm.evaluation import Evaluation, Reading
from repbm.logs import CodedOtherwise, draw_log, read_log
from repbm.policies import CallablePolicy
from tests.test_large_logs import _FORMS, _SIZES, _table
from tests.test_large_logs_learned import _folds

_NAMES = [spec.name for spec in _FORMS]


def _worded(probability: bool = True) -> pl.DataFrame:
    """With a ward, a flag, a day, and a value that is missing here and there."""
    table = _table(probability=probability)
    generator = np.random.default_rng(4)
    count = len(table)
    ward = pl.when(pl.col("obs_x") > 0.5).then(pl.lit("north")).otherwise(pl.lit("south"))
    ward = pl.when(pl.col("obs_y") > 0.9).then(pl.lit("east")).otherwise(ward)
    return table.with_columns(
        obs_ward=ward,
        obs_urgent=pl.col("obs_x") > 0,
        obs_y=pl.when(pl.Series(generator.random(count) > 0.05)).then("obs_y"),
        obs_seen=pl.Series(np.datetime64("2024-01-01") + generator.integers(0, 90, count)),
    )


def _target() -> CallablePolicy:
    """Looks at the urgent flag and at whether the ward is in the north, wherever these columns stand."""

    def chances(states: np.ndarray) -> np.ndarray:
        share = 1 / (1 + np.exp(-states[:, 0]))
        return np.column_stack([1 - share, share])

    return CallablePolicy(chances, actions=(0, 1))


def _evaluated(log: Any, names: list[str], memory: float | None = 1.5e6, engine: Any = None) -> Evaluation:
    return evaluate(
        log if isinstance(log, pl.DataFrame) else str(log),
        _target(),
        estimators=names,
        reading=Reading(memory=memory),
        thresholds=Thresholds.of({"memory": {"program": 0, "step": 1000, "value": 0}}),
        details=False,
        engine=engine,
    )


@pytest.mark.parametrize("kind", [pytest.param("together", marks=pytest.mark.slow), "shuffled"])
def test_rows_rest_on_all_episodes_as_in_memory(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repbm.logs._scan.PART_STEPS", 700)
    table, path = _worded(), tmp_path / "log.parquet"
    rows = table if kind == "together" else table.sample(fraction=1, shuffle=True, seed=1)
    rows.write_parquet(path, row_group_size=300)
    whole = _evaluated(table, _NAMES)
    found = _evaluated(path, [*_NAMES, "am"])
    numbers = ["value", "logged_mean", "difference", "episodes", "effective_episodes"]
    # Episodes are drawn for intervals by their order.
    numbers += ["low", "high", "std_error"] if kind == "together" else []
    weighed = found.estimates.filter(pl.col("estimator") != "am").sort("estimator").select(numbers)
    np.testing.assert_allclose(weighed.to_numpy(), whole.estimates.sort("estimator").select(numbers).to_numpy(), 1e-9)
    assert found.estimates.filter(pl.col("estimator") == "am")["note"][0].count(f"fitted to all {len(table):,} steps")
    with Processes(2) as several:
        assert _evaluated(path, [*_NAMES, "am"], engine=several).estimates.equals(found.estimates)


def test_the_answer_is_corrected_by_all_episodes(tmp_path: Path) -> None:
    table, path = _worded(), tmp_path / "log.parquet"
    table.write_parquet(path, row_group_size=300)
    (found,) = _evaluated(path, ["corrected"]).estimates.to_dicts()
    drawn = draw_log(path, 1.5e6, 0, _SIZES)
    data = read_log(table, encoding=drawn.data.encoding)
    case = Case.of(drawn.data, _target(), horizon=data.longest)
    critic = fit_critic(case, CriticSpec(Marginal())).critic
    assert isinstance(critic, FoldCritic)
    whole = Case.of(data, _target(), horizon=data.longest)
    expected = Corrected(critic.elsewhere(whole, _folds(drawn, critic.folds, data)))(whole)
    assert found["value"] == pytest.approx(expected.value, rel=1e-9)
    assert found["episodes"] == len(data)
    assert "from all 400 episodes; values are learned from" in found["note"]


def _outside(path: Path) -> int:
    """An episode that is not in the sample."""
    inside = set(draw_log(path, 1.5e6, 0, _SIZES).data.labels_of().tolist())
    return next(k for k in range(400) if k not in inside)


@pytest.mark.parametrize(
    "few", [pytest.param(False, marks=pytest.mark.slow, id="three wards"), pytest.param(True, id="two wards")]
)
def test_a_word_that_the_sample_lacks_is_another(tmp_path: Path, few: bool) -> None:
    """And is named; the others are coded as they are without it."""
    table, path = _worded(), tmp_path / "log.parquet"
    if few:
        table = table.with_columns(obs_ward=pl.col("obs_ward").replace("east", "north"))
    table.write_parquet(path)
    plain = draw_log(path, 1.5e6, 0, _SIZES)
    here = (pl.col("episode") == _outside(path)) & (pl.col("step") == 0)
    odd = table.with_columns(obs_ward=pl.when(here).then(pl.lit("attic")).otherwise("obs_ward"))
    odd.write_parquet(path)
    drawn = draw_log(path, 1.5e6, 0, _SIZES)
    assert drawn.data.encoding is not None
    assert "rare in obs_ward, put into 'ward=other': attic" in drawn.data.encoding.notes
    other = drawn.data.names.index("ward=other")
    assert not drawn.data.observations[:, other].any()
    assert drawn.data.encoding.decoded(drawn.data.observations)["ward"].tolist() == (
        plain.data.encoding.decoded(plain.data.observations)["ward"].tolist()  # pyright: ignore[reportOptionalMemberAccess]
    )
    states = np.concatenate([drawn.coded(rows).observations for rows in drawn.scan.parts()])  # pyright: ignore[reportOptionalMemberAccess]
    (row,) = np.flatnonzero(states[:, other])
    wards = [k for k, name in enumerate(drawn.data.names) if name.startswith("ward=")]
    assert states[row, wards].sum() == 1
    assert (states[:, wards].sum(axis=1) == 1).all()
    found, whole = _evaluated(path, ["wis"]).estimates, _evaluated(odd, ["wis"]).estimates
    assert found["value"][0] == pytest.approx(whole["value"][0], rel=1e-9)


@pytest.mark.parametrize("column", ["obs_x", "obs_ward", "obs_urgent"])
def test_what_the_sample_cannot_code_leaves_rows_to_it(tmp_path: Path, column: str) -> None:
    table, path = _worded(), tmp_path / "log.parquet"
    table.write_parquet(path)
    here = (pl.col("episode") == _outside(path)) & (pl.col("step") == 0)
    odd = table.with_columns(pl.when(~here).then(column).alias(column))
    odd.write_parquet(path)
    drawn = draw_log(path, 1.5e6, 0, _SIZES)
    with pytest.raises(CodedOtherwise, match=f"'{column}' is empty, but never elsewhere"):
        drawn.coded(odd)
    found = _evaluated(path, ["wis", "corrected"])
    assert all("a sample stratified" in note for note in found.estimates["note"])
    why = f"in other rows column '{column}' is empty, but never elsewhere"
    assert [note for note in found.run["notes"] if "rest on the sample" in note] == [
        f"not all episodes could be asked, and rows rest on the sample: {why}"
    ]
    table.write_parquet(path)
    assert not [note for note in _evaluated(path, ["wis"]).run["notes"] if "rest on the sample" in note]


def test_words_that_look_like_numbers_stay_words(tmp_path: Path) -> None:
    """In a part that has nothing but such."""
    table = _worded().with_columns(obs_ward=pl.col("obs_ward").replace("south", "17"))
    path = tmp_path / "log.parquet"
    table.write_parquet(path)
    drawn = draw_log(path, 1.5e6, 0, _SIZES)
    some = drawn.coded(table.with_columns(obs_ward=pl.lit("17")))
    assert some.names == drawn.data.names
    assert (some.observations[:, some.names.index("ward=17")] == 1).all()
