"""Self-normalised sums over episodes: what WIS, WPDIS and WDR have in common.

value = sum_t [ A_t / D_t + B_t / D_{t-1} ],   D_t = sum_i w_t,   D_{-1} = n
with A_t = sum_i w_t a_t and B_t = sum_i w_{t-1} b_t over the episodes that have a step t, and D_t over all episodes,
finished ones with their last weight. WIS is the same with the whole episode as its one step.
Where no episode has any weight left, sums of rewards alone are not defined; those with a critic (b_t) end with it: the
terms that nothing is known of are 0, and what the last weights leave to the critic stands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import say
from repbm.data import Block, StepValues, over_blocks, totals
from repbm.estimators._estimate import Estimate
from repbm.estimators._weights import Weights, weightless_note

CRITIC_ALONE = "critic_after"
"""The word for what becomes of steps without weight where there is a critic."""
_BLOCK_CELLS = 1 << 22
_BLOCK_STEPS = 1 << 16


@dataclass(frozen=True, eq=False)
class NormalizedTerms:
    """The terms `after` (a_t, paired with w_t) and `before` (b_t, paired with w_{t-1}) of every logged step."""

    weights: Weights
    after: StepValues
    before: StepValues | None = None

    def estimate(self) -> Estimate:
        weights, data = self.weights, self.weights.data
        effective = float(weights.effective_episodes[-1])
        if weights.vanishes and self.before is None:
            return Estimate(None, None, effective, say("notes", "not_defined", reason=weights.vanishing))
        scale = weights.normalizers
        contributions = totals(lambda at: self._after(at) * scale[data.steps[at]], data.offsets)
        if self.before is not None:
            earlier = np.concatenate([[1.0], scale[:-1]])
            contributions += totals(lambda at: self._before(at) * earlier[data.steps[at]], data.offsets)
        note = weightless_note(weights, CRITIC_ALONE)
        model_only = not weights.sums.any()
        return Estimate(float(contributions.mean()), contributions, effective, note, self.pool, model_only=model_only)

    def pool(self, groups: Int[np.ndarray, " episodes"], count: int) -> PooledTerms:
        weights, data = self.weights, self.weights.data
        shape = (count, data.longest)
        steps = data.steps

        def work(block: Block) -> list[np.ndarray]:
            at = block.entries
            cell = np.repeat(groups[block.segments] * data.longest, np.diff(block.offsets)) + steps[at]
            parts = [weights.scaled[at], self._after(at)] + ([] if self.before is None else [self._before(at)])
            return [np.bincount(cell, part, sums.size) for part in parts]

        sums, after, before = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        # Blocks much larger than the tables that each of them fills.
        for parts in over_blocks(work, data.offsets, size=max(_BLOCK_STEPS, 4 * sums.size)):
            for table, part in zip((sums, after, before), parts, strict=False):
                table += part.reshape(shape)
        sums += weights.carried(groups, count)
        sizes = np.bincount(groups, minlength=count).astype(np.float64)
        return PooledTerms(sums, after, None if self.before is None else before, sizes)

    def _after(self, at: slice) -> Float[np.ndarray, " block"]:
        return self.weights.scaled[at] * self.after(at)

    def _before(self, at: slice) -> Float[np.ndarray, " block"]:
        assert self.before is not None
        return self.weights.before(at) * self.before(at)


@dataclass(frozen=True, eq=False)
class PooledTerms:
    """D_t, A_t, B_t and the number of episodes, summed within groups of episodes."""

    sums: Float[np.ndarray, "groups longest"]
    after: Float[np.ndarray, "groups longest"]
    before: Float[np.ndarray, "groups longest"] | None
    sizes: Float[np.ndarray, " groups"]

    def values(self, counts: Float[np.ndarray, "draws groups"]) -> Float[np.ndarray, " draws"]:
        result = np.zeros(len(counts))
        without = np.nan if self.before is None else 0.0
        earlier = counts @ self.sizes
        width = max(1, _BLOCK_CELLS // len(counts))
        for start in range(0, self.sums.shape[1], width):
            block = slice(start, start + width)
            sums = counts @ self.sums[:, block]
            result += _ratios(counts @ self.after[:, block], sums, without)
            if self.before is not None:
                shifted = np.column_stack([earlier, sums[:, :-1]])
                result += _ratios(counts @ self.before[:, block], shifted, without)
            earlier = sums[:, -1]
        return result


def _ratios(above: np.ndarray, below: np.ndarray, without: float) -> np.ndarray:
    """Row sums of above / below, `without` where below is 0."""
    return np.divide(above, below, out=np.full_like(above, without), where=below > 0).sum(axis=1)
