"""Values by following a policy inside a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from repbm.core import InputError
from repbm.models._model import Model
from repbm.policies import ObservationPolicy, compiled

_LARGEST_BATCH = 1 << 15
_SMALLEST_BATCH = 1 << 6
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class Rolled:
    """Values of states, their standard deviation over rollouts, and whether a rollout left the range of the log."""

    values: Float[np.ndarray, " states"]
    spread: Float[np.ndarray, " states"]
    left_range: Bool[np.ndarray, " states"]


def roll_out(
    model: Model,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "states dimensions"],
    steps_left: Int[np.ndarray, " states"],
    *,
    first_actions: Int[np.ndarray, " states"] | None = None,
    discount: float = 1.0,
    rollouts: int = 1,
    seed: int = 0,
) -> Rolled:
    """V(s) for `steps_left` more steps; with `first_actions`, Q(s, a). The mean of several rollouts a state."""
    count = len(states)
    first = np.full(count, -1) if first_actions is None else first_actions
    follow = compiled(policy, model.labels)
    values, squares, left = np.zeros(count), np.zeros(count), np.zeros(count, dtype=bool)
    # States with equally many steps left go together: a batch stops when its last one is done.
    order = np.argsort(-steps_left, kind="stable")
    with jax.enable_x64(True):
        for start in range(0, count, _LARGEST_BATCH):
            rows = order[start : start + _LARGEST_BATCH]
            padded = np.concatenate([rows, np.full(_bucket(len(rows)) - len(rows), rows[0])])
            limits = np.where(np.arange(len(padded)) < len(rows), steps_left[padded], 0)
            batch = (jnp.asarray(states[padded]), jnp.asarray(limits), jnp.asarray(first[padded]))
            for draw in range(rollouts):
                key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), start), draw)
                total, outside, unknown = _rolled(model, follow, *batch, jnp.asarray(discount), key)
                if bool(unknown):
                    raise InputError(
                        "the policy takes an action that the log never shows",
                        fix="a model cannot say what it does; use importance sampling, or another policy",
                    )
                total = np.asarray(total)[: len(rows)]
                values[rows] += total
                squares[rows] += total**2
                left[rows] |= np.asarray(outside)[: len(rows)]
    values /= rollouts
    variance = np.maximum(squares / rollouts - values**2, 0.0)
    return Rolled(values, np.sqrt(variance * rollouts / max(rollouts - 1, 1)), left)


def _bucket(count: int) -> int:
    """The next power of two: few shapes, few compilations."""
    return max(_SMALLEST_BATCH, 1 << (count - 1).bit_length())


@eqx.filter_jit
def _rolled(
    model: Model,
    follow: Callable[[Array], Array],
    states: Float[Array, "batch dimensions"],
    steps_left: Int[Array, " batch"],
    first: Int[Array, " batch"],
    discount: Float[Array, ""],
    key: Array,
) -> tuple[Float[Array, " batch"], Bool[Array, " batch"], Bool[Array, ""]]:
    count = states.shape[0]

    def active(t: Array, survival: Array) -> Array:
        return (t < steps_left) & (survival > _NEGLIGIBLE)

    def going(carry: tuple[Array, ...]) -> Array:
        t, _, survival, *_ = carry
        return active(t, survival).any()

    def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        t, current, survival, total, outside, unknown = carry
        now = active(t, survival)
        chance, noise = jax.random.split(jax.random.fold_in(key, t))
        probabilities = follow(current)
        mass = probabilities.sum(axis=1)
        marks = jax.random.uniform(chance, (count, 1), probabilities.dtype) * mass[:, None]
        action = (jnp.cumsum(probabilities, axis=1) <= marks).sum(axis=1).clip(0, probabilities.shape[1] - 1)
        given = (t == 0) & (first >= 0)
        action = jnp.where(given, first, action)
        following, rewards, ending = model.step(current, action, noise)
        total = total + jnp.where(now, discount**t * survival * rewards, 0.0)
        beyond = ((following < model.low) | (following > model.high)).any(axis=1)
        return (
            t + 1,
            jnp.where(now[:, None], following, current),
            jnp.where(now, survival * (1 - ending), survival),
            total,
            outside | (now & beyond & (ending < 0.5)),
            unknown | (now & ~given & (mass < 0.5)).any(),
        )

    start = (
        jnp.zeros((), jnp.int32),
        states,
        jnp.ones(count, states.dtype),
        jnp.zeros(count, states.dtype),
        jnp.zeros(count, bool),
        jnp.zeros((), bool),
    )
    _, _, _, total, outside, unknown = jax.lax.while_loop(going, step, start)
    return total, outside, unknown
