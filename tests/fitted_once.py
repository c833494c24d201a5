"""Trees that are fitted to the same numbers again, in another test of the process, are those of the first time.

Many tests evaluate the same small logs, and trees take a third of all their time. A fit with a fixed seed says the same
every time: only such are kept, and for this process alone. Programs and processes that tests start fit for themselves.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

MOST = 4000
"""So many fits are kept; those that were not asked for the longest go first."""
SMALL = 1_000_000
"""Fits to more numbers are not kept."""

_fitted: OrderedDict[bytes, dict[str, Any]] = OrderedDict()


def once(fit: Callable[..., Any]) -> Callable[..., Any]:
    """In place of `fit(x, y)` of a class of scikit-learn."""

    @functools.wraps(fit)
    def call(self: Any, x: Any, y: Any, *more: Any, **named: Any) -> Any:
        key = None if more or named else _key(self, x, y)
        if key is None:
            return fit(self, x, y, *more, **named)
        if key in _fitted:
            _fitted.move_to_end(key)
            vars(self).update(_fitted[key])
            return self
        settings = set(vars(self))
        fit(self, x, y)
        _fitted[key] = {name: value for name, value in vars(self).items() if name not in settings}
        if len(_fitted) > MOST:
            _fitted.popitem(last=False)
        return self

    return call


def _key(model: Any, x: Any, y: Any) -> bytes | None:
    """Of everything that a fit depends on; None where it may say something else the next time."""
    settings = model.get_params(deep=False)
    whole = all(isinstance(each, np.ndarray) and each.dtype != object and each.size <= SMALL for each in (x, y))
    begun = any(name not in settings and name.endswith("_") for name in vars(model))
    if not whole or begun or not isinstance(settings.get("random_state"), int) or settings.get("warm_start"):
        return None
    key = hashlib.blake2b(repr((type(model), sorted(settings.items()))).encode(), digest_size=20)
    for each in (x, y):
        key.update(repr((each.shape, each.dtype, each.flags.f_contiguous)).encode())
        key.update(np.ascontiguousarray(each).data)
    return key.digest()


def install() -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor

    for kind in (HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor):
        kind.fit = once(kind.fit)
