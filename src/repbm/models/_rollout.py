"""Values by following a policy inside a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from repbm.core import InputError
from repbm.models._model import Model
from repbm.policies import ObservationPolicy, compiled, traceable

_COMPILED_BATCH = 1 << 10
_STEPWISE_BATCH = 1 << 15
_SMALLEST_BATCH = 1 << 6
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class Rolled:
    """Values of states, their standard deviation over rollouts, and whether a rollout left the range of the log.

    `first` is the action with which all rollouts of a state began; -1 where they differ.
    """

    values: Float[np.ndarray, " states"]
    spread: Float[np.ndarray, " states"]
    left_range: Bool[np.ndarray, " states"]
    first: Int[np.ndarray, " states"]


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
    inside = traceable(policy)
    walk = _walk_compiled(policy, model) if inside else _walk_stepwise(policy, model)
    # Small batches stop early and stay in the processor's cache; a policy outside costs a call a step and batch.
    largest = _COMPILED_BATCH if inside else _STEPWISE_BATCH
    values, squares, left = np.zeros(count), np.zeros(count), np.zeros(count, dtype=bool)
    began = np.full(count, -1)
    # States with equally many steps left go together: a batch stops when its last one is done.
    order = np.argsort(-steps_left, kind="stable")
    with jax.enable_x64(True):
        for start in range(0, count, largest):
            rows = order[start : start + largest]
            padded = np.concatenate([rows, np.full(_bucket(len(rows)) - len(rows), rows[0])])
            limits = np.where(np.arange(len(padded)) < len(rows), steps_left[padded], 0)
            begin = _Walk.begin(jnp.asarray(states[padded]))
            for draw in range(rollouts):
                key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), start), draw)
                terms = _Terms(jnp.asarray(limits), jnp.asarray(first[padded]), jnp.asarray(discount), key)
                end = walk(begin, terms)
                if bool(end.unknown):
                    raise InputError(
                        "the policy takes an action that the log never shows",
                        fix="a model cannot say what it does; use importance sampling, or another policy",
                    )
                total = np.asarray(end.total)[: len(rows)]
                values[rows] += total
                squares[rows] += total**2
                left[rows] |= np.asarray(end.outside)[: len(rows)]
                action = np.asarray(end.first)[: len(rows)]
                began[rows] = np.where((draw == 0) | (began[rows] == action), action, -1)
    values /= rollouts
    variance = np.maximum(squares / rollouts - values**2, 0.0)
    return Rolled(values, np.sqrt(variance * rollouts / max(rollouts - 1, 1)), left, began)


def _bucket(count: int) -> int:
    """The next power of two: few shapes, few compilations."""
    return max(_SMALLEST_BATCH, 1 << (count - 1).bit_length())


class _Terms(NamedTuple):
    """What stays the same during a walk."""

    steps_left: Int[Array, " batch"]
    first: Int[Array, " batch"]
    discount: Float[Array, ""]
    key: Array


class _Walk(NamedTuple):
    """Where a batch of rollouts stands."""

    step: Int[Array, ""]
    states: Float[Array, "batch dimensions"]
    survival: Float[Array, " batch"]
    total: Float[Array, " batch"]
    outside: Bool[Array, " batch"]
    first: Int[Array, " batch"]
    unknown: Bool[Array, ""]

    @classmethod
    def begin(cls, states: Float[Array, "batch dimensions"]) -> _Walk:
        count = states.shape[0]
        nothing = jnp.zeros(count, states.dtype)
        never, none = jnp.zeros(count, bool), jnp.full(count, -1)
        return cls(jnp.zeros((), jnp.int32), states, nothing + 1, nothing, never, none, jnp.zeros((), bool))

    def active(self, terms: _Terms) -> Bool[Array, " batch"]:
        return (self.step < terms.steps_left) & (self.survival > _NEGLIGIBLE)


def _advanced(model: Model, walk: _Walk, terms: _Terms, probabilities: Float[Array, "batch actions"]) -> _Walk:
    """One step further, with these probabilities of the policy's actions."""
    now = walk.active(terms)
    chance, noise = jax.random.split(jax.random.fold_in(terms.key, walk.step))
    mass = probabilities.sum(axis=1)
    marks = jax.random.uniform(chance, (len(mass), 1), probabilities.dtype) * mass[:, None]
    action = (jnp.cumsum(probabilities, axis=1) <= marks).sum(axis=1).clip(0, probabilities.shape[1] - 1)
    given = (walk.step == 0) & (terms.first >= 0)
    action = jnp.where(given, terms.first, action)
    following, rewards, ending = model.step(walk.states, action, noise)
    beyond = ((following < model.low) | (following > model.high)).any(axis=1)
    earned = terms.discount**walk.step * walk.survival * rewards
    return _Walk(
        walk.step + 1,
        jnp.where(now[:, None], following, walk.states),
        jnp.where(now, walk.survival * (1 - ending), walk.survival),
        walk.total + jnp.where(now, earned, 0.0),
        walk.outside | (now & beyond & (ending < 0.5)),
        jnp.where(walk.step == 0, action, walk.first),
        walk.unknown | (now & ~given & (mass < 0.5)).any(),
    )


_Walker = Callable[[_Walk, _Terms], _Walk]


def _walk_compiled(policy: ObservationPolicy, model: Model) -> _Walker:
    """The whole walk, policy included, in one compiled loop."""
    follow = compiled(policy, model.labels)
    return lambda walk, terms: _looped(model, follow, walk, terms)


@eqx.filter_jit
def _looped(model: Model, follow: Callable[[Array], Array], walk: _Walk, terms: _Terms) -> _Walk:
    return jax.lax.while_loop(
        lambda now: now.active(terms).any(), lambda now: _advanced(model, now, terms, follow(now.states)), walk
    )


def _walk_stepwise(policy: ObservationPolicy, model: Model) -> _Walker:
    """Step by step, the policy asked in between: what it raises reaches the user as it is."""

    def walked(walk: _Walk, terms: _Terms) -> _Walk:
        active = np.asarray(walk.active(terms))
        while active.any():
            states = np.asarray(walk.states)
            probabilities = np.zeros((len(states), len(model.labels)))
            probabilities[:, 0] = 1.0
            probabilities[active] = policy.probabilities(states[active], model.labels)
            walk = _stepped(model, walk, terms, jnp.asarray(probabilities))
            active = np.asarray(walk.active(terms))
        return walk

    return walked


_stepped = eqx.filter_jit(_advanced)
