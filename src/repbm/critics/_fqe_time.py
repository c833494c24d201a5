"""Fitted Q evaluation where time matters: each number of steps left by the steps that have it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.core import FittedQRules
from repbm.critics._bellman_sums import Problem
from repbm.critics._ridge_choice import RidgeChoice, grams, moments

_PENALTY = 0.01
_SELDOM = 1.1
"""Candidates are compared again with so many times as many, or as few, steps left or rows."""


def changes_with_time(
    problem: Problem,
    powers: Int[np.ndarray, "features dimensions"],
    values: Float[np.ndarray, "horizon actions features"],
    rules: FittedQRules,
) -> bool:
    """Whether the steps with a number of steps left tell as much of what it is worth as all steps together do.

    What these values miss there, r + gamma V - Q, is regressed on the state, action by action, and predicted for
    held-out episodes. In a world that a polynomial follows this only adds noise. Where time matters it helps;
    and where the world follows no polynomial it hardly hurts, while mistakes of all steps together add up.
    """
    linear = np.flatnonzero(powers.sum(axis=1) <= 1)
    part = problem.transitions
    count = int(part.episodes.max()) + 1
    gains = np.zeros(count)
    for left in range(1, problem.horizon + 1):
        rows, x, missed = _missed(problem, powers, values, left)
        for action in range(problem.actions):
            own = np.flatnonzero(part.actions[rows] == action)
            if len(own) < 4 * len(linear):
                continue
            here, error, folds = x[own][:, linear], missed[own], problem.folds[rows[own]]
            choice = RidgeChoice(grams(here, folds, problem.fold_count), (np.arange(len(linear)),), (_PENALTY,))
            sums = moments(here, error, folds, problem.fold_count)
            every = np.stack([choice.coefficients((0, _PENALTY), sums, k) for k in range(problem.fold_count)])
            rest = error - np.einsum("kf,kf->k", here, every[folds])
            np.add.at(gains, part.episodes[rows[own]], error**2 - rest**2)
    spread = float(gains.std(ddof=1)) if count > 1 else 0.0
    return spread > 0 and bool(gains.mean() > -rules.time_evidence * spread / np.sqrt(count))


def values_by_step(
    problem: Problem,
    powers: Int[np.ndarray, "features dimensions"],
    sets: tuple[Int[np.ndarray, " _"], ...],
    pooled: Float[np.ndarray, "horizon actions features"],
    rules: FittedQRules,
) -> Float[np.ndarray, "horizon actions features"]:
    """The coefficients of Q, each number of steps left by its own rows; as pooled for actions with hardly any."""
    result = pooled.copy()
    chosen: dict[int, tuple[int, float]] = {}
    known: dict[int, np.ndarray] = {}
    for left in range(1, problem.horizon + 1):
        rows, x, missed = _missed(problem, powers, result, left)
        targets = missed + np.einsum("kf,kf->k", x, result[left - 1][problem.transitions.actions[rows]])
        for action in range(problem.actions):
            own = np.flatnonzero(problem.transitions.actions[rows] == action)
            if len(own) < 10:
                continue
            possible = [number for number, one in enumerate(sets) if len(one) <= max(len(own) / 5, 1)]
            now = np.log([left, len(own)])
            again = action not in known or (np.abs(now - known[action]) >= np.log(_SELDOM)).any()
            if not again and chosen[action][0] in possible:
                possible = [chosen[action][0]]
            used = np.unique(np.concatenate([sets[number] for number in possible]))
            inner = tuple(np.searchsorted(used, sets[number]) for number in possible)
            here, folds = x[own][:, used], problem.folds[rows[own]]
            choice = RidgeChoice(grams(here, folds, problem.fold_count), inner, rules.penalties)
            sums = moments(here, targets[own], folds, problem.fold_count)
            if again or chosen[action][0] not in possible:
                place, penalty = choice.best(sums)
                chosen[action], known[action] = (possible[place], penalty), now
            found = choice.coefficients((possible.index(chosen[action][0]), chosen[action][1]), sums)
            result[left - 1, action] = 0.0
            result[left - 1, action, used] = found
    return result


def _missed(
    problem: Problem, powers: np.ndarray, values: np.ndarray, left: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows with so many steps left, their features, and r + gamma V - Q there."""
    rows = np.flatnonzero(problem.transitions.left == left)
    part = problem.transitions.take(rows)
    x, targets = problem.now(part, powers), part.rewards
    if left > 1:
        after = problem.then(part, powers) @ values[left - 2].T
        targets = targets + problem.expected(part, after, left - 1)[1]
    return rows, x, targets - np.einsum("kf,kf->k", x, values[left - 1][part.actions])
