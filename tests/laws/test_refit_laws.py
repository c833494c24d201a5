"""Intervals of models by refitting: they cover, and shrink with the log."""

from __future__ import annotations

import numpy as np
import pytest

from repbm import evaluate
from repbm.core import InputError
from repbm.evaluation import Fitting
from repbm.inference import Refits
from tests.laws.worlds import enumerated

KNOWN = enumerated(31, states=4, actions=2, horizon=4)


def estimate(episodes: int, seed: int, refits: int) -> tuple[dict, np.ndarray, np.ndarray]:
    data = KNOWN.world.collect(KNOWN.behavior, episodes, np.random.default_rng(seed))
    found = evaluate(data, KNOWN.policy, estimators=["am"], fitting=Fitting(refits=refits), seed=seed, details=False)
    truth = KNOWN.world.values(KNOWN.policy)[data.initial_observations[:, 0].astype(int)]
    return found.estimates.row(0, named=True), found.individuals.select("low", "high").to_numpy(), truth


def test_interval_is_that_of_the_means_over_refits() -> None:
    """By hand: means 1 and 3 of two resampled logs; t of one degree of freedom at 0.975 is 12.706."""
    refits = Refits(np.array([[1.0, 1.0], [2.0, 4.0]]), np.array([[2, 0], [1, 1]]))
    found = refits.interval(2.0, 0.95)
    assert found.std_error == pytest.approx(np.sqrt(2))
    assert found.high == pytest.approx(2 + 12.706 * np.sqrt(2), rel=1e-4)
    np.testing.assert_allclose(refits.individual_reach(0.95), 12.706 * np.array([0.5, 1.5]) * np.sqrt(2), rtol=1e-4)


def test_models_have_intervals_only_if_refitted() -> None:
    without, *_ = estimate(200, 0, 0)
    assert without["low"] is None
    assert "--refits" in without["note"]
    within, individuals, _ = estimate(200, 0, 10)
    assert within["low"] < within["value"] < within["high"]
    assert np.isfinite(individuals).all()
    again, *_ = estimate(200, 0, 10)
    assert again == within


@pytest.mark.slow
def test_intervals_shrink_with_the_log() -> None:
    small, large = (estimate(episodes, 1, 20)[0] for episodes in (100, 1600))
    assert large["std_error"] < 0.5 * small["std_error"]


def test_too_few_refits() -> None:
    with pytest.raises(InputError, match="2 refits"):
        estimate(50, 0, 2)


@pytest.mark.slow
def test_intervals_of_models_cover() -> None:
    """100 logs of 200 episodes: 95 % intervals cover the mean at least 88 times, and individuals 88 % of the time.

    Intervals that truly cover 95 % fail this with probability below 0.005 (binomial).
    """
    covered, everyone = 0, []
    for seed in range(100):
        row, bounds, truth = estimate(200, seed, 20)
        covered += row["low"] <= KNOWN.truth() <= row["high"]
        everyone.append(np.mean((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])))
    assert covered >= 88
    assert np.mean(everyone) >= 0.88
