"""How probable actions were at logged steps, as far as everything that the log shows before them tells."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float

from repbm.core import PositivityRules
from repbm.data import Trajectories, spread_episodes

_KNOWN: WeakKeyDictionary[Trajectories, dict[Hashable, dict[int, Float[np.ndarray, " steps"]]]] = WeakKeyDictionary()
"""What was told of a log last, as long as the log is there: a changed threshold asks about the same actions again."""
_MOST_KEPT = 4_000_000
"""Rates that are kept, at most."""


def logged_rates(
    data: Trajectories, columns: Float[np.ndarray, "steps columns"], actions: Sequence[int], rules: PositivityRules
) -> dict[int, Float[np.ndarray, " steps"]]:
    """The rate of each of these actions at every step, told by boosted trees of the other folds of the episodes.

    Regions that are found where these say little are not cut out of what was rare by chance, and are found where no
    column alone tells anything, too (an action for the young and for the old, say, but for nobody between). Of many
    actions those that are logged most often.
    """
    counts = np.bincount(data.actions.codes, minlength=len(data.actions.labels))
    asked = sorted(actions, key=lambda action: (-counts[action], action))[: rules.most_actions]
    key = (tuple(asked), rules)
    known = _KNOWN.get(data, {}).get(key)
    if known is None:
        known = _told(data, columns, asked, rules)
        if len(asked) * len(columns) <= _MOST_KEPT:
            _KNOWN[data] = {key: known}
    return known


def _told(
    data: Trajectories, columns: Float[np.ndarray, "steps columns"], asked: Sequence[int], rules: PositivityRules
) -> dict[int, Float[np.ndarray, " steps"]]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    counts = np.bincount(data.actions.codes, minlength=len(data.actions.labels))
    place = np.full(len(counts), len(asked))
    place[asked] = np.arange(len(asked))
    classes = place[data.actions.codes]
    count = rules.folds if len(classes) <= rules.few_steps else 2
    folds = np.repeat(np.arange(len(data)) % count, data.lengths)
    chosen = spread_episodes(data, rules.most_steps)
    taught = np.ones(len(data), dtype=bool)
    if chosen is not None:
        taught[:] = False
        taught[chosen] = True
    teaches = np.repeat(taught, data.lengths)
    result = np.zeros((len(classes), len(asked) + 1))

    def tell(fold: int) -> None:
        others, own = np.flatnonzero(teaches & (folds != fold)), np.flatnonzero(folds == fold)
        shown = np.unique(classes[others])
        if not len(own) or not len(shown):
            return
        if len(shown) == 1:
            result[own, shown[0]] = 1.0
            return
        options: dict[str, Any] = {"early_stopping": False}
        trees = HistGradientBoostingClassifier(
            max_iter=rules.trees, max_leaf_nodes=rules.leaves, random_state=0, **options
        )
        found = trees.fit(columns[others], classes[others]).predict_proba(columns[own])
        result[own[:, None], shown] = found

    for fold in range(count):
        tell(fold)
    return {action: result[:, number] for number, action in enumerate(asked)}
