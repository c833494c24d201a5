"""What follows a state and an action."""

from __future__ import annotations

from abc import abstractmethod

from jaxtyping import Array, Float, Int

from repbm.models.parts._part import Part
from repbm.models.transitions._arrays import module_of


class Dynamics(Part):
    """The expected next state of every action."""

    @abstractmethod
    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, "batch actions dimensions"]: ...

    def taken(
        self, states: Float[Array, "batch dimensions"], actions: Int[Array, " batch"]
    ) -> Float[Array, "batch dimensions"]:
        """The expected next state of one action a row."""
        return self(states)[module_of(states).arange(states.shape[0]), actions]
