"""How rewards of a log scatter around what is expected: one of a few values, or by held-out residuals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import FitRules
from repbm.models.parts._noise import LocalNoise, Noise
from repbm.models.parts._noise_fit import Missed, residual_noise
from repbm.models.parts._reward import PolynomialReward
from repbm.models.parts._reward_fit import fit_reward
from repbm.models.parts._reward_noise import (
    ExactRewards,
    LastStepRewards,
    RewardNoise,
    ScatteredRewards,
    ValuedRewards,
)
from repbm.models.regression._selected import cross_fitted
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable

_FEW = 10
_FEWEST_LAST = 50
_UNLIKE_SPREAD = 2.0
_MEANS = 33
_ROUNDS = 60
_STEEPEST = 60.0
_MOST_ROWS = 1500


def fit_reward_noise(
    table: TransitionTable,
    weights: Float[np.ndarray, " steps"],
    folds: Int[np.ndarray, " steps"],
    box: Range,
    reward: PolynomialReward,
    horizon: int,
    generator: np.random.Generator,
    rules: FitRules,
) -> RewardNoise:
    """Rewards with few different values are drawn among these, others around what is expected of them.

    Residuals are those of rewards of the same form fitted to other episodes. Where last steps pay otherwise than the
    model expects of them, as with a reward that is paid with the end, both have expectations of their own.
    """
    rows = np.flatnonzero((weights > 0) & (table.followed if reward.after else True))
    table, weights, folds = table.take(rows), weights[rows], folds[rows]
    missed = _missed(table, weights, folds, reward)
    last = table.ended | (table.steps == horizon - 1)
    if not _unlike(missed, last, rules):
        return _around(table, folds, missed, box, generator, rules)
    # Quickly: with polynomials of the states as they are.
    quick = replace(rules, nearly_exact_reward=np.inf)
    parts = []
    for chosen in (~last, last):
        own = table.take(np.flatnonzero(chosen))
        mine, fold = weights[chosen], folds[chosen]
        fitted = fit_reward(own, mine, fold == fold.max(), fold, box, quick)
        left = _missed(own, mine, fold, fitted)
        told = np.isfinite(left)
        parts += [fitted, _around(own.take(np.flatnonzero(told)), fold[told], left[told], box, generator, rules)]
    return LastStepRewards(*parts)


def _missed(
    table: TransitionTable,
    weights: Float[np.ndarray, " steps"],
    folds: Int[np.ndarray, " steps"],
    reward: PolynomialReward,
) -> Float[np.ndarray, " steps"]:
    """What rewards with the same terms, fitted to the other folds, miss in every row; NaN where s' is needed and was
    not logged."""
    rows = table.followed if reward.after else np.ones(len(table), dtype=bool)
    states = table.next_states[rows] if reward.after else table.states[rows]
    if reward.base is not None:
        states = reward.base**states
    positions = (states - reward.center) / reward.half_width
    given = positions, table.actions[rows], table.rewards[rows, None], weights[rows], folds[rows]
    result = np.full(len(table), np.nan)
    result[rows] = cross_fitted(*given, reward.polynomial)[:, 0]
    return result


def _unlike(missed: Float[np.ndarray, " rows"], last: Bool[np.ndarray, " rows"], rules: FitRules) -> bool:
    """Whether last steps pay more, less, or in another way than others, in the same states."""
    one, other = missed[last], missed[~last]
    if min(len(one), len(other)) < _FEWEST_LAST:
        return False
    spreads = one.std(), other.std()
    error = np.hypot(spreads[0] / np.sqrt(len(one)), spreads[1] / np.sqrt(len(other)))
    wider = max(spreads) > _UNLIKE_SPREAD * min(spreads)
    return bool(wider or abs(one.mean() - other.mean()) > rules.unlike_rewards * error)


def _around(
    table: TransitionTable,
    folds: Int[np.ndarray, " steps"],
    missed: Float[np.ndarray, " steps"],
    box: Range,
    generator: np.random.Generator,
    rules: FitRules,
) -> RewardNoise:
    """How these rewards lie around what is expected of them, where that is missed by so much."""
    values = np.unique(table.rewards)
    if len(values) <= rules.most_reward_values and len(table) >= _FEW * len(values):
        return _valued(values, table.rewards, table.actions, table.action_count)
    rows = np.arange(0, len(table), 1 + len(table) // _MOST_ROWS)
    some = Missed(missed[rows, None], table.rewards[rows, None], table.states[rows], table.actions[rows], folds[rows])
    noise = residual_noise(some, table.action_count, box, generator, rules)
    return ExactRewards() if noise is None else ScatteredRewards(_centered(noise))


def _centered(noise: Noise) -> Noise:
    """The same with residuals of mean 0 wherever they are drawn: the mean of a reward stays what is expected."""
    residuals = np.asarray(noise.residuals)
    draws = noise.draws if isinstance(noise, LocalNoise) else residuals.shape[1]
    pools = residuals.reshape(len(residuals), -1, draws, 1)
    return replace(noise, residuals=(pools - pools.mean(axis=2, keepdims=True)).reshape(residuals.shape))


def _valued(
    values: Float[np.ndarray, " values"],
    rewards: Float[np.ndarray, " rows"],
    actions: Int[np.ndarray, " rows"],
    action_count: int,
) -> ValuedRewards:
    chances = np.empty((action_count, _MEANS, len(values)))
    low, high = np.empty(action_count), np.empty(action_count)
    codes = np.searchsorted(values, rewards)
    for action in range(action_count):
        own = actions == action
        counts = np.bincount(codes[own] if own.sum() >= _FEW else codes, minlength=len(values))
        shown = np.flatnonzero(counts)
        low[action], high[action] = values[shown[[0, -1]]]
        aims = np.linspace(low[action], high[action], _MEANS)
        chances[action] = np.cumsum(_tilted(counts / counts.sum(), values, aims), axis=1)
    return ValuedRewards(values, chances, low, high)


def _tilted(
    shares: Float[np.ndarray, " values"], values: Float[np.ndarray, " values"], aims: Float[np.ndarray, " means"]
) -> Float[np.ndarray, "means values"]:
    """p_k ~ q_k exp(l v_k) with these means: l by halves."""
    shown = shares > 0
    result = np.zeros((len(aims), len(values)))
    q, v = shares[shown], values[shown]
    if len(v) == 1:
        result[:, shown] = 1.0
        return result
    v = (v - v[0]) / (v[-1] - v[0])
    target = (aims - aims[0]) / (aims[-1] - aims[0])

    def tilted(tilt: np.ndarray) -> np.ndarray:
        scores = np.log(q) + tilt[:, None] * v
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    steepest = _STEEPEST / float(np.diff(v).min())
    low, high = np.full(len(aims), -steepest), np.full(len(aims), steepest)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        above = tilted(middle) @ v > target
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    result[:, shown] = tilted((low + high) / 2)
    return result
