"""Fitted Q evaluation by a neural network with a target network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from repbm.core import InputError, stream
from repbm.critics._action_values import NetworkValues
from repbm.critics._bellman import BellmanTable
from repbm.data import annuity

if TYPE_CHECKING:
    from repbm.critics._fqe import FQENetwork


def network_values(
    transitions: BellmanTable,
    actions: int,
    discount: float,
    rewards: tuple[float, float],
    horizon: int,
    settings: FQENetwork,
    seed: int,
) -> NetworkValues:
    """Q = G(h) f: the network gives the value per step left, whose target is an average of rewards:

    (r + gamma G(h-1) sum_a' pi(a' | s') f_a'(s', h-1)) / G(h).   f is held within the logged rewards, and 0.
    """
    t = transitions
    before, after = np.column_stack([t.states, t.left]), np.column_stack([t.following, t.left_after])
    center, spread = before.mean(axis=0), before.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    scale = max(abs(rewards[0]), abs(rewards[1]), np.finfo(np.float32).tiny.item())
    total = annuity(discount, t.left)
    share = np.where(t.onward, discount * annuity(discount, t.left_after) / total, 0.0)
    columns = (
        (before - center) / spread,
        (after - center) / spread,
        t.rewards / scale / total,
        t.policy * share[:, None],
    )
    before, after, goal, policy = (jnp.asarray(column, jnp.float32) for column in columns)
    bounds = (min(rewards[0] / scale, 0.0), max(rewards[1] / scale, 0.0))
    start, key = jax.random.split(jax.random.key(int(stream(seed, "fqe").integers(1 << 31))))
    network = eqx.nn.MLP(len(center), actions, settings.width, settings.depth, jax.nn.tanh, key=start)
    network = _trained(network, (before, after, goal, policy), jnp.asarray(t.actions, jnp.int32), bounds, key, settings)
    weights = tuple(np.asarray(layer.weight, np.float64) for layer in network.layers)
    biases = tuple(np.asarray(layer.bias, np.float64) for layer in network.layers)
    if not all(np.isfinite(array).all() for array in (*weights, *biases)):
        raise InputError("fitted Q evaluation by a network diverges on this log", fix="lower its rate of learning")
    return NetworkValues(center, spread, scale, discount, weights, biases)


@eqx.filter_jit
def _trained(
    network: eqx.nn.MLP,
    rows: tuple[Array, Array, Array, Array],
    actions: Array,
    bounds: tuple[float, float],
    key: Array,
    settings: FQENetwork,
) -> eqx.nn.MLP:
    """All updates in one compiled loop; the rate falls to 0 along half a cosine."""
    before, after, rewards, policy = rows
    rounds = max(settings.updates // settings.refresh, 1)
    optimizer = optax.adam(optax.cosine_decay_schedule(settings.rate, rounds * settings.refresh))
    weights, shape = eqx.partition(network, eqx.is_array)

    def loss(weights: eqx.nn.MLP, target: eqx.nn.MLP, chosen: Array) -> Float[Array, ""]:
        following = jnp.clip(jax.vmap(eqx.combine(target, shape))(after[chosen]), *bounds)
        goal = rewards[chosen] + (policy[chosen] * following).sum(axis=1)
        found = jax.vmap(eqx.combine(weights, shape))(before[chosen])[jnp.arange(len(chosen)), actions[chosen]]
        return jnp.mean((found - goal) ** 2)

    def update(carry: tuple, key: Array) -> tuple[tuple, None]:
        weights, target, state = carry
        chosen = jax.random.randint(key, (settings.batch,), 0, len(rewards))
        changes, state = optimizer.update(jax.grad(loss)(weights, target, chosen), state)
        return (eqx.apply_updates(weights, changes), target, state), None

    def refreshed(carry: tuple, key: Array) -> tuple[tuple, None]:
        weights, state = carry
        (weights, _, state), _ = jax.lax.scan(
            update, (weights, weights, state), jax.random.split(key, settings.refresh)
        )
        return (weights, state), None

    (weights, _), _ = jax.lax.scan(refreshed, (weights, optimizer.init(weights)), jax.random.split(key, rounds))
    return eqx.combine(weights, shape)
