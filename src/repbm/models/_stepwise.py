"""Rollouts under a policy that only NumPy can call: step by step, with nothing to compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import InputError, draw, stream
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models._continuous import ContinuousModel

NEGLIGIBLE = 1e-9
"""A rollout that has so little chance not to have ended is over."""
_LARGEST_BATCH = 1 << 14


def step_rows(
    model: ContinuousModel,
    states: Float[np.ndarray, "batch dimensions"],
    actions: Int[np.ndarray, " batch"],
    generator: np.random.Generator,
) -> tuple[Float[np.ndarray, "batch dimensions"], Float[np.ndarray, " batch"], Float[np.ndarray, " batch"]]:
    """A step of the model in NumPy; parts of one's own may answer with arrays of JAX."""
    following, rewards, ending = map(np.asarray, model.step(states, actions, generator))
    return following, rewards, ending


def walk_stepwise(
    model: ContinuousModel,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "states dimensions"],
    steps_left: Int[np.ndarray, " states"],
    first: Int[np.ndarray, " states"],
    discount: float,
    seed: int,
    number: int,
) -> tuple[Float[np.ndarray, " states"], Bool[np.ndarray, " states"]]:
    """What one rollout from every state earns, and whether it leaves the range of the log.

    `first` is the first action, or -1 where the policy chooses it.
    """
    total, outside = np.zeros(len(states)), np.zeros(len(states), dtype=bool)
    order = np.argsort(-steps_left, kind="stable")
    for start in range(0, len(states), _LARGEST_BATCH):
        rows = order[start : start + _LARGEST_BATCH]
        generator = stream(seed, "stepwise", number, start)
        now, survival = states[rows], np.ones(len(rows))
        for t in range(int(steps_left[rows].max(initial=0))):
            going = (steps_left[rows] > t) & (survival > NEGLIGIBLE)
            if not going.all():
                rows, now, survival = rows[going], now[going], survival[going]
            if not len(rows):
                break
            actions = _actions(policy, now, model, first[rows] if t == 0 else None, generator)
            now, rewards, ending = step_rows(model, now, actions, generator)
            total[rows] += discount**t * survival * rewards
            survival = survival * (1 - ending)
            beyond = ((now < model.low) | (now > model.high)).any(axis=1)
            outside[rows] |= beyond & (ending < 0.5)
    return total, outside


def _actions(
    policy: ObservationPolicy,
    states: np.ndarray,
    model: ContinuousModel,
    first: np.ndarray | None,
    generator: np.random.Generator,
) -> Int[np.ndarray, " batch"]:
    """The given first actions, else the policy's."""
    actions = np.zeros(len(states), dtype=np.int64) if first is None else first.astype(np.int64)
    asked = np.flatnonzero(actions < 0) if first is not None else np.arange(len(states))
    if len(asked):
        odds = policy.probabilities(states[asked], model.labels)
        if (odds.sum(axis=1) < 0.5).any():
            raise InputError(
                "the policy takes an action that the log never shows",
                fix="a model cannot say what it does; use importance sampling, or another policy",
            )
        actions[asked] = draw(odds, generator).clip(0, odds.shape[1] - 1)
    return actions
