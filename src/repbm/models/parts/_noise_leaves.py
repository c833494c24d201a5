"""States whose noise has the same shape: the leaves of a small tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

MOST_LEAVES = 16
_FEWEST_ROWS = 50
DEPTH = 6
_MARKS = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, eq=False)
class Leaves:
    """A tree of questions "is this column above the threshold?"; a leaf is its own child."""

    column: Int[np.ndarray, " nodes"]
    threshold: Float[np.ndarray, " nodes"]
    child: Int[np.ndarray, "nodes two"]
    leaf: Int[np.ndarray, " nodes"]
    """The number of the leaf, for nodes that are one."""
    count: int
    depth: int

    def __call__(self, positions: Float[np.ndarray, "rows dimensions"]) -> Int[np.ndarray, " rows"]:
        inside, rows = np.clip(positions, -1.0, 1.0), np.arange(len(positions))
        node = np.zeros(len(positions), dtype=np.int64)
        for _ in range(self.depth):
            right = inside[rows, self.column[node]] > self.threshold[node]
            node = self.child[node, right.astype(np.int64)]
        return self.leaf[node]

    def filled(self, nodes: int) -> Leaves:
        """With so many nodes; no question leads to the new ones."""
        more = nodes - len(self.column)
        return Leaves(
            np.pad(self.column, (0, more)),
            np.pad(self.threshold, (0, more)),
            np.pad(self.child, ((0, more), (0, 0))),
            np.pad(self.leaf, (0, more)),
            self.count,
            self.depth,
        )


def grown(
    positions: Float[np.ndarray, "rows dimensions"], residuals: Float[np.ndarray, "rows outputs"], several: bool
) -> Leaves:
    """The tree whose leaves differ most in how often residuals lie below some quantiles of them all."""
    if not several or len(positions) < 2 * _FEWEST_ROWS:
        none = np.zeros(1, dtype=np.int64)
        return Leaves(none, np.zeros(1), np.zeros((1, 2), dtype=np.int64), none, 1, 0)
    from sklearn.tree import DecisionTreeRegressor

    marks = np.quantile(residuals, _MARKS, axis=0)
    below = np.concatenate([residuals < mark for mark in marks], axis=1).astype(np.float64)
    tree = (
        DecisionTreeRegressor(
            max_leaf_nodes=MOST_LEAVES, min_samples_leaf=_FEWEST_ROWS, max_depth=DEPTH, random_state=0
        )
        .fit(np.clip(positions, -1.0, 1.0), below)
        .tree_
    )
    inner = tree.children_left >= 0
    own = np.arange(tree.node_count)
    child = np.column_stack([np.where(inner, tree.children_left, own), np.where(inner, tree.children_right, own)])
    leaf = np.where(inner, 0, np.cumsum(~inner) - 1)
    return Leaves(
        np.where(inner, tree.feature, 0).astype(np.int64),
        np.where(inner, tree.threshold, 0.0).astype(np.float64),
        child.astype(np.int64),
        leaf,
        int((~inner).sum()),
        int(tree.max_depth),
    )
