"""Rollouts in one compiled loop, policy included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from repbm.core import InputError
from repbm.models._compiled_policy import certain, compiled
from repbm.models._stepwise import NEGLIGIBLE
from repbm.models.training._trees import known_to_jax
from repbm.models.transitions._padding import bucket, padded
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models._continuous import ContinuousModel

_LARGEST_BATCH = 1 << 13
_SMALLEST_BATCH = 1 << 6


def compiled_rounds(
    model: ContinuousModel,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "states dimensions"],
    steps_left: Int[np.ndarray, " states"],
    first: Int[np.ndarray, " states"],
    discount: float,
    rollouts: int,
    seed: int,
) -> Iterator[tuple[Int[np.ndarray, " some"], Float[np.ndarray, " some"], Bool[np.ndarray, " some"]]]:
    """Rows, what a rollout from each of them earns, and whether it leaves the range of the log."""
    known_to_jax()
    walk = _walk_compiled(policy, model)
    # States with equally many steps left go together: a batch stops when its last one is done.
    order = np.argsort(-steps_left, kind="stable")
    for start in range(0, len(states), _LARGEST_BATCH):
        rows = order[start : start + _LARGEST_BATCH]
        begin = _Walk.begin(states[rows])
        for draw in range(rollouts):
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), start), draw)
            given = _Conditions(steps_left[rows], first[rows], np.asarray(discount, states.dtype), key)
            yield rows, *_finished(walk, begin, given)


def _finished(
    walk: _Walker, now: _Walk, given: _Conditions
) -> tuple[Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
    """What every rollout earns, and whether it leaves the range of the log.

    Whenever few are still under way, they go on in a smaller batch.
    """
    total, outside = np.zeros(len(now.states)), np.zeros(len(now.states), dtype=bool)
    rows = np.arange(len(now.states))
    while len(rows):
        place = padded(np.arange(len(rows)), bucket(len(rows), _SMALLEST_BATCH))
        fill = np.arange(len(place)) >= len(rows)
        batch = _Conditions(np.where(fill, 0, given.steps_left[place]), given.first[place], given.discount, given.key)
        now = jax.tree.map(np.asarray, walk(now.take(place), batch))
        if now.unknown:
            raise InputError(
                "the policy takes an action that the log never shows",
                fix="a model cannot say what it does; use importance sampling, or another policy",
            )
        total[rows], outside[rows] = now.total[: len(rows)], now.outside[: len(rows)]
        going = np.flatnonzero(np.asarray(now.active(batch)))
        rows, now = rows[going], now.take(going)
        given = given._replace(steps_left=given.steps_left[going], first=given.first[going])
    return total, outside


class _Conditions(NamedTuple):
    """What stays the same during a walk."""

    steps_left: Int[Array | np.ndarray, " batch"]
    first: Int[Array | np.ndarray, " batch"]
    discount: Float[Array | np.ndarray, ""]
    key: Array


class _Once(eqx.Module):
    """The arrays of a model, each once: compiled code takes what comes twice for two, and works it out twice."""

    arrays: list[Any]
    places: tuple[int, ...] = eqx.field(static=True)
    form: Any = eqx.field(static=True)

    @classmethod
    def of(cls, model: ContinuousModel) -> _Once:
        leaves, form = jax.tree.flatten(model)
        found: dict[int, int] = {}
        places = tuple(found.setdefault(id(leaf), len(found)) for leaf in leaves)
        return cls([leaves[places.index(k)] for k in range(len(found))], places, form)

    def together(self) -> ContinuousModel:
        return jax.tree.unflatten(self.form, [self.arrays[k] for k in self.places])


class _Walk(NamedTuple):
    """Where a batch of rollouts stands."""

    step: Int[Array | np.ndarray, ""]
    states: Float[Array | np.ndarray, "batch dimensions"]
    survival: Float[Array | np.ndarray, " batch"]
    total: Float[Array | np.ndarray, " batch"]
    outside: Bool[Array | np.ndarray, " batch"]
    unknown: Bool[Array | np.ndarray, ""]

    @classmethod
    def begin(cls, states: Float[np.ndarray, "batch dimensions"]) -> _Walk:
        nothing = np.zeros(len(states), states.dtype)
        never = np.zeros(len(states), dtype=bool)
        return cls(np.zeros((), np.int32), states, nothing + 1, nothing, never, np.zeros((), bool))

    def take(self, rows: Int[np.ndarray, " some"]) -> _Walk:
        """The same moment of some of the rollouts."""
        return _Walk(
            self.step,
            self.states[rows],
            self.survival[rows],
            self.total[rows],
            self.outside[rows],
            self.unknown,
        )

    def active(self, given: _Conditions) -> Bool[Array, " batch"]:
        return jnp.asarray((self.step < given.steps_left) & (self.survival > NEGLIGIBLE))

    def worthwhile(self, given: _Conditions) -> Bool[Array, ""]:
        """Whether to go on with all together: more than half are under way, or the batch is the smallest anyway."""
        count = self.survival.shape[0]
        return self.active(given).sum() > (count // 2 if count > _SMALLEST_BATCH else 0)


def _advanced(
    model: ContinuousModel,
    walk: _Walk,
    given: _Conditions,
    probabilities: Float[Array, "batch actions"],
    certain: bool,
) -> _Walk:
    """One step further, with these probabilities of the policy's actions; `certain` ones are 0 or 1."""
    now = walk.active(given)
    chance, noise = jax.random.split(jax.random.fold_in(given.key, walk.step))
    mass = probabilities.sum(axis=1)
    if certain:
        # What a draw would give, without the random numbers for it.
        action = probabilities.argmax(axis=1)
    else:
        marks = jax.random.uniform(chance, (len(mass), 1), probabilities.dtype) * mass[:, None]
        action = (jnp.cumsum(probabilities, axis=1) <= marks).sum(axis=1).clip(0, probabilities.shape[1] - 1)
    chosen = (walk.step == 0) & (given.first >= 0)
    action = jnp.where(chosen, given.first, action)
    following, rewards, ending = model.step(jnp.asarray(walk.states), action, noise)
    beyond = ((following < model.low) | (following > model.high)).any(axis=1)
    earned = given.discount**walk.step * walk.survival * rewards
    return _Walk(
        walk.step + 1,
        jnp.where(now[:, None], following, walk.states),
        jnp.where(now, walk.survival * (1 - ending), walk.survival),
        walk.total + jnp.where(now, earned, 0.0),
        walk.outside | (now & beyond & (ending < 0.5)),
        walk.unknown | (now & ~chosen & (mass < 0.5)).any(),
    )


_Walker = Callable[[_Walk, _Conditions], _Walk]


def _walk_compiled(policy: ObservationPolicy, model: ContinuousModel) -> _Walker:
    """The whole walk, policy included, in one compiled loop."""
    follow, parts = compiled(policy, model.labels), _Once.of(model)
    return lambda walk, given: _looped(parts, follow, certain(policy), walk, given)


@eqx.filter_jit
def _looped(parts: _Once, follow: Callable[[Array], Array], certain: bool, walk: _Walk, given: _Conditions) -> _Walk:
    model = parts.together()
    return jax.lax.while_loop(
        lambda now: now.worthwhile(given),
        lambda now: _advanced(model, now, given, follow(jnp.asarray(now.states)), certain),
        walk,
    )
