"""What follows a state and an action."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from jaxtyping import Float, Int

from repbm.models.parts._part import Part
from repbm.models.transitions._arrays import AnyArray, module_of


class Dynamics(Part):
    """The expected next state of every action."""

    compiled: ClassVar[bool] = False
    """Whether rollouts are worth compiling, under policies that JAX can trace."""

    @property
    def effort(self) -> int:
        """About how many times as long a step takes as one of polynomials."""
        return 1

    @abstractmethod
    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch actions dimensions"]: ...

    def taken(
        self, states: Float[AnyArray, "batch dimensions"], actions: Int[AnyArray, " batch"]
    ) -> Float[AnyArray, "batch dimensions"]:
        """The expected next state of one action a row."""
        return self(states)[module_of(states).arange(states.shape[0]), actions]
