"""What the expected next state misses: draws from what was missed in the log, everywhere or in states alike."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from repbm.models.parts._part import Part
from repbm.models.regression._features import exponents, features


class Noise(Part):
    """What the expected next state misses: draws from held-out residuals of the same action."""

    residuals: Float[Array | np.ndarray, "actions draws dimensions"]

    def draw(
        self, key: Array, actions: Int[Array, " batch"], states: Float[Array, "batch dimensions"]
    ) -> Float[Array, "batch dimensions"]:
        chosen = jax.random.randint(key, actions.shape, 0, self.residuals.shape[1])
        return jnp.asarray(self.residuals)[actions, chosen]


class LocalNoise(Noise):
    """Draws that depend on the state: residuals in units of a spread, from steps whose states are alike.

    The spread of component k is exp(score_k / 2), the score a polynomial of the place in the box, between `least` and
    `most`. States are alike that a tree of every action brings to the same leaf; the residuals of leaf l are the rows
    from l * draws on.
    """

    center: Float[Array | np.ndarray, " dimensions"]
    half_width: Float[Array | np.ndarray, " dimensions"]
    scores: Float[Array | np.ndarray, "actions features dimensions"]
    least: Float[Array | np.ndarray, "actions dimensions"]
    most: Float[Array | np.ndarray, "actions dimensions"]
    column: Int[Array | np.ndarray, "actions nodes"]
    threshold: Float[Array | np.ndarray, "actions nodes"]
    child: Int[Array | np.ndarray, "actions nodes two"]
    leaf: Int[Array | np.ndarray, "actions nodes"]
    degree: int = eqx.field(static=True)
    depth: int = eqx.field(static=True)
    draws: int = eqx.field(static=True)

    def draw(
        self, key: Array, actions: Int[Array, " batch"], states: Float[Array, "batch dimensions"]
    ) -> Float[Array, "batch dimensions"]:
        rows = jnp.arange(states.shape[0])
        position = jnp.clip((states - self.center) / self.half_width, -1.0, 1.0)
        node = jnp.zeros_like(actions)
        for _ in range(self.depth):
            right = position[rows, jnp.asarray(self.column)[actions, node]] > jnp.asarray(self.threshold)[actions, node]
            node = jnp.asarray(self.child)[actions, node, right.astype(node.dtype)]
        first = jnp.asarray(self.leaf)[actions, node] * self.draws
        chosen = first + jax.random.randint(key, actions.shape, 0, self.draws)
        x = features(position, exponents(states.shape[1], self.degree), jnp)
        score = jnp.einsum("nf,afk->nak", x, jnp.asarray(self.scores))[rows, actions]
        score = jnp.clip(score, jnp.asarray(self.least)[actions], jnp.asarray(self.most)[actions])
        return jnp.exp(score / 2) * jnp.asarray(self.residuals)[actions, chosen]
