"""Policies inside compiled code. They know nothing of it themselves: importance sampling never loads a compiler."""

from __future__ import annotations

from functools import lru_cache, singledispatch

import jax
import jax.numpy as jnp
import numpy as np

from repbm.core import Label
from repbm.models._traceable import Traceable, Traced
from repbm.policies import Greedy, NetworkPolicy, ObservationPolicy, Softened, Widened, forward


@lru_cache(maxsize=64)
def compiled(policy: ObservationPolicy, labels: tuple[Label, ...]) -> Traced:
    """A function from a (batch, dimensions) array to (batch, actions) probabilities for use under `jit`.

    A traceable policy becomes part of the compiled code. Any other is called back from it, once for the
    whole batch; under `vmap` the batches are joined first, so that it is still one call. The same policy gives the same
    function, so that code compiled with it is found again.
    """
    return policy.traced(labels) if isinstance(policy, Traceable) else _traced(policy, labels)


def certain(policy: ObservationPolicy) -> bool:
    """Whether what `compiled` gives is known to be 0 or 1 alone."""
    if isinstance(policy, Widened):
        return certain(policy.policy)
    return isinstance(policy, Greedy) or (isinstance(policy, NetworkPolicy) and policy.head == "greedy")


@singledispatch
def _traced(policy: ObservationPolicy, labels: tuple[Label, ...]) -> Traced:
    """Any policy: called back from compiled code."""

    def probabilities(observations: jax.Array) -> jax.Array:
        kind = jnp.result_type(observations)

        def host(observations: jax.Array) -> np.ndarray:
            rows = np.asarray(observations, dtype=np.float64)
            flat = rows.reshape(-1, rows.shape[-1])
            return policy.probabilities(flat, labels).reshape(*rows.shape[:-1], len(labels)).astype(kind)

        shape = jax.ShapeDtypeStruct((*observations.shape[:-1], len(labels)), kind)
        return jax.pure_callback(host, shape, observations, vmap_method="expand_dims")

    return probabilities


@_traced.register
def _(policy: NetworkPolicy, labels: tuple[Label, ...]) -> Traced:
    # Outputs for actions beyond `labels` compete too; taking one of them gives a row of zeros.
    order = np.asarray([policy.actions.index(label) for label in labels])

    def probabilities(observations: jax.Array) -> jax.Array:
        kind = jnp.result_type(observations)
        layers = [(jnp.asarray(w, kind), jnp.asarray(b, kind)) for w, b in policy.layers]
        scores = forward(layers, policy.activation, observations, jnp)
        if policy.head == "greedy":
            every = jax.nn.one_hot(scores.argmax(axis=-1), scores.shape[-1], dtype=scores.dtype)
        else:
            every = jax.nn.softmax(scores, axis=-1)
        return every[..., order]

    return probabilities


@_traced.register
def _(policy: Softened, labels: tuple[Label, ...]) -> Traced:
    inner = compiled(policy.policy, labels)
    return lambda observations: (1 - policy.epsilon) * inner(observations) + policy.epsilon / len(labels)


@_traced.register
def _(policy: Greedy, labels: tuple[Label, ...]) -> Traced:
    inner = compiled(policy.policy, labels)
    return lambda observations: jax.nn.one_hot(inner(observations).argmax(axis=-1), len(labels))


@_traced.register
def _(policy: Widened, labels: tuple[Label, ...]) -> Traced:
    inner = compiled(policy.policy, labels)
    return lambda observations: inner(policy.columns.widened(observations, jnp))
