"""The linear heads of a trained network, fitted once more in closed form."""

from __future__ import annotations

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from repbm.models.regression._ridge import Moments
from repbm.models.training._networks import ResidualNetwork, ScaledNetwork
from repbm.models.training._trees import known_to_jax
from repbm.models.transitions._padding import bucket, padded

_ROWS = 1 << 14
_ROWS_A_FEATURE = 3


def refit_heads(
    network: ScaledNetwork,
    states: Float[np.ndarray, "steps dimensions"],
    actions: Int[np.ndarray, " steps"],
    outcomes: Float[np.ndarray, "steps outputs"],
    weights: Float[np.ndarray, "steps 2"],
) -> ScaledNetwork:
    """argmin over heads of sum w_k (y_k - x' head_k)^2 plus a tiny penalty, with features x in float64.

    `weights` has one column for the reward and one for the change of state (0 where that is not known). An action with
    few rows for its features keeps the heads that it was trained to. Rows are added up in blocks: memory stays small.
    """
    core = network.core
    if not isinstance(core, ResidualNetwork):
        raise TypeError("only the heads of a residual network are linear without an intercept")
    count, features, outputs = core.heads.shape
    y = network.units.outcomes(outcomes)
    heads = np.asarray(core.heads, np.float64).copy()
    for action in range(count):
        rows = np.flatnonzero(actions == action)
        moments = [Moments.zero(features, 1), Moments.zero(features, outputs - 1)]
        for start in range(0, len(rows), _ROWS):
            block = rows[start : start + _ROWS]
            x = features_of(network, states[block])
            moments[0].add(x, y[block, :1], weights[block, 0])
            known = weights[block, 1] > 0
            moments[1].add(x[known], y[block][known, 1:], weights[block, 1][known])
        for moment, part, counted in ((moments[0], slice(0, 1), 0), (moments[1], slice(1, None), 1)):
            if (weights[rows, counted] > 0).sum() >= _ROWS_A_FEATURE * features:
                heads[action, :, part] = moment.solutions([features])[0]
    return replace(network, core=replace(core, heads=heads))


def features_of(network: ScaledNetwork, states: Float[np.ndarray, "steps dimensions"]) -> np.ndarray:
    """What the heads look at, in float64."""
    known_to_jax()
    full = padded(np.asarray(states, np.float64), bucket(len(states), 1))
    with jax.enable_x64(True):
        return np.asarray(_features(network, jnp.asarray(full)))[: len(states)]


def changes_of(
    network: ScaledNetwork, states: Float[np.ndarray, "steps dimensions"], actions: Int[np.ndarray, " steps"]
) -> Float[np.ndarray, "steps dimensions"]:
    """The predicted change of state of one given action a row, in the units of the log."""
    heads = np.asarray(network.core.heads, np.float64)
    result = np.empty(states.shape)
    for start in range(0, len(states), _ROWS):
        block = slice(start, start + _ROWS)
        x = features_of(network, states[block])
        for action in np.unique(actions[block]):
            own = actions[block] == action
            result[block][own] = x[own] @ heads[action, :, 1:]
    units = network.units
    return result * np.asarray(units.outcome_spread)[1:] + np.asarray(units.outcome_center)[1:]


@eqx.filter_jit
def _features(network: ScaledNetwork, states: Array) -> Array:
    return jnp.asarray(network.features(states))
