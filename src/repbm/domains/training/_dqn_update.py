"""The updates of deep Q learning, many in one compiled call."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from repbm.domains.training._dqn import DQNOptions, Steps

Layers = list[tuple[Array, Array]]


class Learner(eqx.Module):
    """A tanh network of action values, the target network that follows it, and the state of Adam."""

    network: Layers
    target: Layers
    moments: optax.OptState
    options: DQNOptions = eqx.field(static=True)

    @classmethod
    def fresh(cls, options: DQNOptions, actions: int, generator: np.random.Generator) -> Learner:
        sizes = (len(options.scales), *options.hidden, actions)
        network = [
            (jnp.asarray(generator.normal(size=(m, n)) / np.sqrt(m), jnp.float32), jnp.zeros(n, jnp.float32))
            for m, n in pairwise(sizes)
        ]
        return cls(network, network, optax.adam(options.rate).init(network), options)

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.asarray(w, np.float64), np.asarray(b, np.float64)) for w, b in self.network]

    def improved(self, batches: Steps) -> Learner:
        """After one update for each of the batches, in their order; observations are scaled already."""
        columns = [jnp.asarray(values) for values in vars(batches).values()]
        return _improved(self, columns)


@eqx.filter_jit
def _improved(learner: Learner, batches: list[Array]) -> Learner:
    options = learner.options
    adam = optax.adam(options.rate)

    def update(carried: Any, batch: list[Array]) -> tuple[Any, None]:
        network, target, moments = carried
        slopes = jax.grad(_loss)(network, target, batch, options.discount)
        changes, moments = adam.update(slopes, moments, network)
        network = optax.apply_updates(network, changes)
        target = optax.incremental_update(network, target, options.followed)
        return (network, target, moments), None

    start = (learner.network, learner.target, learner.moments)
    (network, target, moments), _ = jax.lax.scan(update, start, batches)
    return Learner(network, target, moments, options)


def _loss(network: Layers, target: Layers, batch: list[Array], discount: float) -> Float[Array, ""]:
    """Mean squared distance of Q(s, a) to r + discount Q'(s', argmax_a' Q(s', a')); to r where the world ended."""
    observations, actions, rewards, following, terminated = batch
    best = _values(network, following).argmax(axis=-1)
    ahead = jnp.where(terminated, 0.0, _taken(_values(target, following), best))
    goal = jax.lax.stop_gradient(rewards + discount * ahead)
    return jnp.square(_taken(_values(network, observations), actions) - goal).mean()


def _values(layers: Layers, inputs: Float[Array, "batch inputs"]) -> Float[Array, "batch actions"]:
    for w, b in layers[:-1]:
        inputs = jnp.tanh(inputs @ w + b)
    w, b = layers[-1]
    return inputs @ w + b


def _taken(values: Float[Array, "batch actions"], actions: Array) -> Float[Array, " batch"]:
    return jnp.take_along_axis(values, actions[:, None], axis=1)[:, 0]
