"""What a kind of dynamics is: how it is fitted, and how it becomes a model."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from repbm.models._continuous import ContinuousModel
from repbm.models.dynamics._base import Dynamics
from repbm.models.dynamics._context import FitContext
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

    @property
    def simplest(self) -> DynamicsKind:
        """The kind for a log that is too short to choose."""
        return self

    def narrowed(self, dynamics: Dynamics) -> DynamicsKind:
        """The kind to use again on other parts of the log, where this one chose among several."""
        return self
