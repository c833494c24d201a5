"""Rollouts under a policy that only NumPy can call: step by step, with nothing to compile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import FailsElsewhere, InputError, SideBySide, draw, stream
from repbm.models.parts._noise import LocalNoise, Noise
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
    generator: np.random.Generator | SideBySide,
) -> tuple[Float[np.ndarray, "batch dimensions"], Float[np.ndarray, " batch"], Float[np.ndarray, " batch"]]:
    """A step of the model in NumPy; parts of one's own may answer with arrays of JAX."""
    following, rewards, ending = map(np.asarray, model.step(states, actions, generator))
    return following, rewards, ending


def together_stepwise(model: ContinuousModel, states: int) -> int:
    """How many rollouts of all these states go side by side: as many as fill a batch. Noise of one's own draws from one
    generator at a time."""
    alone = model.noise is not None and type(model.noise) not in (Noise, LocalNoise)
    return 1 if alone else max(1, _LARGEST_BATCH // max(states, 1))


def walk_stepwise(
    model: ContinuousModel,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "states dimensions"],
    steps_left: Int[np.ndarray, " states"],
    first: Int[np.ndarray, " states"],
    discount: float,
    seed: int,
    numbers: Sequence[int],
) -> tuple[Float[np.ndarray, "numbers states"], Bool[np.ndarray, "numbers states"]]:
    """What rollouts of these numbers from every state earn, and whether they leave the range of the log.

    `first` is the first action, or -1 where the policy chooses it. A rollout is the same whichever go beside it.
    """
    total = np.zeros((len(numbers), len(states)))
    outside = np.zeros((len(numbers), len(states)), dtype=bool)
    order = np.argsort(-steps_left, kind="stable")
    for start in range(0, len(states), _LARGEST_BATCH):
        batch = order[start : start + _LARGEST_BATCH]
        generators = [stream(seed, "stepwise", number, start) for number in numbers]
        own, rows = np.repeat(np.arange(len(numbers)), len(batch)), np.tile(batch, len(numbers))
        now, survival = states[rows], np.ones(len(rows))
        for t in range(int(steps_left[batch].max(initial=0))):
            going = (steps_left[rows] > t) & (survival > NEGLIGIBLE)
            if not going.all():
                own, rows, now, survival = own[going], rows[going], now[going], survival[going]
            if not len(rows):
                break
            actions = chosen_actions(policy, now, model, first[rows] if t == 0 else None, generators, own)
            now, rewards, ending = step_rows(model, now, actions, _drawing(generators, own))
            total[own, rows] += discount**t * survival * rewards
            survival = survival * (1 - ending)
            beyond = ((now < model.low) | (now > model.high)).any(axis=1)
            outside[own, rows] |= beyond & (ending < 0.5)
    return total, outside


def _drawing(
    generators: Sequence[np.random.Generator], own: Int[np.ndarray, " batch"]
) -> np.random.Generator | SideBySide:
    """What draws for rows, each of which belongs to one of the generators."""
    return (
        generators[0] if len(generators) == 1 else SideBySide(generators, np.bincount(own, minlength=len(generators)))
    )


def chosen_actions(
    policy: ObservationPolicy,
    states: np.ndarray,
    model: ContinuousModel,
    first: np.ndarray | None,
    generators: Sequence[np.random.Generator],
    own: np.ndarray,
) -> Int[np.ndarray, " batch"]:
    """The given first actions, else the policy's."""
    actions = np.zeros(len(states), dtype=np.int64) if first is None else first.astype(np.int64)
    asked = np.flatnonzero(actions < 0) if first is not None else np.arange(len(states))
    if len(asked):
        try:
            odds = policy.probabilities(states[asked], model.labels)
        except InputError as fault:
            raise FailsElsewhere(fault) from fault
        if (odds @ np.ones(odds.shape[1]) < 0.5).any():
            raise InputError(
                "the policy takes an action that the log never shows",
                fix="a model cannot say what it does; use importance sampling, or another policy",
            )
        actions[asked] = draw(odds, _drawing(generators, own[asked])).clip(0, odds.shape[1] - 1)
    return actions
