"""Which columns tell anything about what actions are worth."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.core import FittedQRules
from repbm.critics._bellman_sums import Sample, Sums


def relevant_columns(
    sums: Sums,
    sample: Sample,
    values: Float[np.ndarray, "horizon actions features"],
    powers: Int[np.ndarray, "features dimensions"],
    rules: FittedQRules,
) -> Int[np.ndarray, " kept"]:
    """The columns whose features, together, are more than noise in the regression of some number of steps left.

    Wald's statistic of all features with the column, summed over actions, has as mean their number p and as variance
    2 p where they tell nothing; a column counts from p + `column_evidence` sqrt(2 p) on.
    """
    gram = sums.gram.sum(axis=0)
    rows = [np.flatnonzero(sample.part.actions == a) for a in range(len(gram))]
    used = [a for a in range(len(gram)) if gram[a, 0, 0] > 2 * len(powers) and len(rows[a]) > 2 * len(powers)]
    dimensions = powers.shape[1]
    if not used:
        return np.arange(dimensions)
    groups = [np.flatnonzero(powers[:, k] > 0) for k in range(dimensions)]
    inverses = {a: np.linalg.pinv(gram[a], hermitian=True) for a in used}
    weights = {
        (a, k): np.linalg.pinv(inverses[a][np.ix_(own, own)], hermitian=True) for a in used for k, own in enumerate(groups)
    }
    needed = len(used) * np.array([len(own) for own in groups])
    limit = needed + rules.column_evidence * np.sqrt(2 * needed)
    relevant = np.zeros(dimensions, dtype=bool)
    for left in _grid(len(values)):
        found = values[left - 1]
        targets = sample.part.rewards if left == 1 else sample.targets(values[left - 2], left - 1)[0]
        total = np.zeros(dimensions)
        for a in used:
            missed = targets[rows[a]] - sample.x[rows[a]] @ found[a]
            noise = (missed**2).sum() / (len(missed) - len(powers)) + 1e-12 * (targets**2).mean()
            for k, own in enumerate(groups):
                total[k] += found[a][own] @ weights[a, k] @ found[a][own] / max(noise, np.finfo(float).tiny)
        relevant |= total > limit
    return np.flatnonzero(relevant)


def _grid(horizon: int) -> list[int]:
    """1, 2, 4, ... and the horizon."""
    return sorted({min(1 << k, horizon) for k in range(horizon.bit_length() + 1)})
