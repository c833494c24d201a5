"""Where the policy and what was done differ: regions of logged states, with what either does there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from repbm.estimators import Case
from repbm.inference import leaf_conditions, tree_states

_MOST_REGIONS = 8
"""As many as a reader takes in."""
_SMALLEST_REGION = 20
_SMALLEST_SHARE = 0.03
"""Regions hold so many logged decisions, and this share of them."""
_LEAST_TOLD = 0.01
_LEAST_TOLD_DECISIONS = 10
"""A border between regions tells at least this share of all that varies, in the policy and in what was done; in short
logs so many decisions' worth, where chance alone tells a few."""
_MOST_ROWS = 100_000
"""Logged decisions, evenly spread, from which regions are found; all are counted."""
_MOST_ACTIONS = 6


@dataclass(frozen=True)
class PracticeRegion:
    """Logged decisions in states that fit all conditions.

    `actions`: label, the share of the policy's decisions, and how often it was logged, those first that the policy
    takes most. `differing` is the share of the decisions here in which the policy would have done something else.
    """

    conditions: tuple[str, ...]
    decisions: int
    individuals: int
    differing: float
    actions: tuple[tuple[str, float, int], ...]

    @classmethod
    def stored(cls, content: Mapping[str, Any]) -> PracticeRegion:
        actions = tuple((str(label), float(share), int(count)) for label, share, count in content["actions"])
        return cls(
            tuple(map(str, content["conditions"])),
            int(content["decisions"]),
            int(content["individuals"]),
            float(content["differing"]),
            actions,
        )


def practice_regions(case: Case) -> tuple[PracticeRegion, ...]:
    """Regions in which the policy, or what was done, changes, those first where most decisions differ.

    A tree of the states is grown to tell both at once: the policy's probabilities of all actions, and the logged ones.
    """
    data = case.data
    if case.decisions.matrix is None or not data.observations.shape[1]:
        return ()
    from sklearn.tree import DecisionTreeRegressor

    odds, labels = case.decisions.matrix(), case.decisions.labels
    codes = data.actions.codes
    states = tree_states(data.observations)
    rows = np.arange(len(codes))[:: max(1, -(-len(codes) // _MOST_ROWS))]
    done = np.eye(len(labels))[codes[rows]]
    smallest = max(_SMALLEST_REGION, int(_SMALLEST_SHARE * len(rows)))
    told = np.hstack([odds[rows], done])
    tree = DecisionTreeRegressor(
        max_leaf_nodes=_MOST_REGIONS,
        min_samples_leaf=smallest,
        min_impurity_decrease=max(_LEAST_TOLD, _LEAST_TOLD_DECISIONS / len(rows)) * float(told.var(axis=0).mean()),
        random_state=0,
    )
    tree.fit(states[rows], told)
    leaves, conditions = tree.apply(states), leaf_conditions(tree, data.names)
    episode = np.repeat(np.arange(len(data)), data.lengths)
    apart = 1 - odds[np.arange(len(codes)), codes]
    found = []
    for leaf in np.unique(leaves):
        own = leaves == leaf
        chosen, logged = odds[own].mean(axis=0), np.bincount(codes[own], minlength=len(labels))
        order = np.lexsort((-logged, -np.round(chosen, 6)))
        actions = [(str(labels[k]), float(chosen[k]), int(logged[k])) for k in order if chosen[k] > 0 or logged[k]]
        found.append(
            PracticeRegion(
                _without_filled(conditions[int(leaf)]),
                int(own.sum()),
                len(np.unique(episode[own])),
                float(apart[own].mean()),
                tuple(actions[:_MOST_ACTIONS]),
            )
        )
    return tuple(sorted(found, key=lambda region: -region.differing * region.decisions))


def _without_filled(conditions: tuple[str, ...]) -> tuple[str, ...]:
    """Where a value is missing, nothing is said of what stands in its place."""
    absent = [
        words.removesuffix(" missing") for words in conditions if words.endswith(" missing") and words[:4] != "not "
    ]
    return tuple(
        words for words in conditions if words.endswith(" missing") or not any(name in words.split() for name in absent)
    )
