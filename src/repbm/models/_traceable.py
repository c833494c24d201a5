"""Policies that can become part of compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from repbm.core import Label
from repbm.policies import Greedy, NetworkPolicy, ObservationPolicy, Softened, Widened

Traced = Callable[[Any], Any]
"""(batch, dimensions) observations to (batch, actions) probabilities, as JAX can trace it."""


@runtime_checkable
class Traceable(Protocol):
    """A policy of the user's own that JAX can trace."""

    def traced(self, labels: tuple[Label, ...]) -> Traced: ...


def traceable(policy: ObservationPolicy) -> bool:
    """Whether JAX can trace the policy down to the last one that it wraps."""
    inner = getattr(policy, "policy", None)
    own = isinstance(policy, NetworkPolicy | Softened | Greedy | Widened | Traceable)
    return own and (inner is None or traceable(inner))


def brings_jax(policy: ObservationPolicy) -> bool:
    """Whether it is, or wraps, one of the user's own that is written for JAX."""
    inner = getattr(policy, "policy", None)
    return isinstance(policy, Traceable) or (inner is not None and brings_jax(inner))
