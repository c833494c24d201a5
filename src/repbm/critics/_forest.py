"""A forest of random trees, grown by a plain loop: scikit-learn's own is not to be used in several threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from sklearn.tree import ExtraTreeRegressor


@dataclass(frozen=True, eq=False)
class Forest:
    """Extremely randomized trees; the same numbers as `sklearn.ensemble.ExtraTreesRegressor(random_state=0)`.

    That one hands its trees to joblib, which changes the filters of warnings of the whole process around every tree:
    in several threads at once these are lost. It also takes longer than small trees do.
    """

    trees: tuple[ExtraTreeRegressor, ...]

    @classmethod
    def grown(
        cls,
        inputs: Float[np.ndarray, "rows columns"],
        targets: Float[np.ndarray, " rows"],
        count: int,
        smallest_leaf: int,
        columns: float,
    ) -> Forest:
        """Each of `count` trees splits by the best of a share of the columns, down to leaves of so many rows."""
        x, y = np.ascontiguousarray(inputs, np.float32), np.ascontiguousarray(targets[:, None], np.float64)
        draws = np.random.RandomState(0)
        seeds = [draws.randint(np.iinfo(np.int32).max) for _ in range(count)]
        trees = (
            ExtraTreeRegressor(min_samples_leaf=smallest_leaf, max_features=columns, random_state=seed)
            for seed in seeds
        )
        return cls(tuple(tree.fit(x, y, check_input=False) for tree in trees))

    def __call__(self, inputs: Float[np.ndarray, "rows columns"]) -> Float[np.ndarray, " rows"]:
        x = np.ascontiguousarray(inputs, np.float32)
        total = np.zeros(len(x))
        for tree in self.trees:
            total += tree.predict(x, check_input=False)
        return total / len(self.trees)
