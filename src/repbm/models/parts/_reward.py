"""What a step is worth."""

from __future__ import annotations

from abc import abstractmethod

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from repbm.models.parts._part import Part
from repbm.models.regression._polynomial import Polynomial
from repbm.models.training._networks import ScaledNetwork


class Reward(Part):
    """The expected reward of every action, from the state before it, and the one after it where that helps."""

    @abstractmethod
    def __call__(
        self,
        states: Float[Array | np.ndarray, "batch dimensions"],
        next_states: Float[Array | np.ndarray, "batch dimensions"],
    ) -> Float[Array | np.ndarray, "batch actions"]: ...


class PolynomialReward(Reward):
    """One polynomial an action, of the state x before or of the one after; of base^x where there is a base."""

    center: Float[Array | np.ndarray, " dimensions"]
    half_width: Float[Array | np.ndarray, " dimensions"]
    polynomial: Polynomial
    after: bool = eqx.field(static=True)
    base: float | None = eqx.field(static=True, default=None)

    def __call__(
        self,
        states: Float[Array | np.ndarray, "batch dimensions"],
        next_states: Float[Array | np.ndarray, "batch dimensions"],
    ) -> Float[Array | np.ndarray, "batch actions"]:
        looked_at = next_states if self.after else states
        if self.base is not None:
            looked_at = self.base**looked_at
        return self.polynomial((looked_at - self.center) / self.half_width)[..., 0]


class NetworkReward(Reward):
    """The reward that a network predicts from the state before."""

    network: ScaledNetwork

    def __call__(
        self,
        states: Float[Array | np.ndarray, "batch dimensions"],
        next_states: Float[Array | np.ndarray, "batch dimensions"],
    ) -> Float[Array | np.ndarray, "batch actions"]:
        return self.network.outcomes(self.network.features(states))[..., 0]
