"""Logs that lose sight of episodes: what is done now is worth what they would have earned, too."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.core import stream
from repbm.data import Categorical, Trajectories
from repbm.evaluation import Evaluation
from repbm.policies import CallablePolicy

HORIZON, EPISODES = 6, 120


def log_of(lost: float, last_state: bool = True) -> Trajectories:
    """Every step earns 1 + x + the action, x in 0, 1/2, 1 for good; a step may be the last that is seen."""
    generator = stream(5, "lost")
    lengths = np.minimum(generator.geometric(lost, EPISODES) if lost else HORIZON, HORIZON) + np.zeros(EPISODES, int)
    x = generator.integers(0, 3, EPISODES) / 2
    actions = generator.integers(0, 2, lengths.sum())
    seen = np.repeat(x, lengths)[:, None]
    return Trajectories(
        observations=seen,
        actions=Categorical(actions.astype(np.int32), (0, 1)),
        rewards=1 + seen[:, 0] + actions,
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        terminated=np.zeros(EPISODES, dtype=bool),
        final_observations=x[:, None] if last_state else np.full((EPISODES, 1), np.nan),
        behavior=np.full(len(actions), 0.5),
    )


def asked(log: Trajectories) -> Evaluation:
    """About doing what is done now: nothing would change."""
    same = CallablePolicy(lambda states: np.full((len(states), 2), 0.5), actions=(0, 1), name="same")
    return evaluate(log, same, horizon=HORIZON, details=False)


@pytest.mark.parametrize("last_state", [True, False])
def test_what_is_done_now_counts_what_was_not_seen(last_state: bool) -> None:
    log = log_of(0.3, last_state)
    rows = asked(log).estimates
    row = rows.filter(pl.col("headline")).row(0, named=True)
    whole = HORIZON * (1.5 + log.initial_observations.mean())
    assert log.returns().mean() < 0.6 * whole  # what was seen is far less
    assert row["logged_mean"] == pytest.approx(whole, rel=0.03)
    assert abs(row["difference"]) < 0.02 * whole
    assert row["difference_low"] <= 0 <= row["difference_high"]
    assert "were cut off" in row["note"]
    assert rows["logged_mean"].n_unique() == 1


def test_where_all_is_seen_it_is_the_mean_of_returns() -> None:
    log = log_of(0.0)
    row = asked(log).estimates.filter(pl.col("headline")).row(0, named=True)
    assert row["logged_mean"] == log.returns().mean()
    assert "cut off" not in row["note"]
