"""Our forest is scikit-learn's, to the bit, also in several threads, and leaves filters of warnings alone."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from repbm.core import in_threads
from repbm.critics._forest import Forest


def test_the_same_numbers_as_scikit_learn_in_any_thread() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(400, 3)), generator.exponential(size=400)
    new = generator.normal(size=(100, 3))
    theirs = ExtraTreesRegressor(20, min_samples_leaf=10, max_features=0.7, random_state=0).fit(x, y).predict(new)
    before = list(warnings.filters)
    for ours in in_threads(lambda _: Forest.grown(x, y, 20, 10, 0.7)(new), range(4)):
        assert np.array_equal(ours, theirs)
    assert warnings.filters == before
