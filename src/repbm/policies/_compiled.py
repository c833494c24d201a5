"""Policies inside compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from repbm.core import Label
from repbm.policies._base import ObservationPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    import jax


@runtime_checkable
class Traceable(Protocol):
    """A policy that JAX can trace."""

    def traced(self, labels: tuple[Label, ...]) -> Callable[[jax.Array], jax.Array]: ...


def compiled(policy: ObservationPolicy, labels: tuple[Label, ...]) -> Callable[[jax.Array], jax.Array]:
    """A function from a (batch, dimensions) array to (batch, actions) probabilities for use under `jit`.

    A traceable policy becomes part of the compiled code. Any other is called back from it, once for the
    whole batch; under `vmap` the batches are joined first, so that it is still one call.
    """
    if isinstance(policy, Traceable):
        return policy.traced(labels)

    import jax
    import jax.numpy as jnp

    def host(observations: jax.Array) -> np.ndarray:
        rows = np.asarray(observations, dtype=np.float64)
        flat = rows.reshape(-1, rows.shape[-1])
        result = policy.probabilities(flat, labels).reshape(*rows.shape[:-1], len(labels))
        return result.astype(observations.dtype)

    def probabilities(observations: jax.Array) -> jax.Array:
        shape = jax.ShapeDtypeStruct((*observations.shape[:-1], len(labels)), jnp.result_type(observations))
        return jax.pure_callback(host, shape, observations, vmap_method="expand_dims")

    return probabilities
