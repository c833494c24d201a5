"""The reward of a log: a polynomial, of the state before a step or after it, in coordinates that suit it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float

from repbm.core import FitRules
from repbm.models.parts._reward import PolynomialReward
from repbm.models.regression._polynomial import Polynomial, fit_polynomial
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable

_DEGREE = 6
_POWER_DEGREE = 2
_BASES = (10.0, float(np.e), 2.0)
_LARGEST_LOGARITHM = 100.0
_AS_GOOD = 1.0001


def fit_reward(
    table: TransitionTable,
    weights: Float[np.ndarray, " steps"],
    held_out: Bool[np.ndarray, " steps"],
    box: Range,
    rules: FitRules,
) -> PolynomialReward:
    """The polynomial that predicts held-out rewards best, of the state before or of the one after.

    Where polynomials of the observations x miss, also those of base^x: observations are often logged as logarithms,
    and rewards paid in plain units. They must be clearly better. The first rival wins among equally good ones.
    """
    least, best = _best([_fitted(table, weights, held_out, box, after, None) for after in _sides(table)])
    if least > rules.nearly_exact_reward**2:
        sides = [(after, base) for base in _BASES for after in _sides(table, base)]
        if sides:
            less, other = _best([_fitted(table, weights, held_out, box, *side) for side in sides])
            best = other if less < rules.power_gain * least else best
    return best


def _best(rivals: list[tuple[float, PolynomialReward]]) -> tuple[float, PolynomialReward]:
    least = min(error for error, _ in rivals)
    return next(rival for rival in rivals if rival[0] <= _AS_GOOD * least)


def _sides(table: TransitionTable, base: float = 1.0) -> Iterator[bool]:
    """Before (False) and after (True) a step, as far as states are logged there and base^x is a useful number."""
    for after in (False, True) if table.followed.any() else (False,):
        states = table.next_states[table.followed] if after else table.states
        if np.abs(states).max() * np.log(base) < _LARGEST_LOGARITHM:
            yield after


def _fitted(
    table: TransitionTable,
    weights: Float[np.ndarray, " steps"],
    held_out: Bool[np.ndarray, " steps"],
    box: Range,
    after: bool,
    base: float | None,
) -> tuple[float, PolynomialReward]:
    """The mean squared held-out error, in units of the largest reward, and the reward."""
    rows = table.followed if table.followed.any() else np.ones(len(table), dtype=bool)
    states = table.next_states[rows] if after else table.states[rows]
    if base is not None:
        states = base**states
        box = Range.over(states)
    scale = max(float(np.abs(table.rewards).max()), np.finfo(float).tiny)
    polynomial, error = fit_polynomial(
        box.place(states),
        table.actions[rows],
        table.rewards[rows, None] / scale,
        weights[rows],
        held_out[rows],
        table.action_count,
        limit=_DEGREE if base is None else _POWER_DEGREE,
    )
    scaled = Polynomial(polynomial.coefficients * scale, polynomial.dimensions, polynomial.degree)
    reward = PolynomialReward(box.center, box.half_width, scaled, after, base)
    return float(np.nan_to_num(error[0], nan=np.inf)), reward
