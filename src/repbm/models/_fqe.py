"""Fitted Q evaluation: what a policy is worth by regression on one-step targets (Le, Voloshin & Yue 2019).

Q(s, a, h) = E[ r + gamma sum_a' pi(a' | s') Q(s', a', h - 1) ] with h steps left, 0 after the end of an episode.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_matrix

from repbm.data import Trajectories
from repbm.models._action_values import ActionValues, TableValues
from repbm.models._fqe_network import FQENetwork, network_values
from repbm.models._fqe_polynomial import polynomial_values
from repbm.models._transitions import Transitions
from repbm.policies import ObservationPolicy, Policy

_MOST_STATES = 1000
_MOST_CELLS = 1 << 25


def fit_fqe(
    data: Trajectories,
    policy: Policy,
    discount: float,
    horizon: int,
    *,
    network: FQENetwork | None = None,
    seed: int = 0,
) -> ActionValues:
    """Q of the policy, fitted to the log.

    By dynamic programming in the counts of the log where its one observation takes few whole values; else by
    polynomials in closed form, or by a `network` where one is given.
    """
    transitions = Transitions.of(data, policy, horizon)
    rewards = (float(data.rewards.min()), float(data.rewards.max()))
    actions = len(data.actions.labels)
    if network is not None:
        function = network_values(transitions, actions, discount, rewards, horizon, network, seed)
    elif _few_states(transitions, horizon * actions):
        assert isinstance(policy, ObservationPolicy)
        function = _table(transitions, policy, data, discount, horizon)
    else:
        function = polynomial_values(transitions, actions, discount, rewards, horizon, seed)
    return ActionValues(function, data.actions.labels, horizon, discount, rewards)


def _few_states(transitions: Transitions, cells: int) -> bool:
    if transitions.states.shape[1] != 1:
        return False
    states = np.unique(_seen(transitions))
    most = min(_MOST_STATES, _MOST_CELLS // cells)
    return len(states) <= most and bool((states == np.floor(states)).all())


def _seen(transitions: Transitions) -> Float[np.ndarray, " seen"]:
    """The states in which actions are, or would be, taken."""
    return np.concatenate(
        [transitions.states[:, 0], transitions.following[transitions.followed & ~transitions.ended, 0]]
    )


def _table(
    transitions: Transitions, policy: ObservationPolicy, data: Trajectories, discount: float, horizon: int
) -> TableValues:
    """Dynamic programming in the maximum-likelihood world of the log.

    An action never logged in a state counts as those logged there do on average, a state without any as the others.
    Steps of all times are pooled: where a step stops for want of time only, its s' counts, and must be known.
    """
    states = np.unique(_seen(transitions))
    transitions = transitions.take(np.flatnonzero(transitions.followed | transitions.ended))
    labels = data.actions.labels
    size, actions = len(states), len(labels)
    pair = np.searchsorted(states, transitions.states[:, 0]) * actions + transitions.actions
    counts = np.bincount(pair, minlength=size * actions).astype(np.float64)
    known = np.maximum(counts, 1)
    rewards = np.bincount(pair, transitions.rewards, size * actions) / known
    onward = ~transitions.ended
    place = (pair[onward], np.searchsorted(states, transitions.following[onward, 0]))
    moves = csr_matrix((1 / known[pair[onward]], place), shape=(size * actions, size))
    choices = policy.choices(states[:, None], labels).matrix(labels)

    seen = counts.reshape(size, actions)
    visits = seen.sum(axis=1)
    table, value = np.empty((horizon, size, actions)), np.zeros(size)
    for h in range(horizon):
        found = (rewards + discount * (moves @ value)).reshape(size, actions)
        average = (seen * found).sum(axis=1) / np.maximum(visits, 1)
        average[visits == 0] = visits @ average / visits.sum()
        table[h] = np.where(seen > 0, found, average[:, None])
        value = (choices * table[h]).sum(axis=1)
    return TableValues(states, table)
