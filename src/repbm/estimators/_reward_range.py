"""How far rewards go, and what that leaves for returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repbm.data import totals
from repbm.estimators._case import Case


@dataclass(frozen=True)
class RewardRange:
    """The lowest and the highest reward, and the most rewards other than 0 in an episode: they bound returns."""

    low: float
    high: float
    often: int

    @classmethod
    def of(cls, case: Case) -> RewardRange:
        rewards = case.data.rewards
        often = totals(lambda at: (rewards[at] != 0).astype(np.float64), case.data.offsets).max()
        return cls(float(rewards.min()), float(rewards.max()), int(often))

    def __add__(self, other: RewardRange) -> RewardRange:
        return RewardRange(min(self.low, other.low), max(self.high, other.high), max(self.often, other.often))

    def returns(self, discount: float, most_steps: int) -> tuple[float, float]:
        """The lowest and the highest return that rewards like these allow.

        Where no episode has more than one reward other than 0, as with survival paid at the end, one is all there can
        be.
        """
        if self.often <= 1:
            return min(self.low, 0.0), max(self.high, 0.0)
        powers = float((discount ** np.arange(most_steps)).sum())
        return min(self.low, self.low * powers), max(self.high, self.high * powers)
