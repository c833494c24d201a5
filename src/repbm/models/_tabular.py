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

from repbm.core import FitRules, InputError, NoveltyRules, draw, stream
from repbm.data import Support, Trajectories, found_states
from repbm.models._model import Model, ModelValues
from repbm.models._novelty import logged_odds
from repbm.models.objectives._objective import Objective
from repbm.models.parts._outcomes import ENDED, UNKNOWN, Outcomes
from repbm.models.transitions._table import TransitionTable
from repbm.policies import ObservationPolicy

_NOTED = 0.005
"""From this share of visits on it is noted that the policy does what the log never shows."""


class TabularModel(Model):
    """What follows and is earned in every state that the log shows, for every action.

    `moves` has a row for every pair of state and action, and sums to less than 1 where the episode may end. `visits` is
    the total weight of each pair; where it is 0 the pair counts as the other actions in that state do on average, and a
    state in which no action was logged as the other states do.
    """

    states: Float[np.ndarray, "states dimensions"]
    rewards: Float[np.ndarray, "states actions"]
    moves: csr_matrix
    visits: Float[np.ndarray, "states actions"]
    outcomes: Outcomes | None = None
    """What followed and was earned together; None in a model that was saved without."""

    @property
    def exact(self) -> bool:
        return True

    @property
    def stochastic(self) -> bool:
        return False

    def action_values(
        self, policy: ObservationPolicy, discount: float = 1.0, horizon: int | None = None
    ) -> Float[np.ndarray, "horizon states actions"]:
        """Q(s, a) with 1, 2, ..., horizon steps left."""
        size, actions = self.rewards.shape
        choices = policy.probabilities(self.states, self.labels)
        result, value = np.empty((horizon or self.horizon, size, actions)), np.zeros(size)
        for left in range(len(result)):
            result[left] = self.backed_up(value, discount)
            value = np.einsum("sa,sa->s", choices, result[left])
        return result

    def backed_up(self, value: Float[np.ndarray, " states"], discount: float) -> Float[np.ndarray, "states actions"]:
        """r + discount E V(s') of every state and action."""
        times = self.visits.sum(axis=1)
        found = self.rewards + discount * (self.moves @ value).reshape(self.rewards.shape)
        average = (self.visits * found).sum(axis=1) / np.where(times > 0, times, 1.0)
        average[times == 0] = times @ average / times.sum()
        return np.where(self.visits > 0, found, average[:, None])

    def values(
        self,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "states dimensions"],
        *,
        horizon: int | None = None,
        discount: float = 1.0,
        rollouts: int = 32,
        seed: int = 0,
        rewards: tuple[float, float] | None = None,
    ) -> ModelValues:
        """By dynamic programming, exact for this table, whose means of rewards allow no more than these do."""
        choices = policy.probabilities(self.states, self.labels)
        table = np.einsum("sa,sa->s", choices, self.action_values(policy, discount, horizon)[-1])
        unseen = self.unseen(policy)
        note = f"at {unseen:.0%} of visits the policy does what the log never shows there" if unseen > _NOTED else ""
        nothing = np.zeros(len(states))
        return ModelValues(table[self.find(states)], nothing, nothing.astype(bool), note)

    def returns(
        self,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "states dimensions"],
        *,
        horizon: int | None = None,
        discount: float = 1.0,
        rollouts: int = 1,
        seed: int = 0,
    ) -> Float[np.ndarray, "{rollouts} states"]:
        """By logged outcomes of the same pairs; pairs that the log does not show count as in values, by chance."""
        if self.outcomes is None:
            raise InputError("the model does not know what single rewards are", fix="fit it again")
        generator, actions = stream(seed, "returns", 0), self.rewards.shape[1]
        choices = policy.probabilities(self.states, self.labels)
        total = np.zeros(rollouts * len(states))
        rows, place = np.arange(len(total)), np.tile(self.find(states), rollouts)
        for t in range(horizon or self.horizon):
            pair = place * actions + draw(choices[place], generator).clip(0, actions - 1)
            pair = self._shown(pair, generator)
            following, rewards = self.outcomes.draw(generator, pair)
            total[rows] += discount**t * rewards
            on = following != ENDED
            rows, place = rows[on], following[on]
            if not len(rows):
                break
        return total.reshape(rollouts, len(states))

    def _shown(self, pairs: Int[np.ndarray, " batch"], generator: np.random.Generator) -> Int[np.ndarray, " batch"]:
        """The pairs, and for those without visits another action of the state, or any pair where it has none."""
        visits = self.visits.reshape(-1)
        missing = np.flatnonzero(visits[pairs] == 0)
        if not len(missing):
            return pairs
        pairs, actions = pairs.copy(), self.visits.shape[1]
        state = pairs[missing] // actions
        known = self.visits[state].any(axis=1)
        one, other = missing[known], missing[~known]
        pairs[one] = state[known] * actions + draw(self.visits[state[known]], generator)
        pairs[other] = generator.choice(len(visits), len(other), p=visits / visits.sum())
        return pairs

    def step_values(
        self,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "states dimensions"],
        steps_left: Int[np.ndarray, " states"],
        actions: Int[np.ndarray, " states"],
        odds: Float[np.ndarray, "states actions"],
        *,
        discount: float = 1.0,
        rollouts: int = 1,
        seed: int = 0,
        dtype: type[np.floating] = np.float64,
        rewards: tuple[float, float] | None = None,
    ) -> tuple[Float[np.ndarray, " states"], Float[np.ndarray, " states"]]:
        table, place = self.action_values(policy, discount, int(steps_left.max())), self.find(states)
        choices = policy.probabilities(self.states, self.labels)
        values = np.einsum("sa,hsa->hs", choices, table)
        return table[steps_left - 1, place, actions], values[steps_left - 1, place]

    def losses(self, data: Trajectories) -> Float[np.ndarray, " steps"]:
        """(r_hat - r)^2 + sum_s' (T(s' | s, a) - 1{s' = s'_t})^2 of every step, the end counting as one more state."""
        table = TransitionTable.of(data, None, horizon=self.horizon)
        pair = self.find(table.states) * table.action_count + table.actions
        rewards = (self.rewards.reshape(-1)[pair] - table.rewards) ** 2
        ending = 1 - np.asarray(self.moves.sum(axis=1)).reshape(-1)
        squares = np.asarray(self.moves.multiply(self.moves).sum(axis=1)).reshape(-1) + ending**2
        onward = table.followed & ~table.ended
        hit = np.where(table.ended, ending[pair], 0.0)
        hit[onward] = np.asarray(self.moves[pair[onward], self.find(table.next_states[onward])]).reshape(-1)
        return rewards + np.where(table.ended | onward, squares[pair] - 2 * hit + 1, 0.0)

    def path_error(self, data: Trajectories, ahead: int, most_windows: int = 4096) -> float:
        return float("nan")

    def knows(self, states: Float[np.ndarray, "states dimensions"]) -> Bool[np.ndarray, " states"]:
        return found_states(self.states, states)[1]

    def novelty(
        self, data: Trajectories, policy: ObservationPolicy, horizon: int, rules: NoveltyRules, seed: int = 0
    ) -> Float[np.ndarray, " horizon"]:
        """Exact: by the chances of all states, step by step."""
        size, actions = self.rewards.shape
        choices = logged_odds(policy, self.states, self.labels)
        shown = self.visits >= rules.neighbor
        here = np.bincount(self.find(data.initial_observations), minlength=size) / len(data)
        met = np.zeros(horizon)
        for t in range(horizon):
            taken = here[:, None] * choices
            # What the policy does beyond the log's actions is missing from the choices: that is novel, too.
            met[t] = here.sum() - (taken * shown).sum()
            here = self.moves.T @ (taken * shown).reshape(size * actions)
        return np.cumsum(met).clip(0.0, 1.0)

    def support_probability(
        self,
        data: Trajectories,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "individuals dimensions"],
        horizon: int,
        rules: NoveltyRules,
        seed: int = 0,
    ) -> Float[np.ndarray, " individuals"]:
        """Exact: by dynamic programming."""
        size, actions = self.rewards.shape
        taken = logged_odds(policy, self.states, self.labels) * (self.visits >= rules.neighbor)
        ending = 1 - np.asarray(self.moves.sum(axis=1)).reshape(size, actions)
        chance = np.ones(size)
        for _ in range(horizon):
            chance = (taken * (ending + (self.moves @ chance).reshape(size, actions))).sum(axis=1)
        return chance.clip(0.0, 1.0)[self.find(states)]

    def unseen(self, policy: ObservationPolicy) -> float:
        """The share of logged visits to states in which the policy would do what the log never shows there."""
        choices = policy.probabilities(self.states, self.labels)
        times = self.visits.sum(axis=1)
        return float(times @ np.where(self.visits > 0, 0.0, choices).sum(axis=1) / times.sum())

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


@dataclass(frozen=True, eq=False)
class Counts:
    """Where the steps of a log begin and lead, as numbers: what tables of any weights are made of."""

    data: Trajectories
    log: TransitionTable
    horizon: int
    states: Float[np.ndarray, "states dimensions"]
    pairs: Int[np.ndarray, " steps"]
    """The number of state and action."""
    following: Int[np.ndarray, " steps"]
    """That of the next state; ENDED or UNKNOWN where there is none."""

    @classmethod
    def of(cls, data: Trajectories, log: TransitionTable, horizon: int) -> Counts:
        onward = log.followed & ~log.ended
        every = np.concatenate([log.states, log.next_states[onward]])
        states, numbers = np.unique(every, axis=0, return_inverse=True)
        here, there = np.split(numbers.reshape(-1), [len(log)])
        following = np.where(log.ended, ENDED, UNKNOWN)
        following[onward] = there
        return cls(data, log, horizon, states, here * log.action_count + log.actions, following)

    def model(self, weights: Float[np.ndarray, " steps"]) -> TabularModel:
        """Weighted frequencies of what followed, and weighted means of what was earned."""
        outcomes = Outcomes.of(self.pairs, self.following, self.log.rewards, weights)
        given = self.states, self.pairs, self.following, self.log.rewards, weights
        return tabulated(self.data, self.horizon, *given, outcomes)


def tabulated(
    data: Trajectories,
    horizon: int,
    states: Float[np.ndarray, "states dimensions"],
    pairs: Int[np.ndarray, " some"],
    following: Int[np.ndarray, " some"],
    rewards: Float[np.ndarray, " some"],
    weights: Float[np.ndarray, " some"],
    outcomes: Outcomes,
) -> TabularModel:
    """Weighted frequencies of what followed steps, or many alike, and weighted means of what was earned.

    `data` says what actions and observations are called.
    """
    size, actions = len(states), len(data.actions.labels)
    rewarded = np.bincount(pairs, weights, size * actions)
    paid = np.bincount(pairs, weights * rewards, size * actions) / np.where(rewarded > 0, rewarded, 1.0)
    told = following != UNKNOWN
    counts = np.bincount(pairs[told], weights[told], size * actions)
    onward = told & (following != ENDED)
    share = weights[onward] / np.where(counts > 0, counts, 1.0)[pairs[onward]]
    moves = csr_matrix((share, (pairs[onward], following[onward])), shape=(size * actions, size))
    return TabularModel(
        labels=data.actions.labels,
        horizon=horizon,
        observation_names=data.observation_names,
        states=states,
        rewards=paid.reshape(size, actions),
        moves=moves,
        visits=rewarded.reshape(size, actions),
        outcomes=outcomes,
    )


def fit_tabular(
    data: Trajectories,
    support: Support | None,
    objective: Objective,
    horizon: int,
    rules: FitRules = FitRules(),  # noqa: B008 - frozen
) -> TabularModel:
    """Weighted frequencies of what followed, and weighted means of what was earned."""
    used = support if objective.target else None
    log = TransitionTable.of(data, used, rules.trust, horizon, weight_limit=rules.weight_limit)
    return Counts.of(data, log, horizon).model(objective.weights(log))


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
