"""What every fit of dynamics starts from, and what it adds to its dynamics to make a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import FitRules, InputError, stream
from repbm.data import Support, Trajectories
from repbm.models._continuous import ContinuousModel
from repbm.models.dynamics._base import Dynamics
from repbm.models.objectives._objective import Objective
from repbm.models.parts._noise import Noise
from repbm.models.parts._noise_fit import Missed, residual_noise
from repbm.models.parts._reward_fit import fit_reward
from repbm.models.parts._reward_noise_fit import fit_reward_noise
from repbm.models.parts._saturation import Saturation, find_saturation
from repbm.models.parts._termination import Termination
from repbm.models.parts._termination_fit import fit_ends
from repbm.models.regression._selected import FOLDS
from repbm.models.training._progress import Progress
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable

_ENDS: WeakKeyDictionary[Trajectories, dict[tuple[int, FitRules], tuple[Termination, bool]]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class FitContext:
    """The transitions of a log with their weights, a tenth of its episodes held out, and its saturation.

    `smooth` says from which steps a smooth model can learn what follows: it was logged, and no stop decided it.
    """

    data: Trajectories
    table: TransitionTable
    objective: Objective
    weights: Float[np.ndarray, " steps"]
    """How much every step counts in the objective."""
    held_out: Bool[np.ndarray, " steps"]
    folds: Int[np.ndarray, " steps"]
    """Which of a few parts of the episodes a step is in."""
    smooth: Bool[np.ndarray, " steps"]
    saturation: Saturation
    box: Range
    horizon: int
    seed: int
    rules: FitRules
    progress: Progress | None = None

    @classmethod
    def of(
        cls,
        data: Trajectories,
        support: Support | None,
        objective: Objective,
        horizon: int,
        seed: int = 0,
        rules: FitRules = FitRules(),  # noqa: B008 - frozen
        progress: Progress | None = None,
    ) -> FitContext:
        """`support` is that of the policy; without one there is no risk under it."""
        used = support if objective.target or objective.balances else None
        table = TransitionTable.of(data, used, rules.trust, horizon, rules.horizon_end_share, rules.weight_limit)
        weights = objective.weights(table)
        if not (weights > 0).any():
            raise InputError(
                f"{objective.name} is not defined: no episode follows the policy even at its first step",
                fix="use repbm or am, which also learn from the other episodes",
            )
        saturation, decided = find_saturation(table, rules)
        smooth = table.followed & ~decided.any(axis=1)
        held_out, box = _held_out(data, table, seed, rules.held_out_share), Range.of(table)
        return cls(
            data=data,
            table=table,
            objective=objective,
            weights=weights,
            held_out=held_out,
            folds=_folds(data, table, seed),
            smooth=smooth,
            saturation=saturation,
            box=box,
            horizon=horizon,
            seed=seed,
            rules=rules,
            progress=progress,
        )

    def take(self, episodes: Int[np.ndarray, " some"], objective: Objective) -> FitContext:
        """What a fit to some of the episodes starts from; their weights, range and saturation are those of all."""
        rows = np.flatnonzero(np.isin(self.table.episodes, episodes))
        table = self.table.take(rows)
        return replace(
            self,
            data=self.data.take(episodes),
            table=table,
            objective=objective,
            weights=objective.weights(table),
            held_out=self.held_out[rows],
            folds=self.folds[rows],
            smooth=self.smooth[rows],
        )

    @property
    def action_count(self) -> int:
        return self.table.action_count

    @cached_property
    def changes(self) -> Float[np.ndarray, "steps dimensions"]:
        """s' - s of every step; NaN where s' was not logged."""
        return self.table.next_states - self.table.states

    def rows(self, action: int) -> Int[np.ndarray, " some"]:
        """The steps with this action from which a smooth model can learn, those that are not held out."""
        return np.flatnonzero((self.table.actions == action) & self.smooth & ~self.held_out & (self.weights > 0))

    def noise(self, rows: Int[np.ndarray, " some"], residuals: Float[np.ndarray, "some dimensions"]) -> Noise | None:
        """What dynamics miss on steps that they were not fitted to, where that is worth drawing."""
        table = self.table
        missed = Missed(residuals, self.changes[rows], table.states[rows], table.actions[rows], self.folds[rows])
        return residual_noise(missed, self.action_count, self.box, stream(self.seed, "noise"), self.rules)

    def _ends(self) -> tuple[Termination, bool]:
        """No objective weighs ends: those of a log are fitted once, for all models of it."""
        known = _ENDS.setdefault(self.data, {})
        asked = self.horizon, self.rules
        if asked not in known:
            known[asked] = fit_ends(self.table, self.box, self.rules)
        return known[asked]

    def model(self, dynamics: Dynamics, noise: Noise | None) -> ContinuousModel:
        """The dynamics with saturation, reward and termination of the log."""
        termination, on_arrival = self._ends()
        reward = fit_reward(self.table, self.weights, self.held_out, self.folds, self.box, self.rules)
        given = self.table, self.weights, self.folds, self.box, reward, self.horizon
        low, high = self.box.counted(self.table.states)
        return ContinuousModel(
            dynamics=dynamics,
            saturation=self.saturation,
            reward=reward,
            termination=termination,
            noise=noise,
            low=low,
            high=high,
            labels=self.data.actions.labels,
            observation_names=self.data.observation_names,
            ends_on_arrival=on_arrival,
            horizon=self.horizon,
            reward_noise=fit_reward_noise(*given, stream(self.seed, "reward-noise"), self.rules),
        )


def _held_out(data: Trajectories, table: TransitionTable, seed: int, share: float) -> Bool[np.ndarray, " steps"]:
    """A random share of the episodes, at least one; of a single episode, that share of its steps."""
    generator = stream(seed, "held-out")
    if len(data) == 1:
        return generator.random(len(table)) < share
    chosen = np.zeros(len(data), dtype=bool)
    chosen[generator.permutation(len(data))[: max(1, round(share * len(data)))]] = True
    return chosen[table.episodes]


def _folds(data: Trajectories, table: TransitionTable, seed: int) -> Int[np.ndarray, " steps"]:
    """Random parts of whole episodes; of few episodes, of their steps."""
    generator = stream(seed, "cross-fitting")
    if len(data) < FOLDS:
        return generator.permutation(len(table)) % FOLDS
    return (generator.permutation(len(data)) % FOLDS)[table.episodes]
