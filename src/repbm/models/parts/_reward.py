"""What a step is worth."""

from __future__ import annotations

from abc import abstractmethod

from jaxtyping import Float

from repbm.models.parts._part import Part, static
from repbm.models.regression._polynomial import Polynomial
from repbm.models.training._networks import ScaledNetwork
from repbm.models.transitions._arrays import AnyArray


class Reward(Part):
    """The expected reward of every action, from the state before it, and the one after it where that helps."""

    @abstractmethod
    def __call__(
        self,
        states: Float[AnyArray, "batch dimensions"],
        next_states: Float[AnyArray, "batch dimensions"],
    ) -> Float[AnyArray, "batch actions"]: ...


class PolynomialReward(Reward):
    """One polynomial an action, of the state x before or of the one after; of base^x where there is a base."""

    center: Float[AnyArray, " dimensions"]
    half_width: Float[AnyArray, " dimensions"]
    polynomial: Polynomial
    after: bool = static()
    base: float | None = static(default=None)

    def __call__(
        self,
        states: Float[AnyArray, "batch dimensions"],
        next_states: Float[AnyArray, "batch dimensions"],
    ) -> Float[AnyArray, "batch actions"]:
        looked_at = next_states if self.after else states
        if self.base is not None:
            looked_at = self.base**looked_at
        return self.polynomial((looked_at - self.center) / self.half_width)[..., 0]


class NetworkReward(Reward):
    """The reward that a network predicts from the state before."""

    network: ScaledNetwork

    def __call__(
        self,
        states: Float[AnyArray, "batch dimensions"],
        next_states: Float[AnyArray, "batch dimensions"],
    ) -> Float[AnyArray, "batch actions"]:
        return self.network.predicted(states)[..., 0]
