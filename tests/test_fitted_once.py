"""What is kept of a fit is what another fit would say, and nothing is kept that may differ the next time."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor

from tests import fitted_once

KINDS = {
    "classifier": functools.partial(HistGradientBoostingClassifier, max_iter=5),
    "regressor": functools.partial(HistGradientBoostingRegressor, max_iter=5),
    "forest": functools.partial(RandomForestRegressor, 5, oob_score=False),
}


@pytest.fixture
def table() -> tuple[np.ndarray, np.ndarray]:
    """Numbers that no other test fits to."""
    x = np.random.default_rng(7101).normal(size=(60, 2))
    return x, (x[:, 0] > 0.1).astype(int)


def fits(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Models that were really fitted from here on."""
    found: list[Any] = []
    for kind in KINDS.values():
        real = getattr(kind.func.fit, "__wrapped__")  # noqa: B009 - the checker of types

        def fit(self: Any, x: Any, y: Any, *more: Any, real: Any = real, **named: Any) -> Any:
            found.append(self)
            return real(self, x, y, *more, **named)

        monkeypatch.setattr(kind.func, "fit", fitted_once.once(fit))
    return found


@pytest.mark.parametrize("name", KINDS)
def test_it_says_what_a_fit_says(name: str, table, monkeypatch) -> None:
    (x, y), kind, done = table, KINDS[name], fits(monkeypatch)
    first, again, copied = (kind(random_state=0).fit(*pair) for pair in ((x, y), (x, y), (x.copy(), y.copy())))
    assert len(done) == 1
    told = first.predict(x)
    alone = getattr(kind.func.fit, "__wrapped__")(kind(random_state=0), x, y)  # noqa: B009
    for model in (again, copied, alone, pickle.loads(pickle.dumps(again))):
        np.testing.assert_array_equal(model.predict(x), told)
        assert vars(model).keys() == vars(first).keys()


@pytest.mark.parametrize("name", KINDS)
def test_whatever_may_say_something_else_is_fitted(name: str, table, monkeypatch) -> None:
    (x, y), kind, done = table, KINDS[name], fits(monkeypatch)
    kind(random_state=1).fit(x, y)
    others = [
        (kind(random_state=2), x, y),
        (kind(random_state=1, min_samples_leaf=7), x, y),
        (kind(random_state=1), x + 1e-9, y),
        (kind(random_state=1), x, 1 - y),
        (kind(random_state=1), np.asfortranarray(x), y),
        (kind(random_state=None), x, y),
        (kind(random_state=None), x, y),
        (kind(random_state=np.random.RandomState(1)), x, y),
        (kind(random_state=1, warm_start=True), x, y),
    ]
    for model, at, targets in others:
        model.fit(at, targets)
    assert done[1:] == [model for model, _, _ in others]
    weighed = kind(random_state=1)
    weighed.fit(x, y, sample_weight=np.linspace(1, 2, len(y)))
    assert done[-1] is weighed
