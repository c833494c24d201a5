"""Self-normalised sums over episodes: what WIS, WPDIS and WDR have in common.

value = sum_t [ A_t / D_t + B_t / D_{t-1} ],   D_t = sum_i w_t,   D_{-1} = n
with A_t = sum_i w_t a_t and B_t = sum_i w_{t-1} b_t over the episodes that have a step t, and D_t over all episodes,
finished ones with their last weight. WIS is the same with the whole episode as its one step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from repbm.data import totals
from repbm.estimators._estimate import Estimate
from repbm.estimators._weights import Weights

_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class NormalizedTerms:
    """The terms `after` (a_t, paired with w_t) and `before` (b_t, paired with w_{t-1}) of every logged step."""

    weights: Weights
    after: Float[np.ndarray, " steps"]
    before: Float[np.ndarray, " steps"] | None = None

    def estimate(self) -> Estimate:
        weights, data = self.weights, self.weights.data
        effective = float(weights.effective_episodes[-1])
        if weights.vanishes:
            return Estimate(None, None, effective, f"not defined: {weights.vanishing}")
        scale = len(data) / weights.sums
        parts = scale[data.steps]
        parts *= weights.scaled
        parts *= self.after
        if self.before is not None:
            earlier = np.concatenate([[1 / weights.initial], scale[:-1]])
            parts += weights.before() * self.before * earlier[data.steps]
        contributions = totals(parts, data.offsets)
        return Estimate(float(contributions.mean()), contributions, effective, pool=self.pool)

    def pool(self, groups: Int[np.ndarray, " episodes"], count: int) -> PooledTerms:
        weights, data = self.weights, self.weights.data
        width = data.longest
        cell = np.repeat(groups * width, data.lengths) + data.steps
        sums = np.bincount(cell, weights.scaled, count * width).reshape(count, width)
        ended = np.bincount(groups * (width + 1) + data.lengths, weights.last, count * (width + 1))
        sums += np.cumsum(ended.reshape(count, width + 1), axis=1)[:, :-1]
        return PooledTerms(
            sums=sums,
            after=np.bincount(cell, weights.scaled * self.after, count * width).reshape(count, width),
            before=None
            if self.before is None
            else np.bincount(cell, weights.before() * self.before, count * width).reshape(count, width),
            initial=np.bincount(groups, minlength=count) * weights.initial,
        )


@dataclass(frozen=True, eq=False)
class PooledTerms:
    """D_t, A_t, B_t and D_{-1} summed within groups of episodes."""

    sums: Float[np.ndarray, "groups longest"]
    after: Float[np.ndarray, "groups longest"]
    before: Float[np.ndarray, "groups longest"] | None
    initial: Float[np.ndarray, " groups"]

    def values(self, counts: Num[np.ndarray, "draws groups"]) -> Float[np.ndarray, " draws"]:
        result = np.zeros(len(counts))
        counts = counts.astype(np.float64)
        earlier = counts @ self.initial
        width = max(1, _BLOCK_CELLS // len(counts))
        for start in range(0, self.sums.shape[1], width):
            block = slice(start, start + width)
            sums = counts @ self.sums[:, block]
            result += _ratios(counts @ self.after[:, block], sums)
            if self.before is not None:
                shifted = np.column_stack([earlier, sums[:, :-1]])
                result += _ratios(counts @ self.before[:, block], shifted)
            earlier = sums[:, -1]
        return result


def _ratios(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Row sums of above / below; NaN for a row with a zero below."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((below > 0).all(axis=1), (above / below).sum(axis=1), np.nan)
