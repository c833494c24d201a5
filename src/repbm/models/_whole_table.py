"""Tables that count all steps of a log, also states that a sample of it lacks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from repbm.core import ChoiceRules
from repbm.data import Trajectories, found_states
from repbm.models._tabular import Counts, TabularModel, tabulated
from repbm.models._whole_fit import WholeFit
from repbm.models.objectives._objective import Objective
from repbm.models.parts._outcomes import UNKNOWN, Outcomes
from repbm.models.transitions._table import TransitionTable, ended_by_limit


@dataclass(frozen=True, eq=False)
class TableSums:
    """What steps with the same state, action and next state weigh in all, and what they earned."""

    states: Float[np.ndarray, "states dimensions"]
    actions: int
    cells: Int[np.ndarray, " cells"]
    """The number of the state, of the action and of what followed, in one."""
    weights: Float[np.ndarray, " cells"]
    earned: Float[np.ndarray, " cells"]
    """Rewards times weights."""
    steps: int

    @classmethod
    def of(
        cls,
        states: Float[np.ndarray, "states dimensions"],
        actions: int,
        pairs: Int[np.ndarray, " some"],
        following: Int[np.ndarray, " some"],
        weights: Float[np.ndarray, " some"],
        earned: Float[np.ndarray, " some"],
        steps: int,
    ) -> TableSums:
        cells, inverse = np.unique(_cells(pairs, following, len(states)), return_inverse=True)
        weights, earned = (np.bincount(inverse.reshape(-1), each, len(cells)) for each in (weights, earned))
        return cls(states, actions, cells, weights, earned, steps)

    @property
    def pairs(self) -> Int[np.ndarray, " cells"]:
        """The numbers of state and action."""
        return self.cells // (len(self.states) + 2)

    @property
    def following(self) -> Int[np.ndarray, " cells"]:
        """The number of the next state; ENDED or UNKNOWN where there is none."""
        return self.cells % (len(self.states) + 2) + UNKNOWN

    def __add__(self, other: TableSums) -> TableSums:
        states = np.unique(np.concatenate([self.states, other.states]), axis=0)
        one, two = self._among(states), other._among(states)
        pairs, following, weights, earned = (np.concatenate(both) for both in zip(one, two, strict=True))
        return TableSums.of(states, self.actions, pairs, following, weights, earned, self.steps + other.steps)

    def _among(self, states: Float[np.ndarray, "more dimensions"]) -> tuple[np.ndarray, ...]:
        place = found_states(states, self.states)[0]
        state, action = np.divmod(self.pairs, self.actions)
        following = np.where(self.following >= 0, place[self.following], self.following)
        return place[state] * self.actions + action, following, self.weights, self.earned


@dataclass(frozen=True, eq=False)
class WholeTable(WholeFit[TableSums]):
    """Weighted frequencies and means of all steps.

    What single steps earned beside their mean, which only single returns need, is drawn from the sample's.
    """

    sample: Counts
    objective: Objective
    timed: bool
    """Whether ends at the horizon are those of time (see `ended_by_limit`): as in the sample."""
    most_states: int

    @classmethod
    def of(cls, base: TabularModel, data: Trajectories, objective: Objective, rules: ChoiceRules) -> WholeTable:
        """`data` is what the base was fitted to."""
        timed = bool(ended_by_limit(data, base.horizon).any())
        counts = Counts.of(data, TransitionTable.of(data, None, horizon=base.horizon), base.horizon)
        return cls(counts, objective, timed, rules.most_states)

    @property
    def effort(self) -> int:
        return 1

    @property
    def complete(self) -> bool:
        return True

    def _sums(self, data: Trajectories, marginal: Float[np.ndarray, " steps"] | None) -> TableSums:
        table = TransitionTable.of(data, None)
        if self.timed:
            ended = table.ended.copy()
            ended[data.lasts[data.lengths == self.sample.horizon]] = False
            table = replace(table, ended=ended)
        counts, weights = Counts.of(data, table, self.sample.horizon), self.weights(len(table), marginal)
        given = counts.states, table.action_count, counts.pairs, counts.following
        return TableSums.of(*given, weights, weights * table.rewards, len(table))

    def model(self, sums: TableSums) -> TabularModel | None:
        """None where all steps show too many states for a table."""
        if len(sums.states) > self.most_states:
            return None
        weights, pairs, following = sums.weights, sums.pairs, sums.following
        means = np.divide(sums.earned, weights, out=np.zeros_like(weights), where=weights > 0)
        given = sums.states, pairs, following, means, weights
        return tabulated(self.sample.data, self.sample.horizon, *given, self._outcomes(sums, means))

    def _outcomes(self, sums: TableSums, means: Float[np.ndarray, " cells"]) -> Outcomes:
        """The sample's, each as often as its like in all steps; the mean where the sample has none."""
        sample = self.sample
        place, known = found_states(sums.states, sample.states)
        state, action = np.divmod(sample.pairs, sums.actions)
        onward = sample.following >= 0
        following = np.where(onward, place[sample.following], sample.following)
        cells = _cells(place[state] * sums.actions + action, following, len(sums.states))
        at = np.minimum(np.searchsorted(sums.cells, cells), len(sums.cells) - 1)
        # Where not all episodes were summed, some of the sample may be missing among them.
        told = known[state] & (known[sample.following] | ~onward) & (sums.cells[at] == cells)
        at, rewards = at[told], sample.log.rewards[told]
        times = np.bincount(at, minlength=len(sums.cells))
        lacking = np.flatnonzero(times == 0)
        weights = np.concatenate([sums.weights[at] / times[at], sums.weights[lacking]])
        at, rewards = np.append(at, lacking), np.append(rewards, means[lacking])
        return Outcomes.of(sums.pairs[at], sums.following[at], rewards, weights)


def _cells(
    pairs: Int[np.ndarray, " some"], following: Int[np.ndarray, " some"], states: int
) -> Int[np.ndarray, " some"]:
    """A pair, and what followed it, as one number."""
    return pairs * (states + 2) + (following - UNKNOWN)
