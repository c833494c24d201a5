"""Action values of patients as a forest: fitted Q iteration with extremely randomized trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

_ACTIONS = 4
_DRUGS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@dataclass(frozen=True, eq=False)
class ForestValues:
    """Q(s, a) as the mean over trees of the value of the leaf of (s, a); `leaves` numbers the nodes of all trees."""

    trees: list[Any]
    starts: Int[np.ndarray, " trees"]
    leaf_values: Float[np.ndarray, " nodes"]

    def leaves(self, states: Float[np.ndarray, "batch 6"], actions: Int[np.ndarray, " batch"]) -> np.ndarray:
        inputs = np.hstack([states, _DRUGS[actions]]).astype(np.float32)
        return np.stack([tree.apply(inputs) for tree in self.trees], axis=1) + self.starts

    def every(self, states: Float[np.ndarray, "batch 6"]) -> Float[np.ndarray, "batch 4"]:
        """Q(s, a) of all actions."""
        rows = np.repeat(states, _ACTIONS, axis=0)
        leaves = self.leaves(rows, np.tile(np.arange(_ACTIONS), len(states)))
        return self.leaf_values[leaves].mean(axis=1).reshape(-1, _ACTIONS)


def grown(
    states: Float[np.ndarray, "steps 6"],
    actions: Int[np.ndarray, " steps"],
    targets: Float[np.ndarray, " steps"],
    trees: int,
    seed: int,
) -> ForestValues:
    """Extremely randomized trees (Geurts et al. 2006) fitted to the targets."""
    from sklearn.ensemble import ExtraTreesRegressor

    forest = ExtraTreesRegressor(trees, min_samples_leaf=3, random_state=seed, n_jobs=2)
    forest.fit(np.hstack([states, _DRUGS[actions]]).astype(np.float32), targets)
    grown = [tree.tree_ for tree in forest.estimators_]
    starts = np.concatenate([[0], np.cumsum([tree.node_count for tree in grown])[:-1]])
    return ForestValues(grown, starts, np.concatenate([tree.value[:, 0, 0] for tree in grown]))


def swept(
    values: ForestValues,
    states: Float[np.ndarray, "steps 6"],
    actions: Int[np.ndarray, " steps"],
    rewards: Float[np.ndarray, " steps"],
    following: Float[np.ndarray, "steps 6"],
    sweeps: int,
    discount: float,
) -> ForestValues:
    """Iterate the values of the leaves, with the splits kept."""
    here = values.leaves(states, actions)
    ahead = [values.leaves(following, np.full(len(following), action)) for action in range(_ACTIONS)]
    nodes = len(values.leaf_values)
    counts = np.maximum(np.bincount(here.ravel(), minlength=nodes), 1)
    worth = values.leaf_values
    for _ in range(sweeps):
        best = np.max([worth[leaves].mean(axis=1) for leaves in ahead], axis=0)
        targets = np.repeat(rewards + discount * best, here.shape[1])
        worth = np.bincount(here.ravel(), targets, minlength=nodes) / counts
    return ForestValues(values.trees, values.starts, worth)
