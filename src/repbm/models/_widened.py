"""A model that was fitted without some columns, asked about states that have them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import NoveltyRules
from repbm.data import Informative, Trajectories
from repbm.models._model import Model, ModelValues
from repbm.models.transitions._arrays import AnyArray
from repbm.policies import ObservationPolicy, Widened


class WidenedModel(Model):
    """States, logs and policies have all columns of the log; the model those that tell something."""

    inner: Model
    sources: Int[AnyArray, " columns"]
    constants: Float[AnyArray, " columns"]
    """See `Informative`."""

    @classmethod
    def of(cls, model: Model, informative: Informative, observation_names: tuple[str, ...]) -> WidenedModel:
        return cls(
            labels=model.labels,
            horizon=model.horizon,
            observation_names=observation_names,
            inner=model,
            sources=informative.sources,
            constants=informative.constants,
        )

    @property
    def exact(self) -> bool:
        return self.inner.exact

    @property
    def stochastic(self) -> bool:
        return self.inner.stochastic

    def values(
        self, policy: ObservationPolicy, states: Float[np.ndarray, "states dimensions"], **given: Any
    ) -> ModelValues:
        return self.inner.values(self._acting(policy), self._columns.narrowed(states), **given)

    def returns(
        self, policy: ObservationPolicy, states: Float[np.ndarray, "states dimensions"], **given: Any
    ) -> Float[np.ndarray, "rollouts states"]:
        return self.inner.returns(self._acting(policy), self._columns.narrowed(states), **given)

    def step_values(
        self,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "states dimensions"],
        steps_left: Int[np.ndarray, " states"],
        actions: Int[np.ndarray, " states"],
        odds: Float[np.ndarray, "states actions"],
        **given: Any,
    ) -> tuple[Float[np.ndarray, " states"], Float[np.ndarray, " states"]]:
        narrow = self._columns.narrowed(states)
        return self.inner.step_values(self._acting(policy), narrow, steps_left, actions, odds, **given)

    def losses(self, data: Trajectories) -> Float[np.ndarray, " steps"]:
        return self.inner.losses(self._columns.log(data))

    def path_error(self, data: Trajectories, ahead: int, most_windows: int = 4096) -> float:
        return self.inner.path_error(self._columns.log(data), ahead, most_windows)

    def knows(self, states: Float[np.ndarray, "states dimensions"]) -> Bool[np.ndarray, " states"]:
        return self.inner.knows(self._columns.narrowed(states))

    def novelty(
        self, data: Trajectories, policy: ObservationPolicy, horizon: int, rules: NoveltyRules, seed: int = 0
    ) -> Float[np.ndarray, " horizon"]:
        return self.inner.novelty(self._columns.log(data), self._acting(policy), horizon, rules, seed)

    def support_probability(
        self,
        data: Trajectories,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "individuals dimensions"],
        horizon: int,
        rules: NoveltyRules,
        seed: int = 0,
    ) -> Float[np.ndarray, " individuals"]:
        log, narrow = self._columns.log(data), self._columns.narrowed(states)
        return self.inner.support_probability(log, self._acting(policy), narrow, horizon, rules, seed)

    @cached_property
    def _columns(self) -> Informative:
        names = self.observation_names or tuple(map(str, range(len(self.sources))))
        return Informative(np.asarray(self.sources), np.asarray(self.constants), names)

    def _acting(self, policy: ObservationPolicy) -> ObservationPolicy:
        return Widened(policy, self._columns)
