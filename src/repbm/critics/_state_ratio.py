"""How much more often a policy comes to the states of a log, by regression of importance weights on the state."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from sklearn.ensemble import HistGradientBoostingRegressor

from repbm.core import RatioRules, stream
from repbm.data import numbered_states
from repbm.estimators import Case

_CLOSE = 1e-9


def fit_state_ratio(
    case: Case, folds: Int[np.ndarray, " episodes"], seed: int, rules: RatioRules
) -> Float[np.ndarray, " steps"]:
    """omega_t(s) = E[ w_{t-1} | s_t = s ] at every logged step, learned from the episodes of other folds.

    w_{t-1} is the product of all ratios before the step, over its mean: what the state does not tell of it is noise,
    and gone. In a table by means, drawn towards those of the state at any time; else by boosted trees of time and state.
    """
    data = case.data
    before = case.weights.normalized.weights
    before = data.delayed(before, 1.0)(slice(None))
    if np.abs(before - 1).max() < _CLOSE:
        return np.ones(len(before))
    fold = np.repeat(folds, data.lengths)
    states = numbered_states(data)
    result = np.ones(len(before))
    inputs = np.column_stack([data.steps, data.observations])
    for k in np.unique(folds):
        others, own = np.flatnonzero((fold != k) & (data.steps > 0)), np.flatnonzero((fold == k) & (data.steps > 0))
        if not len(own):
            continue
        if not len(others) or before[others].sum() <= 0:
            result[own] = 0.0
        elif states is not None:
            result[own] = _table(states[1], data.steps, before, others, own, rules.prior_visits)
        else:
            result[own] = _boosted(inputs, before, others, own, seed, rules)
    return result


def _boosted(
    inputs: np.ndarray, before: np.ndarray, others: np.ndarray, own: np.ndarray, seed: int, rules: RatioRules
) -> Float[np.ndarray, " own"]:
    if len(others) > rules.most_steps:
        others = np.sort(stream(seed, "ratio").choice(others, rules.most_steps, replace=False))
    trees = HistGradientBoostingRegressor(
        loss="poisson",
        max_iter=rules.rounds,
        learning_rate=rules.rate,
        max_leaf_nodes=rules.leaves,
        min_samples_leaf=rules.smallest_leaf,
        early_stopping=False,
        random_state=0,
    )
    return trees.fit(inputs[others], before[others]).predict(inputs[own])


def _table(
    states: np.ndarray, steps: np.ndarray, before: np.ndarray, others: np.ndarray, own: np.ndarray, prior: float
) -> Float[np.ndarray, " own"]:
    """Means of state and time, drawn towards those of the state, which are drawn towards 1."""
    count = int(states.max()) + 1
    size = count * (int(steps.max()) + 1)
    cell = states + count * steps
    visits, sums = np.bincount(states[others], minlength=count), np.bincount(states[others], before[others], count)
    rough = (sums + prior) / (visits + prior)
    visits, sums = np.bincount(cell[others], minlength=size), np.bincount(cell[others], before[others], size)
    return (sums[cell[own]] + prior * rough[states[own]]) / (visits[cell[own]] + prior)
