"""Closed forms whose coefficients are fitted anew for any strength of the risk under the policy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from repbm.models._candidates import ContinuousCandidates
from repbm.models._continuous import ContinuousModel
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._functions import PolynomialDynamics
from repbm.models.dynamics._jumps import outlying
from repbm.models.objectives._objective import Objective
from repbm.models.parts._reward import PolynomialReward
from repbm.models.regression._risk_moments import RiskMoments
from repbm.models.transitions._table import TransitionTable


@dataclass(frozen=True, eq=False)
class ReweightedClosedForm(ContinuousCandidates):
    """The behavior model, with the same terms, ends and noise, and coefficients that are good at each objective.

    What terms there are is told best by all steps alike; what they amount to may be told by those that matter. Sums of
    kernels stay as they are: they follow the log so closely that weights hardly move them.
    """

    base: ContinuousModel
    changes: RiskMoments | None
    rewards: RiskMoments
    largest_reward: float

    @classmethod
    def of(
        cls,
        context: FitContext,
        base: ContinuousModel,
        objectives: tuple[Objective, ...],
        folds: Int[np.ndarray, " episodes"],
    ) -> ReweightedClosedForm:
        """`context` is that of an objective that knows the policy, `base` the model of the first one."""
        table = context.table
        fold = folds[table.episodes]
        largest = max(float(np.abs(table.rewards).max()), np.finfo(float).tiny)
        assert isinstance(base.reward, PolynomialReward)
        count = int(folds.max()) + 1
        rewards = _reward_moments(table, base.reward, largest, fold, count)
        changes = _change_moments(context, base, fold, count)
        return cls(table, objectives, folds, base, changes, rewards, largest)

    def model(self, number: int) -> ContinuousModel:
        return self.base if number == 0 else self._fitted(number, None)

    def without(self, number: int, fold: int) -> ContinuousModel:
        return self._fitted(number, fold)

    def _fitted(self, number: int, without: int | None) -> ContinuousModel:
        strength = self.objectives[number].target / self.objectives[number].behavior
        dynamics, reward = self.base.dynamics, self.base.reward
        if self.changes is not None:
            assert isinstance(dynamics, PolynomialDynamics)
            dynamics = replace(dynamics, change=self.changes.polynomial(strength, without))
        assert isinstance(reward, PolynomialReward)
        paid = self.rewards.polynomial(strength, without)
        paid = replace(paid, coefficients=paid.coefficients * self.largest_reward)
        return replace(self.base, dynamics=dynamics, reward=replace(reward, polynomial=paid))


def _change_moments(
    context: FitContext, base: ContinuousModel, fold: Int[np.ndarray, " steps"], fold_count: int
) -> RiskMoments | None:
    """Of the changes of state, in units of the box, without rare jumps."""
    if not isinstance(base.dynamics, PolynomialDynamics):
        return None
    table, box, rows = context.table, context.box, np.flatnonzero(context.smooth)
    positions, actions = box.place(table.states[rows]), table.actions[rows]
    targets = context.changes[rows] / box.half_width
    missed = targets - base.dynamics.change.of_actions(positions, actions)
    ordinary = ~outlying(missed, np.ones(len(rows), dtype=bool), context.rules)
    weights = ordinary.astype(np.float64)
    return RiskMoments.of(
        base.dynamics.change, positions, actions, targets, weights, table.marginal[rows], fold[rows], fold_count
    )


def _reward_moments(
    table: TransitionTable, reward: PolynomialReward, largest: float, fold: Int[np.ndarray, " steps"], fold_count: int
) -> RiskMoments:
    """Of the rewards, in units of the largest."""
    rows = np.flatnonzero(table.followed) if reward.after else np.arange(len(table))
    states: Float[np.ndarray, "rows dimensions"] = (table.next_states if reward.after else table.states)[rows]
    if reward.base is not None:
        states = reward.base**states
    positions = (states - np.asarray(reward.center)) / np.asarray(reward.half_width)
    targets, every = table.rewards[rows, None] / largest, np.ones(len(rows))
    return RiskMoments.of(
        reward.polynomial, positions, table.actions[rows], targets, every, table.marginal[rows], fold[rows], fold_count
    )
