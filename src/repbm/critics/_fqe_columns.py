"""Which columns tell anything about what actions are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import FittedQRules
from repbm.critics._bellman_sums import Sample, Sums


def relevant_columns(
    sums: Sums, sample: Sample, horizon: int, powers: Int[np.ndarray, "features dimensions"], rules: FittedQRules
) -> Int[np.ndarray, " kept"]:
    """The columns whose features, together, are more than noise in the regression of some number of steps left.

    Wald's statistic of all features with the column, summed over actions, has as mean their number p and as variance
    2 p where they tell nothing; a column counts from p + `column_evidence` sqrt(2 p) on. Targets are made with the
    columns found so far: the noise of others in them would be found, too, and rightly.
    """
    test = _Test.of(sums, sample, powers)
    kept = np.zeros(powers.shape[1], dtype=bool)
    if not test.used:
        return np.arange(len(kept))
    grid = _grid(horizon)
    values = np.zeros(sums.paid.shape[1:])
    own, inner = np.arange(0), dict[int, np.ndarray]()
    for left in range(1, horizon + 1):
        moments, targets = sums.paid.sum(axis=0), sample.part.rewards
        if left > 1:
            targets, change = sample.targets(values, left - 1)
            moments = sums.moments(values).sum(axis=0)
            if change.any():
                moments = moments + sample.correction(change).sum(axis=0)
        if left in grid:
            statistic, needed = test(moments, targets)
            found = kept | (statistic > needed + rules.column_evidence * np.sqrt(2 * needed))
            if left == 1 or (found != kept).any():
                kept, own = found, np.flatnonzero((powers[:, ~found] == 0).all(axis=1))
                inner = {a: np.linalg.pinv(gram[np.ix_(own, own)], hermitian=True) for a, gram in enumerate(test.gram)}
        values = np.zeros_like(moments)
        for a, inverse in inner.items():
            values[a, own] = inverse @ moments[a, own]
    return np.flatnonzero(kept)


@dataclass(frozen=True, eq=False)
class _Test:
    """Wald's statistic of every column, for one target after the other."""

    gram: Float[np.ndarray, "actions features features"]
    sample: Sample
    used: dict[int, np.ndarray]
    """The actions that have rows enough, with their rows in the sample."""
    groups: list[np.ndarray]
    """The features of every column."""
    inverses: dict[int, np.ndarray]
    weights: dict[tuple[int, int], np.ndarray]

    @classmethod
    def of(cls, sums: Sums, sample: Sample, powers: np.ndarray) -> _Test:
        gram = sums.gram.sum(axis=0)
        rows = {a: np.flatnonzero(sample.part.actions == a) for a in range(len(gram))}
        used = {a: own for a, own in rows.items() if len(own) > 2 * len(powers)}
        groups = [np.flatnonzero(powers[:, k] > 0) for k in range(powers.shape[1])]
        inverses = {a: np.linalg.pinv(gram[a], hermitian=True) for a in used}
        weights = {
            (a, k): np.linalg.pinv(inverses[a][np.ix_(own, own)], hermitian=True)
            for a in used
            for k, own in enumerate(groups)
        }
        return cls(gram, sample, used, groups, inverses, weights)

    def __call__(
        self, moments: Float[np.ndarray, "actions features"], targets: Float[np.ndarray, " rows"]
    ) -> tuple[Float[np.ndarray, " dimensions"], Float[np.ndarray, " dimensions"]]:
        """The statistics, and what they are on average where a column tells nothing."""
        total = np.zeros(len(self.groups))
        for a, rows in self.used.items():
            found = self.inverses[a] @ moments[a]
            missed = targets[rows] - self.sample.x[rows] @ found
            noise = (missed**2).sum() / (len(missed) - len(found)) + 1e-12 * (targets**2).mean()
            for k, own in enumerate(self.groups):
                total[k] += found[own] @ self.weights[a, k] @ found[own] / max(noise, np.finfo(float).tiny)
        return total, len(self.used) * np.array([float(len(own)) for own in self.groups])


def _grid(horizon: int) -> list[int]:
    """1, 2, 4, ... and the horizon."""
    return sorted({min(1 << k, horizon) for k in range(horizon.bit_length() + 1)})
