"""What depends on the initial state, and how much of it a log may not show."""

from __future__ import annotations

import numpy as np
import pytest

from repbm.core import stream
from repbm.critics._initial_regression import InitialRegression, explained_variance


def test_what_features_explain_is_found() -> None:
    """The mean of 50 logs, without bias but for the cut at 0; 5 standard errors of it: a false alarm in a million."""
    generator = stream(0, "explained")
    found = []
    for _ in range(50):
        x = generator.normal(size=(400, 4))
        found.append(explained_variance(x, x[:, 0] - x[:, 1] + generator.normal(size=400)))
    assert np.mean(found) == pytest.approx(2.0, abs=5 * np.std(found) / np.sqrt(50))


def test_noise_may_hide_something_and_the_less_the_longer_the_log() -> None:
    generator = stream(1, "explained")
    told = {
        n: [explained_variance(generator.normal(size=(n, 30)), generator.normal(size=n)) for _ in range(30)]
        for n in (200, 2000)
    }
    assert min(min(each) for each in told.values()) > 0
    # sqrt(2 p) / n of the variance is the standard error: 20 directions of 200 episodes, 30 of 2,000.
    for n, directions in ((200, 20), (2000, 30)):
        assert np.mean(told[n]) == pytest.approx(0.8 * np.sqrt(2 * directions) / n, rel=0.4)


def test_scale_and_shift_change_nothing_else() -> None:
    generator = stream(2, "explained")
    x, y = generator.normal(size=(100, 3)), generator.normal(size=100)
    first = explained_variance(x, y)
    assert explained_variance(5 * x + 2, 10 * y - 7) == pytest.approx(100 * first)
    assert explained_variance(x, np.ones(100)) == 0


def test_where_all_start_alike_nothing_is_explained() -> None:
    y = stream(3, "explained").normal(size=50)
    found = InitialRegression.of(lambda states: states, np.ones((50, 2)), y, 2.0)
    assert found.explained == 0
    assert not found.taken
    np.testing.assert_allclose(found(np.zeros((3, 2))), y.mean())
