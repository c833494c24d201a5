"""The reward of a log: a polynomial, of the state before a step or after it, in coordinates that suit it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import FitRules
from repbm.models.parts._reward import PolynomialReward
from repbm.models.regression._polynomial import fit_polynomial
from repbm.models.regression._selected import selected_or
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable

_DEGREE = 6
_POWER_DEGREE = 2
_BASES = (10.0, float(np.e), 2.0)
_LARGEST_LOGARITHM = 100.0
_AS_GOOD = 1.0001
_AS_WIDE = 2.0


def fit_reward(
    table: TransitionTable,
    weights: Float[np.ndarray, " steps"],
    held_out: Bool[np.ndarray, " steps"],
    folds: Int[np.ndarray, " steps"],
    box: Range,
    rules: FitRules,
) -> PolynomialReward:
    """The polynomial that predicts held-out rewards best, of the state before or of the one after.

    Of the one after only if it is logged, or steps where it is not pay like the others: a reward that is paid with the
    last step, whose next state is rarely logged, would else be lost.

    Where polynomials of the observations x miss, also those of base^x: observations are often logged as logarithms,
    and rewards paid in plain units. They must be clearly better. The first rival wins among equally good ones.
    """
    sides = _sides(table, weights, held_out, folds, box, rules)
    least, best = _best([_fitted(table, weights, held_out, folds, box, after, None, rules) for after in sides])
    if least > rules.nearly_exact_reward**2:
        sides = [(after, base) for base in _BASES for after in sides if _useful(table, after, base)]
        if sides:
            less, other = _best([_fitted(table, weights, held_out, folds, box, *side, rules) for side in sides])
            best = other if less < rules.power_gain * least else best
    return best


def _best(rivals: list[tuple[float, PolynomialReward]]) -> tuple[float, PolynomialReward]:
    least = min(error for error, _ in rivals)
    return next(rival for rival in rivals if rival[0] <= _AS_GOOD * least)


def _sides(
    table: TransitionTable,
    weights: Float[np.ndarray, " steps"],
    held_out: Bool[np.ndarray, " steps"],
    folds: Int[np.ndarray, " steps"],
    box: Range,
    rules: FitRules,
) -> tuple[bool, ...]:
    """Before (False) a step, and after it (True) where that is known of all steps that matter."""
    followed = table.followed
    if followed.all():
        return False, True
    if not followed.any():
        return (False,)
    # The next state is missing: do these steps pay what others pay in the same state?
    _, usual = _fitted(table, np.where(followed, weights, 0.0), held_out, folds, box, False, None, rules)
    missed = table.rewards - usual.polynomial.of_actions(box.place(table.states), table.actions)[:, 0]
    last, other = missed[~followed], missed[followed]
    error = max(float(other.std()), rules.nearly_exact_reward * float(np.abs(table.rewards).max()))
    alike = abs(last.mean()) <= rules.unlike_rewards * error / np.sqrt(len(last))
    spread = np.sqrt((last**2).mean()) <= _AS_WIDE * error
    return (False, True) if alike and spread else (False,)


def _useful(table: TransitionTable, after: bool, base: float) -> bool:
    """Whether base^x is within floating point for all states."""
    states = table.next_states[table.followed] if after else table.states
    return bool(np.abs(states).max() * np.log(base) < _LARGEST_LOGARITHM)


def _fitted(
    table: TransitionTable,
    weights: Float[np.ndarray, " steps"],
    held_out: Bool[np.ndarray, " steps"],
    folds: Int[np.ndarray, " steps"],
    box: Range,
    after: bool,
    base: float | None,
    rules: FitRules,
) -> tuple[float, PolynomialReward]:
    """The mean squared held-out error, in units of the largest reward, and the reward."""
    rows = table.followed if after else np.ones(len(table), dtype=bool)
    states = table.next_states[rows] if after else table.states[rows]
    if base is not None:
        states = base**states
        box = Range.over(states)
    scale = max(float(np.abs(table.rewards).max()), np.finfo(float).tiny)
    given = box.place(states), table.actions[rows], table.rewards[rows, None] / scale, weights[rows], held_out[rows]
    polynomial, error = fit_polynomial(*given, table.action_count, limit=_DEGREE if base is None else _POWER_DEGREE)
    if base is None and error[0] > rules.nearly_exact_reward**2:
        given = (*given, folds[rows], rules.simpler, rules.fuller_gain)
        polynomial, _, error = selected_or(polynomial, error, *given)
    scaled = replace(polynomial, coefficients=polynomial.coefficients * scale)
    reward = PolynomialReward(box.center, box.half_width, scaled, after, base)
    return float(np.nan_to_num(error[0], nan=np.inf)), reward
