"""What follows a state and an action."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from jaxtyping import Array, Float, Int

from repbm.models.parts._part import Part
from repbm.models.transitions._arrays import module_of


class Dynamics(Part):
    """The expected next state of every action."""

    @property
    def effort(self) -> int:
        """About how many times as long a step takes as one of polynomials."""
        return 1

    @abstractmethod
    def __call__(
        self, states: Float[Array | np.ndarray, "batch dimensions"]
    ) -> Float[Array | np.ndarray, "batch actions dimensions"]: ...

    def taken(
        self, states: Float[Array | np.ndarray, "batch dimensions"], actions: Int[Array | np.ndarray, " batch"]
    ) -> Float[Array | np.ndarray, "batch dimensions"]:
        """The expected next state of one action a row."""
        return self(states)[module_of(states).arange(states.shape[0]), actions]
