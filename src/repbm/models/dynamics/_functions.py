"""Dynamics whose change of state is one function an action: a polynomial, a sum of kernels, or a network."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.models.dynamics._base import Dynamics
from repbm.models.regression._kernel import KernelSum
from repbm.models.regression._polynomial import Polynomial
from repbm.models.training._networks import ScaledNetwork
from repbm.models.transitions._arrays import AnyArray


class PolynomialDynamics(Dynamics):
    """The change of state as one polynomial an action."""

    center: Float[AnyArray, " dimensions"]
    half_width: Float[AnyArray, " dimensions"]
    change: Polynomial

    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch actions dimensions"]:
        return states[:, None] + self.half_width * self.change((states - self.center) / self.half_width)

    def taken(
        self, states: Float[AnyArray, "batch dimensions"], actions: Int[AnyArray, " batch"]
    ) -> Float[AnyArray, "batch dimensions"]:
        """In NumPy only the change of the action itself is brought to units of the state."""
        if not isinstance(states, np.ndarray):
            return super().taken(states, actions)
        change = self.change((states - self.center) / self.half_width)[np.arange(len(states)), actions]
        return states + self.half_width * change


class KernelDynamics(Dynamics):
    """The change of state as one sum of kernels an action."""

    center: Float[AnyArray, " dimensions"]
    half_width: Float[AnyArray, " dimensions"]
    change: KernelSum

    @property
    def effort(self) -> int:
        return 16

    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch actions dimensions"]:
        return states[:, None] + self.half_width * self.change((states - self.center) / self.half_width)

    def taken(
        self, states: Float[AnyArray, "batch dimensions"], actions: Int[AnyArray, " batch"]
    ) -> Float[AnyArray, "batch dimensions"]:
        """In NumPy only the kernels of the action itself."""
        if not isinstance(states, np.ndarray):
            return super().taken(states, actions)
        positions = (states - self.center) / self.half_width
        return states + self.half_width * self.change.of_actions(positions, np.asarray(actions))


class NetworkDynamics(Dynamics):
    """The state plus the change that a network predicts."""

    network: ScaledNetwork
    compiled = True

    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch actions dimensions"]:
        return self.moved(states, self.network.predicted(states))

    def moved(
        self, states: Float[AnyArray, "batch dimensions"], predicted: Float[AnyArray, "batch actions outputs"]
    ) -> Float[AnyArray, "batch actions dimensions"]:
        """The same, where it is known already what the network predicts."""
        return states[:, None] + predicted[..., 1:]
