"""What an expectation misses, of the next state or of the reward: draws from what was missed in the log."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.core import SideBySide
from repbm.models.parts._part import Part, static
from repbm.models.regression._features import exponents, features
from repbm.models.transitions._arrays import AnyArray, by_action, module_of, random_integers


class Noise(Part):
    """What the expected next state, or reward, misses: draws from held-out residuals of the same action."""

    residuals: Float[AnyArray, "actions draws outputs"]

    def draw(
        self,
        key: AnyArray | np.random.Generator | SideBySide,
        actions: Int[AnyArray, " batch"],
        states: Float[AnyArray, "batch dimensions"],
    ) -> Float[AnyArray, "batch outputs"]:
        chosen = random_integers(key, actions.shape, self.residuals.shape[1])
        return module_of(states).asarray(self.residuals)[actions, chosen]


class LocalNoise(Noise):
    """Draws that depend on the state: residuals in units of a spread, from steps whose states are alike.

    The spread of component k is exp(score_k / 2), the score a polynomial of the place in the box, between `least` and
    `most`. States are alike that a tree of every action brings to the same leaf; the residuals of leaf l are the rows
    from l * draws on.
    """

    center: Float[AnyArray, " dimensions"]
    half_width: Float[AnyArray, " dimensions"]
    scores: Float[AnyArray, "actions features outputs"]
    least: Float[AnyArray, "actions outputs"]
    most: Float[AnyArray, "actions outputs"]
    column: Int[AnyArray, "actions nodes"]
    threshold: Float[AnyArray, "actions nodes"]
    child: Int[AnyArray, "actions nodes two"]
    leaf: Int[AnyArray, "actions nodes"]
    degree: int = static()
    depth: int = static()
    draws: int = static()

    def draw(
        self,
        key: AnyArray | np.random.Generator | SideBySide,
        actions: Int[AnyArray, " batch"],
        states: Float[AnyArray, "batch dimensions"],
    ) -> Float[AnyArray, "batch outputs"]:
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
