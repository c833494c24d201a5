"""The paper's termination: a small network on the raw next state, and a hard decision."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from repbm.models.parts._termination import Termination
from repbm.models.training._networks import Layers
from repbm.models.transitions._arrays import AnyArray


class TerminationNetwork(Termination):
    """The episode ends where sigmoid(score) > 1/2, the score a network of the state as it is."""

    layers: Layers
    output: Float[AnyArray, " width"]
    intercept: Float[AnyArray, ""]

    @classmethod
    def random(cls, key: AnyArray, dimensions: int, widths: tuple[int, ...] = (32, 32)) -> TerminationNetwork:
        import jax

        one, two, three = jax.random.split(key, 3)
        bound = 1 / np.sqrt(widths[-1])
        return cls(
            Layers.random(one, (dimensions, *widths)),
            jax.random.uniform(two, (widths[-1],), np.float32, -bound, bound),
            jax.random.uniform(three, (), np.float32, -bound, bound),
        )

    def scores(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, " batch"]:
        return self.layers(states) @ self.output + self.intercept

    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, " batch"]:
        return (self.scores(states) > 0).astype(states.dtype)
