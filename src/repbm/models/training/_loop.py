"""One compiled training loop for every network: Adam over random batches, many members side by side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from repbm.core import InputError
from repbm.models.training._progress import Progress
from repbm.models.training._trees import known_to_jax

_FAR = 1e3
"""A final loss so many times that of the start is no fit, even if it is still a number."""

Judge = Callable[[Any, Any, Any], Float[Array, ""]]
"""(parameters, member, held-out data) -> the risk by which the best epoch is chosen."""


@runtime_checkable
class Loss(Protocol):
    """The loss of one random batch; hashable, like the judge.

    Which rows are drawn does not depend on the parameters: those of all batches of an epoch are drawn together, before
    its first step. They are looked up at their step: arithmetic on whole rows that were looked up before is compiled
    otherwise, and rounded otherwise.
    """

    def drawn(self, member: Any, data: Any, key: Array, /) -> Any:
        """The rows of a batch."""
        ...

    def __call__(self, parameters: Any, member: Any, data: Any, drawn: Any, /) -> Float[Array, ""]: ...


class Schedule(ABC):
    """The factor on the learning rate, from the share of training done and the epochs that were no new best."""

    @abstractmethod
    def __call__(self, share: Float[Array, ""], misses: Int[Array, ""]) -> Float[Array, ""]: ...


@dataclass(frozen=True)
class Plateau(Schedule):
    """decay ^ (number of epochs whose mean loss was no new best)."""

    decay: float = 0.9

    def __call__(self, share: Float[Array, ""], misses: Int[Array, ""]) -> Float[Array, ""]:
        return self.decay ** misses.astype(share.dtype)


@dataclass(frozen=True)
class Cosine(Schedule):
    """(1 + cos(pi * share)) / 2, from 1 down to 0."""

    def __call__(self, share: Float[Array, ""], misses: Int[Array, ""]) -> Float[Array, ""]:
        return (1 + jnp.cos(jnp.pi * share)) / 2


@dataclass(frozen=True)
class TrainingOptions:
    """How to descend. `clamp` bounds every component of the gradient, `weight_decay` * theta is added to it after that;
    `restart` forgets Adam's averages after every epoch."""

    epochs: int = 100
    batches: int = 100
    learning_rate: float = 0.01
    schedule: Schedule = Cosine()
    clamp: float | None = None
    weight_decay: float = 0.0
    restart: bool = False

    def optimizer(self) -> optax.GradientTransformation:
        steps = [optax.clip(self.clamp)] if self.clamp is not None else []
        if self.weight_decay:
            steps.append(optax.add_decayed_weights(self.weight_decay))
        return optax.chain(*steps, optax.scale_by_adam())


@dataclass(frozen=True, eq=False)
class Trained:
    """Parameters with a leading axis of members, the mean loss of every epoch, and which members diverged."""

    parameters: Any
    losses: Float[np.ndarray, "epochs members"]
    diverged: Bool[np.ndarray, " members"]

    def checked(self) -> Trained:
        if self.diverged.any():
            raise InputError(
                "the fit diverged: its loss is not a finite number, or grew without end",
                fix="look for extreme values in the log, or lower the learning rate",
            )
        return self

    def member(self, k: int) -> Any:
        return jax.tree.map(lambda leaf: np.asarray(leaf[k]), self.parameters)


class _State(eqx.Module):
    """Where one member stands; `kept` are the parameters of its best epoch."""

    parameters: Any
    optimizer: Any
    kept: Any
    best: Float[Array, ""]
    misses: Int[Array, ""]


def train(
    loss: Loss,
    parameters: Any,
    members: Any,
    data: Any,
    keys: Array,
    options: TrainingOptions,
    judge: Judge | None = None,
    held_out: Any = None,
    progress: Progress | None = None,
) -> Trained:
    """Minimise the loss for every member; `parameters`, `members` and `keys` have a leading axis, `data` is shared.

    The members do not touch each other: each comes out as if trained alone. With a judge the parameters of the epoch
    with the smallest held-out risk are kept, otherwise the last ones.
    """
    known_to_jax()
    data, held_out, members = (jax.tree.map(jnp.asarray, tree) for tree in (data, held_out, members))
    state = _start(options, jax.tree.map(jnp.asarray, parameters))
    run = partial(_epoch, loss, judge, options)
    given = (members, data, held_out, keys)
    # An epoch without a single step tells the loss of the start, from the code that is compiled anyway.
    _, first = run(state, *given, np.int32(0), np.asarray(0.0, state.best.dtype))
    history = []
    for epoch in range(options.epochs):
        state, mean = run(state, *given, np.int32(epoch), np.asarray(1.0, state.best.dtype))
        history.append(mean)
        if progress is not None:
            progress(float(mean.mean()), epoch + 1, options.epochs)
    losses = np.asarray(jnp.stack(history))
    far = losses[-1] > _FAR * np.asarray(first)
    diverged = ~np.isfinite(losses).all(axis=0) | far
    return Trained(state.parameters if judge is None else state.kept, losses, diverged)


@partial(jax.jit, static_argnums=0)
def _start(options: TrainingOptions, parameters: Any) -> _State:
    """Where all members begin; compiled once for all fits of the same sizes."""

    def one(parameters: Any) -> _State:
        best = jnp.asarray(jnp.inf, jax.tree.leaves(parameters)[0].dtype)
        return _State(parameters, options.optimizer().init(parameters), parameters, best, jnp.zeros((), jnp.int32))

    return jax.vmap(one)(parameters)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _epoch(
    loss: Loss,
    judge: Judge | None,
    options: TrainingOptions,
    states: _State,
    members: Any,
    data: Any,
    held_out: Any,
    keys: Array,
    epoch: Int[Array, ""],
    pace: Float[Array, ""],
) -> tuple[_State, Float[Array, " members"]]:
    """One epoch of all members, and their mean losses in it."""
    optimizer = options.optimizer()
    slope = jax.value_and_grad(loss)

    def one(state: _State, member: Any, key: Array) -> tuple[_State, Array]:
        dtype = state.best.dtype

        def step(carry: tuple[Any, Any], place: tuple[Array, Any]) -> tuple[tuple[Any, Any], Array]:
            current, averages = carry
            number, drawn = place
            value, gradient = slope(current, member, data, drawn)
            direction, averages = optimizer.update(gradient, averages, current)
            share = (epoch * options.batches + number).astype(dtype) / (options.epochs * options.batches)
            rate = pace * options.learning_rate * options.schedule(share, state.misses)
            moved = jax.tree.map(lambda p, d: p - rate * d, current, direction)
            return (moved, averages), value

        begin = optimizer.init(state.parameters) if options.restart else state.optimizer
        own = jax.random.split(jax.random.fold_in(key, epoch), options.batches)
        drawn = jax.vmap(partial(loss.drawn, member, data))(own)
        (moved, averages), values = jax.lax.scan(
            step, (state.parameters, begin), (jnp.arange(options.batches, dtype=jnp.int32), drawn)
        )
        mean = values.mean()
        score = mean if judge is None else judge(moved, member, held_out)
        better = score < state.best
        kept = jax.tree.map(lambda new, old: jnp.where(better, new, old), moved, state.kept)
        best, misses = jnp.where(better, score, state.best), state.misses + jnp.where(better, 0, 1)
        return _State(moved, averages, kept, best, misses), mean

    return jax.vmap(one)(states, members, keys)
