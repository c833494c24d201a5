"""How much more often a policy comes to the states of a log, by regression of importance weights on the state."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from sklearn.ensemble import ExtraTreesRegressor

from repbm.core import RatioRules, in_threads, stream
from repbm.data import few_states, numbered_states
from repbm.estimators import Case, Weights

_CLOSE = 1e-9


def fit_state_ratio(
    case: Case, folds: Int[np.ndarray, " episodes"], seed: int, rules: RatioRules
) -> Float[np.ndarray, " steps"]:
    """omega_t(s) = E[ w_{t-1} | s_t = s ] at every logged step, learned from the episodes of other folds.

    w_{t-1} is the product of all ratios before the step, over its mean: what the state does not tell of it is noise,
    and gone. In a table by means, drawn towards those of the state at any time; else by a forest of random trees of
    time and state: means of several steps again, so that none is told more than was seen. (Boosted trees multiply
    factors, and gave single steps nine tenths of all weight.) `sweeps` more regressions, of omega_{t-1}(s_{t-1}) pi /
    mu in place of the product, leave less noise: the weights of a long episode are then no longer the product of many.
    """
    data = case.data
    assert data.behavior is not None
    weights = case.weights
    if np.abs(weights.normalized.weights - 1).max() < _CLOSE:
        return np.ones(len(data.rewards))
    ratio = case.decisions.logged(slice(None)) / data.behavior
    result = np.ones(len(ratio))
    for _ in range(1 + rules.sweeps):
        # Past the last episode that follows the policy nothing is known, and nothing weighs.
        with np.errstate(over="ignore", invalid="ignore"):
            followed = np.nan_to_num(weights.normalized.weights, nan=0.0, posinf=0.0)
        before = data.delayed(followed, 1.0)(slice(None))
        result = _regressed(case, before, np.repeat(folds, data.lengths), seed, rules)
        scaled = result * ratio
        with np.errstate(divide="ignore"):
            weights = Weights(data, scaled, np.log(scaled[data.lasts]))
    return result


def _regressed(
    case: Case, before: Float[np.ndarray, " steps"], fold: Int[np.ndarray, " steps"], seed: int, rules: RatioRules
) -> Float[np.ndarray, " steps"]:
    """E[ before | t, s ] at every step after the first, from the other folds; 1 at the first."""
    data = case.data
    states = numbered_states(data) if few_states(data) else None
    inputs = np.column_stack([data.steps, data.observations])
    result = np.ones(len(before))

    def judge(k: int) -> None:
        others, own = np.flatnonzero((fold != k) & (data.steps > 0)), np.flatnonzero((fold == k) & (data.steps > 0))
        if not len(own):
            return
        if not len(others) or before[others].sum() <= 0:
            result[own] = 0.0
        elif states is not None:
            result[own] = _table(states[1], data.steps, before, others, own, rules.prior_visits)
        else:
            result[own] = _forest(inputs, before, others, own, seed, rules)

    # Trees grow without the interpreter.
    list(in_threads(judge, np.unique(fold).tolist()))
    return result


def _forest(
    inputs: np.ndarray, before: np.ndarray, others: np.ndarray, own: np.ndarray, seed: int, rules: RatioRules
) -> Float[np.ndarray, " own"]:
    if len(others) > rules.most_steps:
        others = np.sort(stream(seed, "ratio").choice(others, rules.most_steps, replace=False))
    forest = ExtraTreesRegressor(
        rules.trees, min_samples_leaf=rules.smallest_leaf, max_features=rules.columns, random_state=0
    )
    return forest.fit(inputs[others], before[others]).predict(inputs[own])


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
