"""Few states: the world as a table, in closed form, and values by dynamic programming.

For a table without further structure, the loss of the paper for discrete states,
l_T = sum_s' V(s') (T(s' | s, a) - 1{s' = s'_t})^2 with any target V >= 0, weighted by the objective, has the same
minimiser as the likelihood: the weighted frequencies. Refreshing V changes nothing, so the fit is done in one step
(`value_weighted_loss` is here for the law that says so).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_matrix

from repbm.core import InputError, Label
from repbm.data import Support, Trajectories, numbered_states
from repbm.models._states import found_states
from repbm.models.objectives._objective import Objective
from repbm.models.transitions._table import TRUST, TransitionTable
from repbm.policies import ObservationPolicy

_FEWEST_VISITS = 5


@dataclass(frozen=True, eq=False)
class TabularModel:
    """What follows and is earned in every state that the log shows, for every action.

    `moves` has a row for every pair of state and action, and sums to less than 1 where the episode may end. `visits` is
    the total weight of each pair; where it is 0 the pair counts as the other actions in that state do on average, and a
    state in which no action was logged as the other states do.
    """

    states: Float[np.ndarray, "states dimensions"]
    rewards: Float[np.ndarray, "states actions"]
    moves: csr_matrix
    visits: Float[np.ndarray, "states actions"]
    labels: tuple[Label, ...]
    horizon: int
    observation_names: tuple[str, ...] = ()

    def action_values(
        self, policy: ObservationPolicy, discount: float = 1.0, horizon: int | None = None
    ) -> Float[np.ndarray, "horizon states actions"]:
        """Q(s, a) with 1, 2, ..., horizon steps left."""
        size, actions = self.rewards.shape
        choices = policy.probabilities(self.states, self.labels)
        times = self.visits.sum(axis=1)
        result, value = np.empty((horizon or self.horizon, size, actions)), np.zeros(size)
        for left in range(len(result)):
            found = self.rewards + discount * (self.moves @ value).reshape(size, actions)
            average = (self.visits * found).sum(axis=1) / np.where(times > 0, times, 1.0)
            average[times == 0] = times @ average / times.sum()
            result[left] = np.where(self.visits > 0, found, average[:, None])
            value = np.einsum("sa,sa->s", choices, result[left])
        return result

    def unseen(self, policy: ObservationPolicy) -> float:
        """The share of logged visits to states in which the policy would do what the log never shows there."""
        choices = policy.probabilities(self.states, self.labels)
        times = self.visits.sum(axis=1)
        return float(times @ np.where(self.visits > 0, 0.0, choices).sum(axis=1) / times.sum())

    def knows(self, observations: Float[np.ndarray, "batch dimensions"]) -> Bool[np.ndarray, " batch"]:
        """Whether the log shows each of these states."""
        return found_states(self.states, observations)[1]

    def find(self, observations: Float[np.ndarray, "batch dimensions"]) -> Int[np.ndarray, " batch"]:
        """The number of every observed state; an error for one that the log does not show."""
        place, known = found_states(self.states, observations)
        if not known.all():
            state = observations[~known][0]
            raise InputError(
                f"the log does not show the state {', '.join(f'{x:g}' for x in state)}",
                fix="a table knows only logged states",
            )
        return place


def few_states(data: Trajectories) -> bool:
    """Whether the log shows so few different states, so often, that a table is the natural model."""
    found = numbered_states(data)
    return found is not None and len(data.rewards) >= _FEWEST_VISITS * len(found[0])


def fit_tabular(data: Trajectories, support: Support | None, objective: Objective, horizon: int) -> TabularModel:
    """Weighted frequencies of what followed, and weighted means of what was earned."""
    sample = TransitionTable.of(data, support if objective.target else None, TRUST, horizon)
    weights = objective.weights(sample)
    states = np.unique(np.concatenate([sample.states, sample.next_states[sample.followed & ~sample.ended]]), axis=0)
    size, actions = len(states), sample.action_count
    pair = found_states(states, sample.states)[0] * actions + sample.actions
    rewarded = np.bincount(pair, weights, size * actions)
    rewards = np.bincount(pair, weights * sample.rewards, size * actions) / np.where(rewarded > 0, rewarded, 1.0)
    told = sample.ended | sample.followed
    counts = np.bincount(pair[told], weights[told], size * actions)
    onward = told & ~sample.ended
    share = weights[onward] / np.where(counts > 0, counts, 1.0)[pair[onward]]
    place = (pair[onward], found_states(states, sample.next_states[onward])[0])
    moves = csr_matrix((share, place), shape=(size * actions, size))
    return TabularModel(
        states,
        rewards.reshape(size, actions),
        moves,
        rewarded.reshape(size, actions),
        data.actions.labels,
        horizon,
        data.observation_names,
    )


def value_weighted_loss(
    moves: Float[np.ndarray, "pairs states"],
    pairs: Int[np.ndarray, " steps"],
    following: Int[np.ndarray, " steps"],
    weights: Float[np.ndarray, " steps"],
    values: Float[np.ndarray, " states"],
) -> float:
    """sum over steps of weight * sum_s' V(s') (T(s' | s, a) - 1{s' = s'_t})^2."""
    hit = np.zeros((len(pairs), moves.shape[1]))
    hit[np.arange(len(pairs)), following] = 1.0
    return float(weights @ ((moves[pairs] - hit) ** 2 @ values))
