"""What followed and what was earned, together, for every state and action of a table."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.models.parts._part import Part

ENDED = -1
UNKNOWN = -2
"""The log stopped there."""


class Outcomes(Part):
    """Logged outcomes of pairs of state and action, to draw from: what was earned goes with what followed.

    Those of a pair stand together; `reached` is the number of the pair plus the share of its weight up to there, and
    `reached_told` the same of outcomes that tell what followed.
    """

    pairs: Int[np.ndarray, " outcomes"]
    following: Int[np.ndarray, " outcomes"]
    """The state, `ENDED`, or -2 where the log stopped."""
    rewards: Float[np.ndarray, " outcomes"]
    reached: Float[np.ndarray, " outcomes"]
    reached_told: Float[np.ndarray, " outcomes"]

    @classmethod
    def of(
        cls,
        pairs: Int[np.ndarray, " steps"],
        following: Int[np.ndarray, " steps"],
        rewards: Float[np.ndarray, " steps"],
        weights: Float[np.ndarray, " steps"],
    ) -> Outcomes:
        """`following` is -1 where the episode ended and -2 where the log stopped; equal outcomes count as one."""
        order = np.lexsort((rewards, following, pairs))
        pairs, following, rewards = pairs[order], following[order], rewards[order]
        new = np.ones(len(pairs), dtype=bool)
        new[1:] = (np.diff(pairs) != 0) | (np.diff(following) != 0) | (np.diff(rewards) != 0)
        weight = np.bincount(np.cumsum(new) - 1, weights[order])
        pairs, following, rewards = pairs[new], following[new], rewards[new]
        told = np.where(following == UNKNOWN, 0.0, weight)
        return cls(pairs, following, rewards, _reached(pairs, weight), _reached(pairs, told))

    def draw(
        self, generator: np.random.Generator, pairs: Int[np.ndarray, " batch"]
    ) -> tuple[Int[np.ndarray, " batch"], Float[np.ndarray, " batch"]]:
        """What follows these pairs, or that nothing does, and what is earned; where the log stopped, what follows
        others of the same pair, and nothing where none tells."""
        found = np.searchsorted(self.reached, pairs + generator.random(len(pairs)), side="right")
        following, rewards = self.following[found], self.rewards[found]
        unknown = np.flatnonzero(following == UNKNOWN)
        if len(unknown):
            asked = pairs[unknown] + generator.random(len(unknown))
            again = np.minimum(np.searchsorted(self.reached_told, asked, side="right"), len(self.following) - 1)
            # Where no outcome of a pair tells, the search ends beyond it, or at the very last.
            told = (self.pairs[again] == pairs[unknown]) & (self.following[again] != UNKNOWN)
            following[unknown] = np.where(told, self.following[again], ENDED)
        return following, rewards


def _reached(pairs: Int[np.ndarray, " outcomes"], weights: Float[np.ndarray, " outcomes"]) -> np.ndarray:
    """The number of the pair plus the share of its weight up to each outcome."""
    starts = np.flatnonzero(np.append(True, np.diff(pairs) != 0))
    sizes = np.diff(np.append(starts, len(pairs)))
    total = np.cumsum(weights)
    before = np.repeat(total[starts] - weights[starts], sizes)
    whole = np.repeat(np.add.reduceat(weights, starts), sizes)
    shares = np.divide(total - before, whole, out=np.zeros_like(total), where=whole > 0)
    # The last outcome of a pair takes what rounding has left.
    last = np.append(starts[1:], len(pairs)) - 1
    shares[last] = np.where(whole[last] > 0, 1.0, 0.0)
    return pairs + np.clip(shares, 0.0, 1.0)
