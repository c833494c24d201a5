"""How much hidden confounding would change the conclusion: bounds of the answer, and where its sign is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from repbm.core import ConfoundingRules, say

_HALVINGS = 20
"""Of the logarithm of the largest gamma: five digits."""


@dataclass(frozen=True, eq=False)
class WeightedSurprises:
    """The corrected estimate, taken apart: base + sum_t discount^t (sum_i W_it d_it / sum_i W_it).

    A hidden cause may make the odds of every logged action up to gamma times larger or smaller than its probability mu
    says: its true inverse probability lies in [1 + (1 / mu - 1) / gamma, 1 + (1 / mu - 1) gamma] (the marginal
    sensitivity model, Tan 2006). `bounds` are the extremes of the estimate over all such probabilities: at every step
    those of a ratio of linear functions, where surprises above some threshold get the one end of the interval and all
    others the other (Zhao, Small & Bhattacharya 2019).

    Of first order: the critic and the ratios of states are kept as they were fitted, though a hidden cause would have
    biased them, too, and every step is bounded on its own. What is done now was seen, and is never in doubt.
    """

    base: float
    """The mean V_0."""
    steps: Int[np.ndarray, " steps"]
    """The time t of every logged step."""
    weights: Float[np.ndarray, " steps"]
    """W_it; only their shares of a step's total matter."""
    surprises: Float[np.ndarray, " steps"]
    behavior: Float[np.ndarray, " steps"]
    """mu, the probability of the logged action."""
    finished: Float[np.ndarray, " longest"]
    """At every time the weight of all episodes that are over: no surprise, no action, nothing to be hidden."""
    discount: float = 1.0

    def bounds(self, gamma: float) -> tuple[float, float]:
        """The least and the largest value that the log allows."""
        return self.bound(gamma, -1), self.bound(gamma, 1)

    def bound(self, gamma: float, sign: int) -> float:
        """The least value for a sign of -1, the largest for 1."""
        sums = self._sums
        # What the hidden part counts at the small surprises of a time, and at the large ones.
        small, large = gamma**-sign, gamma**sign
        top, bottom = sums.kept + large * sums.free
        ratios = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
        tops, bottoms = np.repeat([top, bottom], sums.sizes, axis=1) + (small - large) * sums.free_so_far
        all_ratios = np.divide(tops, bottoms, out=np.zeros_like(tops), where=bottoms > 0)
        best = sign * np.maximum(np.maximum.reduceat(sign * all_ratios, sums.starts), sign * ratios)
        return self.base + float((self.discount**sums.times * best).sum())

    @cached_property
    def _sums(self) -> _Sums:
        order = np.lexsort((self.surprises, self.steps))
        times, surprise, mu = self.steps[order], self.surprises[order], self.behavior[order]
        starts = np.flatnonzero(np.append(True, times[1:] != times[:-1]))
        sizes, present = np.diff(np.append(starts, len(order))), times[starts]
        total = np.bincount(self.steps, self.weights, len(self.finished)) + self.finished
        scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        shares = self.weights[order] * scale[times]
        # W lambda = W mu + W (1 - mu) gamma^(+-1): the first part is certain, the second free.
        certain, free = (np.stack([part * surprise, part]) for part in (shares * mu, shares * (1 - mu)))
        kept = np.add.reduceat(certain, starts, axis=1)
        kept[1] += (self.finished * scale)[present]
        so_far = np.cumsum(free, axis=1)
        so_far -= np.repeat(so_far[:, starts] - free[:, starts], sizes, axis=1)
        return _Sums(present, starts, sizes, kept, np.add.reduceat(free, starts, axis=1), so_far)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the steps of every time, in the order of surprises: of weighted surprises, and of weights."""

    times: Int[np.ndarray, " times"]
    starts: Int[np.ndarray, " times"]
    sizes: Int[np.ndarray, " times"]
    kept: Float[np.ndarray, "2 times"]
    """What gamma does not change."""
    free: Float[np.ndarray, "2 times"]
    """What gamma multiplies or divides."""
    free_so_far: Float[np.ndarray, "2 steps"]
    """The same up to each step of its time."""


@dataclass(frozen=True)
class Confounding:
    """What hidden causes could make of an answer: for every gamma the bounds of value and difference.

    `turns` is the smallest gamma at which the difference to what is done now may have no sign or another one, `unsure`
    the same for the end of its interval that is nearer to 0 (1 where the interval holds 0 anyway). The interval is
    shifted, not widened: its length is that without hidden causes. None where not even `largest` does it.
    """

    gammas: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    difference_low: tuple[float, ...]
    difference_high: tuple[float, ...]
    turns: float | None
    unsure: float | None
    largest: float

    @property
    def sentence(self) -> str:
        """In words, how strong a hidden cause would have to be."""
        if self.unsure == 1:
            if self.turns == 1:
                return say("hidden", "chance")
            return say("hidden", "chance_turns", cause=_cause(self.turns, self.largest))
        cause = _cause(self.turns, self.largest)
        if self.unsure is None:
            return say("hidden", "turns", cause=cause)
        return say("hidden", "turns_unsure", cause=cause, times=_times(self.unsure))


def confounding(
    parts: WeightedSurprises,
    logged_mean: float,
    interval: tuple[float, float],
    rules: ConfoundingRules = ConfoundingRules(),  # noqa: B008 - frozen
) -> Confounding:
    """Bounds of the value, and of its difference to the logged mean, whose interval without hidden causes is given."""
    found = np.array([parts.bounds(gamma) for gamma in rules.gammas]).reshape(-1, 2)
    value = parts.bounds(1.0)[0]
    sign = -1 if value >= logged_mean else 1
    end = interval[0] if sign < 0 else interval[1]

    def lost(shift: float) -> float | None:
        """The smallest gamma at which the bound that is nearer to 0, shifted, has lost the sign."""
        return _smallest(lambda gamma: sign * (parts.bound(gamma, sign) + shift) >= 0, rules.largest)

    low, high = found.T
    return Confounding(
        gammas=rules.gammas,
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        difference_low=tuple((low - logged_mean).tolist()),
        difference_high=tuple((high - logged_mean).tolist()),
        turns=lost(-logged_mean),
        unsure=lost(end - value),
        largest=rules.largest,
    )


def _smallest(holds: Callable[[float], bool], largest: float) -> float | None:
    """The smallest number from 1 to the largest from which on it holds, by halving; None where it never does."""
    if holds(1.0):
        return 1.0
    if not holds(largest):
        return None
    low, high = 0.0, float(np.log(largest))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))


def _cause(gamma: float | None, largest: float) -> str:
    return say("hidden", "no_cause" if gamma is None else "cause", times=_times(gamma or largest))


def _times(gamma: float) -> str:
    return f"{max(gamma, 1.01):.3g}"
