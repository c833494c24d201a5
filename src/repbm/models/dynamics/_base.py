"""What follows a state and an action."""

from __future__ import annotations

from abc import abstractmethod

from jaxtyping import Array, Float

from repbm.models.parts._part import Part


class Dynamics(Part):
    """The expected next state of every action."""

    @abstractmethod
    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, "batch actions dimensions"]: ...
