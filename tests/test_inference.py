"""Bounds and differences by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arviz_stats.base.array import array_stats

from repbm.core import middle, resampled_counts, stream
from repbm.inference import Contender, behavior_sensitivity, paired_difference, pareto_k, probabilities_best, selection


def test_sensitivity_by_hand() -> None:
    assert behavior_sensitivity(0.0, 100) == 0
    assert behavior_sensitivity(0.5, 1) == pytest.approx(1.0)
    assert behavior_sensitivity(0.1, 10) == pytest.approx(0.9**-10 - 1)
    assert behavior_sensitivity(1.0, 3) == math.inf
    assert behavior_sensitivity(0.9, 10_000) == math.inf


def test_the_bootstrap_by_hand() -> None:
    counts = resampled_counts(stream(0), 7, 2000)
    assert counts.shape == (2000, 7)
    assert (counts.sum(axis=1) == 7).all()
    # The mean of 2000 counts of variance 6/7: 5 standard errors.
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=5 * np.sqrt(6 / 7 / 2000))
    assert middle(np.arange(101.0), 0.9) == pytest.approx((5, 95))


def test_pareto_k_of_known_tails() -> None:
    """Exact Pareto tails: within 4 standard errors of 20 samples (0.2 each at most)."""
    generator = np.random.default_rng(0)
    for k in (0.3, 0.7, 1.5):
        found = [pareto_k(-k * np.log(generator.random(4000))) for _ in range(20)]
        assert np.mean(found) == pytest.approx(k, abs=4 * 0.2 / np.sqrt(20))
    assert pareto_k(np.zeros(100)) == -math.inf
    assert pareto_k(np.full(100, -np.inf)) == math.inf
    assert pareto_k(np.zeros(3)) == math.inf
    huge = 1000 * generator.normal(size=500)
    assert pareto_k(huge) == pytest.approx(pareto_k(huge + 5000))
    assert pareto_k(huge) > 0.7


def test_pareto_k_of_a_trial_with_fixed_shares() -> None:
    """Few different weights, none large: 0.8 against 0.5 over 6 steps leaves 150 of 1000 effective episodes."""
    ratios = np.where(np.random.default_rng(0).random((1000, 6)) < 0.5, 1.6, 0.4)
    assert pareto_k(np.log(ratios).sum(axis=1)) < 0.5
    assert pareto_k(np.log(ratios)[:, ::-1].cumsum(axis=1)[:, -1]) < 0.5
    longer = np.where(np.random.default_rng(1).random((1000, 20)) < 0.5, 1.6, 0.4)
    assert pareto_k(np.log(longer).sum(axis=1)) > 0.7


@pytest.mark.parametrize("kind", ["light", "bounded", "lognormal", "wide lognormal", "pareto", "heavy pareto", "huge"])
@pytest.mark.parametrize("count", [100, 400, 1000, 2500])
def test_pareto_k_is_that_of_arviz(kind: str, count: int) -> None:
    """arviz-stats takes log ratios with the sign of a log likelihood.

    Logarithms of weights are rounded to 9 digits here, so that ties are found: k agrees to 1e-7. Of 1000 weights the
    tail is one longer (the paper rounds 3 sqrt(n) up, arviz down), which moves k by a hundredth or so. With ties, where
    arviz divides by 0, there is nothing to compare.
    """
    generator = np.random.default_rng(count)
    log_weights = {
        "light": lambda: 0.3 * generator.normal(size=count),
        "bounded": lambda: np.log(generator.random(count)),
        "lognormal": lambda: generator.normal(size=count),
        "wide lognormal": lambda: 2 * generator.normal(size=count),
        "pareto": lambda: 0.5 * generator.exponential(size=count),
        "heavy pareto": lambda: 1.2 * generator.exponential(size=count),
        "huge": lambda: 100 * generator.normal(size=count),
    }[kind]()
    expected = float(array_stats.psislw(-log_weights)[1])
    same_tail = count != 1000
    assert pareto_k(log_weights) == pytest.approx(expected, abs=1e-7 if same_tail else 0.05 * max(1.0, expected))


def test_the_probability_of_being_best_by_hand() -> None:
    one = Contender(2.0, np.array([1.0, 2.0, 3.0, 3.0]))
    two = Contender(1.5, np.array([2.0, 1.0, 3.0, np.nan]))
    assert probabilities_best({"one": one, "two": two}) == {"one": 0.5, "two": 0.5}
    assert probabilities_best({"one": one, "model": Contender(9.0, None)}) is None
    bounds = paired_difference(one, Contender(1.0, one.draws), 0.9) if one.draws is not None else None
    assert bounds is not None
    assert (bounds.low, bounds.high) == (0, 0)
    assert paired_difference(one, Contender(1.0, None), 0.9).low is None


def test_selection_by_hand() -> None:
    truths = np.array([1.0, 2.0, 3.0, 4.0])
    right = selection(truths * 10, truths, 2.5)
    assert right.rank_correlation == pytest.approx(1)
    assert right.regret == (0, 0, 0, 0)
    wrong = selection(np.array([4.0, 3.0, 2.0, 1.0]), truths, 2.5)
    assert wrong.rank_correlation == pytest.approx(-1)
    assert wrong.regret == (3, 2, 1, 0)
    assert (wrong.false_alarms, wrong.misses) == (1, 1)
    same = selection(np.ones(4), truths, 0.5)
    assert math.isnan(same.rank_correlation)
    assert math.isnan(same.false_alarms)
    assert same.misses == 0
