"""What a kind of dynamics is: how it is fitted, and how it becomes a model."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Int

from repbm.core import BalanceRules
from repbm.models._candidates import ContinuousCandidates
from repbm.models._continuous import ContinuousModel
from repbm.models._split_candidates import SplitCandidates
from repbm.models.dynamics._base import Dynamics
from repbm.models.dynamics._context import FitContext
from repbm.models.objectives._objective import Objective
from repbm.models.parts._noise import Noise
from repbm.models.transitions._arrays import in_float64


class DynamicsKind(ABC):
    """One way to learn what follows a state and an action. Yours needs a `name` and a `fit`."""

    name: str

    @abstractmethod
    def fit(self, context: FitContext) -> Dynamics:
        """The dynamics that explain the logged changes of state best."""

    def model(self, context: FitContext) -> ContinuousModel:
        """The fitted dynamics with reward, termination and noise of the log."""
        dynamics = self.fit(context)
        return context.model(dynamics, self.noise(context, dynamics))

    def noise(self, context: FitContext, dynamics: Dynamics) -> Noise | None:
        """What the dynamics miss on held-out steps, where that is more than a small share of the movement."""
        held = np.flatnonzero(context.held_out & context.smooth)
        if not len(held):
            return None
        states, actions = context.table.states[held], context.table.actions[held]
        with in_float64():
            expected = np.asarray(dynamics(states))[np.arange(len(held)), actions]
        return context.noise(held, states + context.changes[held] - expected)

    def objectives(self, wanted: Objective, rules: BalanceRules) -> tuple[Objective, ...]:
        """Those that are compared where the strength of the risk under the policy is to be chosen; 0 is the first."""
        return tuple(wanted.with_strength(strength) for strength in (0.0, *rules.strengths))

    def candidates(
        self, context: FitContext, base: ContinuousModel, folds: Int[np.ndarray, " episodes"], rules: BalanceRules
    ) -> ContinuousCandidates:
        """Models that are good at each of these objectives. The episodes of the first fold judge fits to the others.

        `context` is that of the wanted objective, `base` the model of all episodes that knows nothing of the policy.
        """
        objectives = self.objectives(context.objective, rules)
        others = np.flatnonzero(folds != 0)

        def fitted(objective: Objective, without: int | None) -> ContinuousModel:
            if without is None and objective == objectives[0]:
                return base
            episodes = np.arange(len(folds)) if without is None else others
            return self.model(context.take(episodes, objective))

        return SplitCandidates(context.table, objectives, np.where(folds == 0, 0, -1), fitted)

    @property
    def simplest(self) -> DynamicsKind:
        """The kind for a log that is too short to choose."""
        return self

    def narrowed(self, dynamics: Dynamics) -> DynamicsKind:
        """The kind to use again on other parts of the log, where this one chose among several."""
        return self
