"""Weighted surprises of a log that is read in parts: sums over groups of its episodes and steps, which add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.data import Trajectories


@dataclass(frozen=True, eq=False)
class Heavy:
    """Steps whose weights may be cut, when all episodes are known: each by itself."""

    steps: Int[np.ndarray, " some"]
    groups: Int[np.ndarray, " some"]
    weights: Float[np.ndarray, " some"]
    surprises: Float[np.ndarray, " some"]
    lasts: Bool[np.ndarray, " some"]
    """Whether it is the last step of its episode, which keeps its weight."""

    def only(self, rows: Bool[np.ndarray, " some"]) -> Heavy:
        return Heavy(*(getattr(self, name)[rows] for name in _HEAVY))

    def with_others(self, other: Heavy) -> Heavy:
        return Heavy(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in _HEAVY))


_HEAVY = ("steps", "groups", "weights", "surprises", "lasts")


@dataclass(frozen=True, eq=False)
class StepSums:
    """sum W_t d_t and sum W_t by group and step, finished episodes with their last weight (see `Corrected`).

    A weight of more than `largest` times the mean of its step is cut off there. That mean is known when all episodes
    are; but weights are not negative, so that the sum so far bounds it from below, and few are above: at most
    n / largest a step. These wait.
    """

    terms: Float[np.ndarray, "groups longest"]
    weights: Float[np.ndarray, "groups longest"]
    squares: Float[np.ndarray, " longest"]
    """sum W_t^2 of all groups together."""
    heavy: Heavy
    largest: float
    episodes: int
    """How many there are in all parts."""

    @classmethod
    def of(
        cls,
        data: Trajectories,
        weights: Float[np.ndarray, " steps"],
        surprises: Float[np.ndarray, " steps"],
        groups: Int[np.ndarray, " episodes"],
        shape: tuple[int, int],
        episodes: int,
        largest: float = np.inf,
    ) -> StepSums:
        """Of a part of a log with so many `episodes`; `shape` is the number of groups and of steps."""
        last = np.zeros(len(weights), dtype=bool)
        last[data.lasts] = True
        every = Heavy(data.steps, np.repeat(groups, data.lengths), weights, surprises, last)
        nothing = np.zeros(shape)
        empty = cls(nothing, nothing, nothing[0], every.only(np.zeros(len(last), dtype=bool)), largest, episodes)
        return empty._with(every)

    def __add__(self, other: StepSums) -> StepSums:
        both = replace(
            self,
            terms=self.terms + other.terms,
            weights=self.weights + other.weights,
            squares=self.squares + other.squares,
            heavy=self.heavy.only(np.zeros(len(self.heavy.steps), dtype=bool)),
        )
        return both._with(self.heavy.with_others(other.heavy))

    def _with(self, others: Heavy) -> StepSums:
        """With these steps, too; those wait that may be too heavy."""
        total = self.weights.sum(axis=0) + _mass(others, self.terms.shape[1])
        light = others.weights * (self.episodes / self.largest) <= total[others.steps]
        added = self._settled(others, light)
        return replace(added, heavy=self.heavy.with_others(others.only(~light)))

    def _settled(self, others: Heavy, rows: Bool[np.ndarray, " some"]) -> StepSums:
        terms, weights, squares = _tables(others, rows, self.terms.shape)
        return replace(self, terms=self.terms + terms, weights=self.weights + weights, squares=self.squares + squares)

    @cached_property
    def whole(self) -> StepSums:
        """Of all episodes: nothing waits any longer, and what is too heavy is cut."""
        every = np.full(len(self.heavy.steps), True)
        most = self.totals * (self.largest / self.episodes) if np.isfinite(self.largest) else self.totals + np.inf
        cut = replace(self.heavy, weights=np.minimum(self.heavy.weights, most[self.heavy.steps]))
        return self._settled(cut, every)

    @cached_property
    def totals(self) -> Float[np.ndarray, " longest"]:
        """sum W_t before any is cut."""
        return self.weights.sum(axis=0) + _mass(self.heavy, self.terms.shape[1])

    @property
    def normalizers(self) -> Float[np.ndarray, " longest"]:
        """n / sum W_t; 0 where no episode has any weight."""
        return np.divide(self.episodes, self.totals, out=np.zeros_like(self.totals), where=self.totals > 0)

    @property
    def held(self) -> Float[np.ndarray, " longest"]:
        """The mean of W_t over that before any was cut."""
        return self.whole.weights.sum(axis=0) * self.normalizers / self.episodes

    @property
    def effective_episodes(self) -> Float[np.ndarray, " longest"]:
        """(sum W_t)^2 / sum W_t^2 over all episodes."""
        total, squares = self.whole.weights.sum(axis=0), self.whole.squares
        return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)

    def corrections(self, discount: float, sizes: Float[np.ndarray, " groups"]) -> Float[np.ndarray, " groups"]:
        """sum_t discount^t W_t d_t of groups with so many episodes, linearized."""
        normal, sums = self.normalizers, self.whole
        powers = discount ** np.arange(len(normal))
        mean = normal * sums.terms.sum(axis=0) / self.episodes
        linear = (powers * normal * (sums.terms - mean * sums.weights)).sum(axis=1)
        return linear + sizes * (powers * mean * self.held).sum()


def _mass(steps: Heavy, longest: int) -> Float[np.ndarray, " longest"]:
    """sum W of these steps, a weight also at all steps after a last one."""
    ended = _summed(steps.steps[steps.lasts] + 1, steps.weights[steps.lasts], longest + 1)
    return _summed(steps.steps, steps.weights, longest) + np.cumsum(ended)[:-1]


def _tables(
    steps: Heavy, rows: Bool[np.ndarray, " some"], shape: tuple[int, ...]
) -> tuple[Float[np.ndarray, "groups longest"], Float[np.ndarray, "groups longest"], Float[np.ndarray, " longest"]]:
    """sum W d, sum W and sum W^2 of these steps, a weight also at all steps after a last one."""
    count, longest = shape
    some = steps.only(rows)
    cell = some.groups * longest + some.steps
    terms, weights = (
        _summed(cell, each, count * longest).reshape(shape) for each in (some.weights * some.surprises, some.weights)
    )
    squares = _summed(some.steps, some.weights**2, longest)
    last = some.only(some.lasts)
    ended = last.groups * (longest + 1) + last.steps + 1
    size = count * (longest + 1)
    carried = np.cumsum(_summed(ended, last.weights, size).reshape(count, longest + 1), axis=1)[:, :-1]
    later = np.cumsum(_summed(last.steps + 1, last.weights**2, longest + 1))[:-1]
    return terms, weights + carried, squares + later


def _summed(
    cells: Int[np.ndarray, " some"], terms: Float[np.ndarray, " some"], size: int
) -> Float[np.ndarray, " cells"]:
    """Of no terms NumPy makes whole numbers."""
    return np.bincount(cells, terms, size).astype(np.float64, copy=False)
