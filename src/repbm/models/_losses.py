"""How far a fitted model misses each logged step."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from repbm.data import Trajectories
from repbm.models._model import Model
from repbm.models._tabular import TabularModel
from repbm.models.transitions._padding import bucket, padded
from repbm.models.transitions._table import TransitionTable

_BLOCK = 1 << 14
_LARGEST = 1e290


def step_losses(model: Model | TabularModel, data: Trajectories) -> Float[np.ndarray, " steps"]:
    """l_t = (r_hat - r_t)^2 + l_T of every logged step; only the first part where s' was not logged.

    l_T = |s_hat' - s'_t|^2, and for a table sum_s' (T(s' | s, a) - 1{s' = s'_t})^2, the end counting as one more state.
    """
    sample = TransitionTable.of(data, None, horizon=model.horizon)
    if isinstance(model, TabularModel):
        return _table_losses(model, sample)
    result = np.empty(len(sample))
    following = np.where(sample.followed[:, None], sample.next_states, 0.0)
    with jax.enable_x64(True):
        for start in range(0, len(sample), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(sample)))
            at = padded(rows, bucket(len(rows)), fill=start)
            states, rewards = _expected(model, jnp.asarray(sample.states[at]), jnp.asarray(sample.actions[at]))
            miss = np.asarray(states)[: len(rows)] - following[rows]
            with np.errstate(over="ignore"):
                squares = np.where(sample.followed[rows], (miss**2).sum(axis=1), 0.0)
                result[rows] = (np.asarray(rewards)[: len(rows)] - sample.rewards[rows]) ** 2 + squares
    # Squares beyond floating point stay comparable, and weights times losses finite.
    return np.minimum(result, _LARGEST)


def _table_losses(model: TabularModel, sample: TransitionTable) -> Float[np.ndarray, " steps"]:
    pair = model.find(sample.states) * sample.action_count + sample.actions
    rewards = (model.rewards.reshape(-1)[pair] - sample.rewards) ** 2
    ending = 1 - np.asarray(model.moves.sum(axis=1)).reshape(-1)
    squares = np.asarray(model.moves.multiply(model.moves).sum(axis=1)).reshape(-1) + ending**2
    onward = sample.followed & ~sample.ended
    hit = np.where(sample.ended, ending[pair], 0.0)
    hit[onward] = np.asarray(model.moves[pair[onward], model.find(sample.next_states[onward])]).reshape(-1)
    return rewards + np.where(sample.ended | onward, squares[pair] - 2 * hit + 1, 0.0)


@eqx.filter_jit
def _expected(
    model: Model, states: Float[Array, "batch dimensions"], actions: Int[Array, " batch"]
) -> tuple[Float[Array, "batch dimensions"], Float[Array, " batch"]]:
    """The expected next states and rewards."""
    rows = jnp.arange(states.shape[0])
    following = model.saturation(model.dynamics(states)[rows, actions])
    return following, model.reward(states, following)[rows, actions]
