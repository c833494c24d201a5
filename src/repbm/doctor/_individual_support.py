"""Whose value cannot be told: nobody like them was logged, or not what the policy does with them first."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import binom

from repbm.core import Thresholds, say
from repbm.data import Trajectories, few_states, found_states, numbered_states
from repbm.estimators import Case
from repbm.policies import ObservationPolicy

_MOST_UNCOVERED = 0.5
"""An individual is refused if at least this share of what the policy may do first was hardly ever logged."""


def refusals(
    case: Case, states: Float[np.ndarray, "individuals dimensions"], thresholds: Thresholds
) -> list[str | None]:
    """For every individual why its value is refused; None where it is not.

    The most similar logged states tell: how near they are, compared with how near they usually are to each other, and
    how often the actions of the policy were taken there. In a table only the same state is similar.
    """
    reasons: list[str | None] = [None] * len(states)
    if not isinstance(case.policy, ObservationPolicy) or not case.data.observations.shape[1] or not len(states):
        return reasons
    labels = case.data.actions.labels
    odds = case.policy.choices(states, labels).matrix(tuple(dict.fromkeys([*labels, *case.decisions.labels])))
    hits, counts, far = _similar(case.data, states, thresholds)
    # Actions that the log never shows have no hits.
    hits = np.pad(hits, ((0, 0), (0, odds.shape[1] - hits.shape[1])))
    rules = thresholds.positivity
    rare = binom.cdf(hits, counts[:, None], rules.least_rate * odds) < rules.significance
    uncovered = np.where(rare & (odds > rules.least_probability), odds, 0.0)
    for k in np.flatnonzero((uncovered.sum(axis=1) >= _MOST_UNCOVERED) | far | (counts == 0)):
        if far[k] or not counts[k]:
            reasons[k] = say("doctor", "refused_unlike")
        else:
            action = int(uncovered[k].argmax())
            name = case.decisions.labels[action] if action >= len(labels) else labels[action]
            reasons[k] = say("doctor", "refused_rare", action=name, hits=hits[k, action], count=counts[k])
    return reasons


def _similar(
    data: Trajectories, states: np.ndarray, thresholds: Thresholds
) -> tuple[Int[np.ndarray, "individuals actions"], Int[np.ndarray, " individuals"], np.ndarray]:
    """How often each action was logged in similar states, how many these are, and whether they are far away."""
    actions = len(data.actions.labels)
    numbered = numbered_states(data) if few_states(data) else None
    if numbered is not None:
        table, number = numbered
        taken = np.zeros((len(table), actions), dtype=np.int64)
        np.add.at(taken, (number, data.actions.codes), 1)
        place, there = found_states(table, states)
        return taken[place], taken[place].sum(axis=1), ~there
    from sklearn.neighbors import NearestNeighbors

    spread = data.observations.std(axis=0)
    varies = spread > 0
    rules = thresholds.novelty
    rows = np.arange(len(data.rewards))[:: max(1, -(-len(data.rewards) // rules.most_states))]
    count = min(thresholds.individuals.neighbors, len(rows))
    if not varies.any():
        everywhere = np.bincount(data.actions.codes, minlength=actions)
        return np.tile(everywhere, (len(states), 1)), np.full(len(states), len(rows)), np.zeros(len(states), dtype=bool)
    known = data.observations[rows][:, varies] / spread[varies]
    search = NearestNeighbors(n_neighbors=count).fit(known)
    distances, found = search.kneighbors(states[:, varies] / spread[varies])
    taken = np.zeros((len(states), actions), dtype=np.int64)
    np.add.at(taken, (np.repeat(np.arange(len(states)), count), data.actions.codes[rows[found]].ravel()), 1)
    # Distances within the log itself: every state is its own nearest.
    nearest = min(rules.neighbor, count - 1)
    usual = np.quantile(search.kneighbors(known[:: max(1, len(known) // 1000)])[0][:, nearest], rules.usual_quantile)
    return taken, np.full(len(states), count), distances[:, nearest] > rules.far * usual
