"""Columns that are constant, or equal to another: nothing changes with them, and it is said that they are left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.data import Informative
from repbm.evaluation import Evaluation
from repbm.logs import read_log
from repbm.models import load_model
from repbm.policies import CallablePolicy, NetworkPolicy, Softened

_EXTRA = {"site": pl.lit(3.0), "dose_again": pl.col("obs_dose")}
_NOTE = "left out of what is fitted, since they tell nothing: site (always 3), dose_again (the same as dose)"


def _table() -> pl.DataFrame:
    generator = np.random.default_rng(5)
    episodes, steps = 60, 4
    state = generator.normal(size=(episodes, 2))
    rows = []
    for step in range(steps):
        action = (generator.random(episodes) < 0.5).astype(int)
        reward = state[:, 0] - 0.5 * action + generator.normal(size=episodes) * 0.1
        rows.append(
            pl.DataFrame(
                {"episode": np.arange(episodes), "step": step, "obs_age": state[:, 0], "obs_dose": state[:, 1]}
            ).with_columns(action=action, reward=reward, terminated=step == steps - 1)
        )
        state = 0.8 * state + 0.3 * action[:, None] + generator.normal(size=state.shape) * 0.2
    return pl.concat(rows).sort("episode", "step")


def _policy(age: float, dose: float) -> int:
    return int(age + dose > 0)


def _watching(age: float, dose: float, site: float, dose_again: float) -> int:
    """The same, of a policy that looks at the columns that are left out."""
    assert site == 3
    return int(age + dose_again > 0)


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return _table()


@pytest.fixture(scope="module")
def wide(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(**{f"obs_{name}": column for name, column in _EXTRA.items()})


@pytest.fixture(scope="module")
def answers(table: pl.DataFrame, wide: pl.DataFrame) -> list[Evaluation]:
    people = wide.head(3).with_columns(obs_site=4.0)
    return [
        evaluate(log, {"rule": policy}, estimators=["corrected", "am"], individuals=people, details=False)
        for log, policy in ((table, _policy), (wide, _watching))
    ]


def test_no_estimate_changes_and_it_is_said(answers: list[Evaluation]) -> None:
    one, other = answers
    assert one.estimates.equals(other.estimates)
    assert one.individuals.equals(other.individuals)
    assert one.diagnostics.equals(other.diagnostics)
    assert str(one.examination.verdicts) == str(other.examination.verdicts)
    assert _NOTE in other.run["notes"]
    assert any("individuals are not as the log is in site" in note for note in other.run["notes"])
    assert not any("left out" in note for note in one.run["notes"])


def test_tables_have_the_columns_of_the_log(answers: list[Evaluation]) -> None:
    assert {"site", "dose_again"} <= set(answers[1].episodes.columns)
    assert [one["name"] for one in answers[1].run["reading"]["columns"]] == ["age", "dose", "site", "dose_again"]


def test_a_saved_model_is_asked_about_all_columns(
    answers: list[Evaluation], table: pl.DataFrame, wide: pl.DataFrame, tmp_path: Path
) -> None:
    narrow, model = (next(iter(one.models.values())) for one in answers)
    model.save(tmp_path / "model.npz")
    loaded, log, own = load_model(tmp_path / "model.npz"), read_log(wide), read_log(table)
    assert loaded.observation_names == log.observation_names
    policy = CallablePolicy(lambda states: (states[:, 0] + states[:, 1] > 0).astype(int), actions=(0, 1))
    found = loaded.values(policy, log.initial_observations, rollouts=2, seed=1).values
    np.testing.assert_array_equal(found, narrow.values(policy, own.initial_observations, rollouts=2, seed=1).values)
    np.testing.assert_array_equal(loaded.losses(log), narrow.losses(own))
    assert loaded.knows(log.observations).all()


def test_a_network_sees_all_columns_inside_compiled_code(wide: pl.DataFrame) -> None:
    import jax.numpy as jnp

    from repbm.models import compiled, traceable
    from repbm.policies import Widened

    log = read_log(wide)
    columns = Informative.of(log)
    assert columns is not None
    policy = Widened(NetworkPolicy([(np.random.default_rng(0).normal(size=(4, 2)), np.zeros(2))]), columns)
    assert traceable(Softened(policy, 0.1))
    narrow = columns.narrowed(log.observations)
    np.testing.assert_array_equal(columns.widened(narrow), log.observations)
    inside = compiled(policy, (0, 1))(jnp.asarray(narrow, jnp.float32))
    np.testing.assert_allclose(inside, policy.policy.probabilities(log.observations, (0, 1)), atol=1e-5)


def test_columns_that_differ_anywhere_are_kept(wide: pl.DataFrame) -> None:
    for name in ("obs_site", "obs_dose_again"):
        changed = wide.with_columns(pl.when(pl.int_range(pl.len()) == 77).then(9.0).otherwise(name).alias(name))
        found = Informative.of(read_log(changed))
        assert found is not None
        assert name.removeprefix("obs_") not in found.note
    assert Informative.of(read_log(_table())) is None
    alone = read_log(wide.select("episode", "step", "obs_site", "action", "reward", "terminated"))
    assert Informative.of(alone) is None


def test_a_final_state_tells_something(wide: pl.DataFrame) -> None:
    log = read_log(wide)
    final = np.where(np.isnan(log.final_observations), 0.0, log.final_observations)
    final[3, 2] = 5.0
    assert Informative.of(replace(log, final_observations=final)).note.endswith("dose_again (the same as dose)")  # type: ignore[union-attr]
