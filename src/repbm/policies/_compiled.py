"""Policies inside compiled code."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from repbm.core import Label
from repbm.policies._base import ObservationPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    import jax


@runtime_checkable
class Traceable(Protocol):
    """A policy that JAX can trace, if what it wraps can be traced too."""

    def traced(self, labels: tuple[Label, ...]) -> Callable[[jax.Array], jax.Array]: ...


def traceable(policy: ObservationPolicy) -> bool:
    """Whether JAX can trace the policy down to the last one that it wraps."""
    inner = getattr(policy, "policy", None)
    return isinstance(policy, Traceable) and (inner is None or traceable(inner))


@lru_cache(maxsize=64)
def compiled(policy: ObservationPolicy, labels: tuple[Label, ...]) -> Callable[[jax.Array], jax.Array]:
    """A function from a (batch, dimensions) array to (batch, actions) probabilities for use under `jit`.

    A traceable policy becomes part of the compiled code. Any other is called back from it, once for the
    whole batch; under `vmap` the batches are joined first, so that it is still one call. The same policy gives the same
    function, so that code compiled with it is found again.
    """
    if isinstance(policy, Traceable):
        return policy.traced(labels)

    import jax
    import jax.numpy as jnp

    def probabilities(observations: jax.Array) -> jax.Array:
        kind = jnp.result_type(observations)

        def host(observations: jax.Array) -> np.ndarray:
            rows = np.asarray(observations, dtype=np.float64)
            flat = rows.reshape(-1, rows.shape[-1])
            return policy.probabilities(flat, labels).reshape(*rows.shape[:-1], len(labels)).astype(kind)

        shape = jax.ShapeDtypeStruct((*observations.shape[:-1], len(labels)), kind)
        return jax.pure_callback(host, shape, observations, vmap_method="expand_dims")

    return probabilities
