"""How far a model of continuous states goes wrong on logged steps: one step, and several steps ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from repbm.data import Trajectories
from repbm.models.dynamics._base import Dynamics
from repbm.models.parts._saturation import Saturation
from repbm.models.transitions._arrays import in_float64
from repbm.models.transitions._table import TransitionTable

if TYPE_CHECKING:
    from repbm.models._continuous import ContinuousModel

_BLOCK = 1 << 14
_LARGEST = 1e290


def one_step_losses(model: ContinuousModel, data: Trajectories) -> Float[np.ndarray, " steps"]:
    """(r_hat - r)^2 + |s_hat' - s'|^2 of every logged step; only the first part where s' was not logged."""
    table = TransitionTable.of(data, None, horizon=model.horizon)
    result = np.empty(len(table))
    following = np.where(table.followed[:, None], table.next_states, 0.0)
    for start in range(0, len(table), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(table)))
        states, rewards = _expected(model, table.states[rows], table.actions[rows])
        with np.errstate(over="ignore", invalid="ignore"):
            miss = states - following[rows]
            squares = np.where(table.followed[rows], (miss**2).sum(axis=1), 0.0)
            result[rows] = (rewards - table.rewards[rows]) ** 2 + squares
    # Squares beyond floating point stay comparable, and weights times losses finite.
    return np.minimum(result, _LARGEST)


def path_error(dynamics: Dynamics, saturation: Saturation, data: Trajectories, ahead: int, most_windows: int) -> float:
    """How far the expected state `ahead` steps on, along the logged actions, misses the logged one.

    The root mean square over dimensions and starting points, each dimension in units of how much it really moves; NaN
    where no episode is that long.
    """
    # Only windows whose last state is an observation of the same episode: no final states are needed.
    starts = np.flatnonzero(np.repeat(data.lengths, data.lengths) - data.steps > ahead)
    if not len(starts):
        shorter = max(1, ahead // 2)
        return float("nan") if ahead == 1 else path_error(dynamics, saturation, data, shorter, most_windows)
    starts = starts[np.linspace(0, len(starts) - 1, min(len(starts), most_windows)).astype(int)]
    actions = data.actions.codes[starts[:, None] + np.arange(ahead)].astype(np.int32)
    begin, end = (data.observations[at].astype(np.float64) for at in (starts, starts + ahead))
    reached = begin
    for action in actions.T:
        reached = _next(dynamics, saturation, reached, action)
    moved = np.sqrt(((end - begin) ** 2).mean(axis=0))
    missed = np.sqrt(((reached - end) ** 2).mean(axis=0))
    shares = missed[moved > 0] / moved[moved > 0]
    return float(np.sqrt((shares**2).mean())) if len(shares) else 0.0


def _expected(
    model: ContinuousModel, states: Float[np.ndarray, "batch dimensions"], actions: Int[np.ndarray, " batch"]
) -> tuple[Float[np.ndarray, "batch dimensions"], Float[np.ndarray, " batch"]]:
    """The expected next states and rewards."""
    following = _next(model.dynamics, model.saturation, states, actions)
    return following, np.asarray(model.reward(states, following))[np.arange(len(states)), actions]


def _next(
    dynamics: Dynamics,
    saturation: Saturation,
    states: Float[np.ndarray, "batch dimensions"],
    actions: Int[np.ndarray, " batch"],
) -> Float[np.ndarray, "batch dimensions"]:
    with in_float64():
        return np.asarray(saturation(np.asarray(dynamics.taken(states, actions))))
