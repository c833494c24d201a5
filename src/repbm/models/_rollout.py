"""Values by following a policy inside a fitted model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import needs_networks
from repbm.data import return_bounds
from repbm.models._model import ModelValues
from repbm.models._stepwise import together_stepwise, walk_stepwise
from repbm.models._traceable import brings_jax, traceable
from repbm.models.parts._part import cast
from repbm.models.transitions._arrays import in_float64
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models._continuous import ContinuousModel

_ROUNDING = 1e-9
_NOTED = 0.005
"""From this share of rollouts on it is noted that they were cut."""


def roll_out(
    model: ContinuousModel,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "states dimensions"],
    steps_left: Int[np.ndarray, " states"],
    *,
    first_actions: Int[np.ndarray, " states"] | None = None,
    discount: float = 1.0,
    rollouts: int = 1,
    seed: int = 0,
    dtype: type[np.floating] = np.float64,
    rewards: tuple[float, float] | None = None,
) -> ModelValues:
    """V(s) for `steps_left` more steps; with `first_actions`, Q(s, a). The mean of several rollouts a state.

    `dtype` is that of the arithmetic: float32 takes half the time, and is what networks were trained in. Compiled where
    the policy can be traced, and where it or the model is for JAX anyway; else step by step. With `rewards`, the lowest
    and the highest one, what a rollout earns is cut to what these allow: one that runs away would outweigh all others.
    """
    count = len(states)
    # Values are means: what single rewards are would only be compiled anew for every log.
    model = cast(replace(model, reward_noise=None), dtype)
    first = np.full(count, -1) if first_actions is None else first_actions
    values, squares, left = np.zeros(count), np.zeros(count), np.zeros(count, dtype=bool)
    bounds = None if rewards is None else _bounds(rewards, discount, steps_left)
    cut = 0
    rounds = _stepwise_rounds
    if traceable(policy) and (model.dynamics.compiled or brings_jax(policy)):
        needs_networks()
        from repbm.models._compiled_rollout import compiled_rounds as rounds
    with in_float64():
        for rows, total, outside in rounds(
            model, policy, states.astype(dtype), steps_left, first, discount, rollouts, seed
        ):
            if bounds is not None:
                within = np.clip(total, bounds[0][rows], bounds[1][rows])
                cut += int((np.abs(within - total) > _ROUNDING * np.abs(within)).sum())
                total = within
            values[rows] += total
            squares[rows] += total**2
            left[rows] |= outside
    values /= rollouts
    variance = np.maximum(squares / rollouts - values**2, 0.0)
    share = cut / max(count * rollouts, 1)
    note = f"{share:.0%} of rollouts earn more or less than rewards allow, and were cut" if share > _NOTED else ""
    return ModelValues(values, np.sqrt(variance * rollouts / max(rollouts - 1, 1)), left, note)


def _bounds(
    rewards: tuple[float, float], discount: float, steps_left: Int[np.ndarray, " states"]
) -> tuple[Float[np.ndarray, " states"], Float[np.ndarray, " states"]]:
    """What can be earned with so many steps left: nothing with none."""
    low, high = return_bounds(rewards, discount, np.maximum(steps_left, 1))
    return np.where(steps_left > 0, low, 0.0), np.where(steps_left > 0, high, 0.0)


_Rounds = Iterator[tuple[Int[np.ndarray, " some"], Float[np.ndarray, " some"], Bool[np.ndarray, " some"]]]
"""Rows, what a rollout from each of them earns, and whether it leaves the range of the log."""


def _stepwise_rounds(
    model: ContinuousModel,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "states dimensions"],
    steps_left: Int[np.ndarray, " states"],
    first: Int[np.ndarray, " states"],
    discount: float,
    rollouts: int,
    seed: int,
) -> _Rounds:
    every = np.arange(len(states))
    together = together_stepwise(model, len(states))
    for start in range(0, rollouts, together):
        numbers = range(start, min(start + together, rollouts))
        found = walk_stepwise(model, policy, states, steps_left, first, discount, seed, numbers)
        for total, outside in zip(*found, strict=True):
            yield every, total, outside
