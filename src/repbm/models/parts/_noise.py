"""What an expectation misses, of the next state or of the reward: draws from what was missed in the log."""

from __future__ import annotations

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Int

from repbm.core import SideBySide
from repbm.models.parts._part import Part
from repbm.models.regression._features import exponents, features
from repbm.models.transitions._arrays import by_action, module_of, random_integers


class Noise(Part):
    """What the expected next state, or reward, misses: draws from held-out residuals of the same action."""

    residuals: Float[Array | np.ndarray, "actions draws outputs"]

    def draw(
        self,
        key: Array | np.random.Generator | SideBySide,
        actions: Int[Array | np.ndarray, " batch"],
        states: Float[Array | np.ndarray, "batch dimensions"],
    ) -> Float[Array | np.ndarray, "batch outputs"]:
        chosen = random_integers(key, actions.shape, self.residuals.shape[1])
        return module_of(states).asarray(self.residuals)[actions, chosen]


class LocalNoise(Noise):
    """Draws that depend on the state: residuals in units of a spread, from steps whose states are alike.

    The spread of component k is exp(score_k / 2), the score a polynomial of the place in the box, between `least` and
    `most`. States are alike that a tree of every action brings to the same leaf; the residuals of leaf l are the rows
    from l * draws on.
    """

    center: Float[Array | np.ndarray, " dimensions"]
    half_width: Float[Array | np.ndarray, " dimensions"]
    scores: Float[Array | np.ndarray, "actions features outputs"]
    least: Float[Array | np.ndarray, "actions outputs"]
    most: Float[Array | np.ndarray, "actions outputs"]
    column: Int[Array | np.ndarray, "actions nodes"]
    threshold: Float[Array | np.ndarray, "actions nodes"]
    child: Int[Array | np.ndarray, "actions nodes two"]
    leaf: Int[Array | np.ndarray, "actions nodes"]
    degree: int = eqx.field(static=True)
    depth: int = eqx.field(static=True)
    draws: int = eqx.field(static=True)

    def draw(
        self,
        key: Array | np.random.Generator | SideBySide,
        actions: Int[Array | np.ndarray, " batch"],
        states: Float[Array | np.ndarray, "batch dimensions"],
    ) -> Float[Array | np.ndarray, "batch outputs"]:
        numpy = module_of(states)
        rows = numpy.arange(states.shape[0])
        position = numpy.clip((states - self.center) / self.half_width, -1.0, 1.0)
        node = numpy.zeros_like(actions)
        for _ in range(self.depth):
            right = (
                position[rows, numpy.asarray(self.column)[actions, node]] > numpy.asarray(self.threshold)[actions, node]
            )
            node = numpy.asarray(self.child)[actions, node, right.astype(node.dtype)]
        first = numpy.asarray(self.leaf)[actions, node] * self.draws
        chosen = first + random_integers(key, actions.shape, self.draws)
        x = features(position, exponents(states.shape[1], self.degree), numpy)
        score = by_action(x, numpy.asarray(self.scores))[rows, actions]
        score = numpy.clip(score, numpy.asarray(self.least)[actions], numpy.asarray(self.most)[actions])
        return numpy.exp(score / 2) * numpy.asarray(self.residuals)[actions, chosen]
