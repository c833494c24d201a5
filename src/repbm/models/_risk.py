"""How far a fitted model misses each logged step."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from repbm.data import Trajectories
from repbm.models._model import Model
from repbm.models._sample import Sample

_BLOCK = 1 << 14
_LARGEST = 1e290


def step_losses(model: Model, data: Trajectories) -> Float[np.ndarray, " steps"]:
    """l_t = (r_hat - r_t)^2 + |s_hat' - s'_t|^2 of every logged step; only the first part where s' was not logged."""
    sample = Sample.of(data, None)
    result = np.empty(len(sample))
    following = np.where(sample.followed[:, None], sample.next_states, 0.0)
    with jax.enable_x64(True):
        for start in range(0, len(sample), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(sample)))
            padded = np.concatenate([rows, np.full(_BLOCK - len(rows), start)]) if start else rows
            states, rewards = _expected(model, jnp.asarray(sample.states[padded]), jnp.asarray(sample.actions[padded]))
            miss = np.asarray(states)[: len(rows)] - following[rows]
            with np.errstate(over="ignore"):
                squares = np.where(sample.followed[rows], (miss**2).sum(axis=1), 0.0)
                result[rows] = (np.asarray(rewards)[: len(rows)] - sample.rewards[rows]) ** 2 + squares
    # Squares beyond floating point stay comparable, and weights times losses finite.
    return np.minimum(result, _LARGEST)


@eqx.filter_jit
def _expected(
    model: Model, states: Float[Array, "batch dimensions"], actions: Int[Array, " batch"]
) -> tuple[Float[Array, "batch dimensions"], Float[Array, " batch"]]:
    """The expected next states and rewards."""
    rows = jnp.arange(states.shape[0])
    following = model.saturation(model.dynamics(states)[rows, actions])
    return following, model.reward(states, following)[rows, actions]
