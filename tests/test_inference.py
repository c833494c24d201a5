"""Bounds and differences by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from repbm.inference import Contender, behavior_sensitivity, paired_difference, pareto_k, probabilities_best, selection


def test_sensitivity_by_hand() -> None:
    assert behavior_sensitivity(0.0, 100) == 0
    assert behavior_sensitivity(0.5, 1) == pytest.approx(1.0)
    assert behavior_sensitivity(0.1, 10) == pytest.approx(0.9**-10 - 1)
    assert behavior_sensitivity(1.0, 3) == math.inf
    assert behavior_sensitivity(0.9, 10_000) == math.inf


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
