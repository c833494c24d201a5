"""Polynomials whose terms a sample has chosen, with coefficients from all steps of a log."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from repbm.core import FitRules
from repbm.data import Trajectories
from repbm.models._continuous import ContinuousModel
from repbm.models._whole_fit import WholeFit
from repbm.models.dynamics._functions import PolynomialDynamics
from repbm.models.dynamics._jumps import jump_limits
from repbm.models.objectives._objective import Objective
from repbm.models.parts._reward import PolynomialReward
from repbm.models.regression._term_moments import TermMoments
from repbm.models.transitions._table import TransitionTable

_USUAL_TERMS = 64
"""With so many terms a step takes about as long to be summed as to be corrected."""


@dataclass(frozen=True, eq=False)
class PolynomialSums:
    """Of changes of state, and of rewards."""

    changes: TermMoments
    rewards: TermMoments
    steps: int

    def __add__(self, other: PolynomialSums) -> PolynomialSums:
        return PolynomialSums(self.changes + other.changes, self.rewards + other.rewards, self.steps + other.steps)


@dataclass(frozen=True, eq=False)
class WholePolynomials(WholeFit[PolynomialSums]):
    """The box, the terms, stops, ends and noise stay those of the sample; coefficients are told by all steps.

    Rare jumps are left out as in the sample: by the limits that it sets to what its own model misses.
    """

    base: ContinuousModel
    dynamics: PolynomialDynamics
    reward: PolynomialReward
    objective: Objective
    jumps: Float[np.ndarray, " dimensions"]
    """A change that the base misses by more is a jump, in units of the box."""
    largest_reward: float

    @classmethod
    def of(
        cls, base: ContinuousModel, data: Trajectories, objective: Objective, rules: FitRules
    ) -> WholePolynomials | None:
        """`data` is what the base was fitted to; None where it is not of polynomials."""
        dynamics, reward = base.dynamics, base.reward
        if not (isinstance(dynamics, PolynomialDynamics) and isinstance(reward, PolynomialReward)):
            return None
        table = TransitionTable.of(data, None)
        largest = max(float(np.abs(table.rewards).max()), np.finfo(float).tiny)
        unlimited = np.full(table.states.shape[1], np.inf)
        found = cls(base, dynamics, reward, objective, unlimited, largest)
        positions, actions, targets = found._changes(table)
        misses = np.abs(targets - dynamics.change.of_actions(positions, actions))
        return replace(found, jumps=jump_limits(misses, np.ones(len(misses), dtype=bool), rules))

    @property
    def effort(self) -> int:
        terms = max(len(each.terms) for each in (self.dynamics.change, self.reward.polynomial))
        return 1 + (terms // _USUAL_TERMS) ** 2

    def _sums(self, data: Trajectories, marginal: Float[np.ndarray, " steps"] | None) -> PolynomialSums:
        table = TransitionTable.of(data, None)
        weights = self.weights(len(table), marginal)
        return PolynomialSums(self._change_sums(table, weights), self._reward_sums(table, weights), len(table))

    def model(self, sums: PolynomialSums) -> ContinuousModel:
        dynamics = replace(self.dynamics, change=sums.changes.polynomial())
        paid = sums.rewards.polynomial()
        paid = replace(paid, coefficients=paid.coefficients * self.largest_reward)
        return replace(self.base, dynamics=dynamics, reward=replace(self.reward, polynomial=paid))

    def _changes(self, table: TransitionTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, actions and changes of state, in units of the box, of steps that a smooth model can learn from."""
        rows = self._smooth(table)
        states, width = table.states[rows], np.asarray(self.dynamics.half_width)
        positions = (states - np.asarray(self.dynamics.center)) / width
        return positions, table.actions[rows], (table.next_states[rows] - states) / width

    def _smooth(self, table: TransitionTable) -> np.ndarray:
        return np.flatnonzero(table.followed & ~self.base.saturation.decides(table.next_states))

    def _change_sums(self, table: TransitionTable, weights: Float[np.ndarray, " steps"]) -> TermMoments:
        positions, actions, targets = self._changes(table)
        weights, change = weights[self._smooth(table)], self.dynamics.change
        if np.isfinite(self.jumps).any():
            misses = np.abs(targets - change.of_actions(positions, actions))
            weights = np.where((misses > self.jumps).any(axis=1), 0.0, weights)
        return TermMoments.of(change, positions, actions, targets, weights)

    def _reward_sums(self, table: TransitionTable, weights: Float[np.ndarray, " steps"]) -> TermMoments:
        """In units of the largest reward of the sample."""
        reward = self.reward
        rows = np.flatnonzero(table.followed) if reward.after else np.arange(len(table))
        states = (table.next_states if reward.after else table.states)[rows]
        if reward.base is not None:
            # Where the sample never was, powers may be beyond floating point: such places count as the border.
            with np.errstate(over="ignore"):
                states = reward.base**states
        positions = (states - np.asarray(reward.center)) / np.asarray(reward.half_width)
        targets = table.rewards[rows, None] / self.largest_reward
        return TermMoments.of(reward.polynomial, positions, table.actions[rows], targets, weights[rows])
