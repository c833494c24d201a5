"""The matrix products of training and rollouts and nothing else: no program with these networks can do without."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np

from repbm.models import PaperSettings

_TERMINATION = (32, 32, 1)
"""Widths of the published termination network."""


def trained_bare(states: np.ndarray, members: int, actions: int, settings: PaperSettings) -> None:
    """Products of all steps of training: forward, and two backward for every layer; termination sees both sides of
    twice as many steps."""
    dimensions = states.shape[1]
    network = (dimensions, *(settings.representation,) * settings.layers, actions * (1 + dimensions))
    steps = settings.epochs * settings.batches
    given = jnp.asarray(states, jnp.float32)
    for batch, together, sizes in (
        (settings.batch, members, network),
        (4 * settings.batch, 1, (dimensions, *_TERMINATION)),
    ):
        weights = tuple(jnp.full((together, *shape), 1e-3, jnp.float32) for shape in pairwise(sizes))
        jax.block_until_ready(_descended(steps, batch, given, weights))


@partial(jax.jit, static_argnums=(0, 1))
def _descended(steps: int, batch: int, states: jax.Array, weights: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    """Every product is used by the next step, so that none is left out."""

    def step(k: jax.Array, now: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        first = (k * batch) % (len(states) - batch)
        x = jax.lax.dynamic_slice(states, (first, 0), (batch, states.shape[1]))
        seen = [jnp.broadcast_to(x, (now[0].shape[0], *x.shape))]
        for w in now:
            seen.append(seen[-1] @ w)
        back, moved = seen[-1], []
        for place, (x, w) in enumerate(zip(reversed(seen[:-1]), reversed(now), strict=True)):
            moved.append(w - 1e-6 * (jnp.swapaxes(x, 1, 2) @ back))
            # Nothing flows back beyond the first layer.
            back = back @ jnp.swapaxes(w, 1, 2) if place + 1 < len(now) else back
        return tuple(reversed(moved))

    return jax.lax.fori_loop(0, steps, step, weights)


def rolled_bare(
    states: np.ndarray, policy: Sequence[tuple[int, ...]], actions: int, representation: int, steps: int
) -> None:
    """Products of so many steps of all individuals: the policy, the model, and its termination; in double precision."""
    dimensions = states.shape[1]
    chains = (
        tuple(shape for shape in policy),
        tuple(pairwise((dimensions, representation, actions * (1 + dimensions)))),
        tuple(pairwise((dimensions, *_TERMINATION))),
    )
    with jax.enable_x64(True):
        weights = [[jnp.full(shape, 1e-3, jnp.float64) for shape in chain] for chain in chains]
        jax.block_until_ready(_walked(steps, jnp.asarray(states, jnp.float64), weights))


@partial(jax.jit, static_argnums=0)
def _walked(steps: int, states: jax.Array, weights: list[list[jax.Array]]) -> jax.Array:
    def step(k: jax.Array, now: jax.Array) -> jax.Array:
        found = []
        for chain in weights:
            x = now
            for w in chain:
                x = x @ w
            found.append(x)
        return now + 1e-9 * sum(x[:, :1] for x in found)

    return jax.lax.fori_loop(0, steps, step, states)
