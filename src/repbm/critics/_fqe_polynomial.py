"""Fitted Q evaluation by one polynomial an action, of state and steps left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.linalg import cho_factor, cho_solve

from repbm.core import InputError, stream
from repbm.critics._action_values import PolynomialValues, return_bounds
from repbm.critics._bellman import BellmanTable
from repbm.models.regression._features import exponents, features, highest_degree
from repbm.models.transitions._range import Range

_ROWS = 1 << 13
_MOST_CELLS = 6_000_000
_MOST_UNKNOWNS = 1200
_PENALTY = 1e-10
_SETTLED = 1e-7
_DIVERGES = 1e-2
_TRIALS = 4
_SLACK = 1.0


def polynomial_values(
    transitions: BellmanTable,
    actions: int,
    discount: float,
    rewards: tuple[float, float],
    horizon: int,
    seed: int,
) -> PolynomialValues:
    """Q by repeated least squares on r + gamma sum_a' pi(a' | s') Q(s', a', h - 1).

    Where this settles, x'(x c - r - gamma x_pi c) = 0 (the features x of s, a and x_pi of s' under pi): one linear
    solve finds the coefficients c. Their degree is that of the least one-step error on held-out episodes. Where the
    solution leaves what returns are possible by more than their whole range, the regressions are repeated
    with targets held within that, at most 2 H times; a degree at which they do not settle is given up.
    """
    before, after = _inputs(transitions)
    box = Range.over(np.concatenate([before, after[transitions.onward]]))
    problem = _Problem(transitions, box, actions, discount, rewards, horizon)
    for degree, fixed_point in problem.trials(_held_out(transitions, seed))[:_TRIALS]:
        found = fixed_point if problem.stays_within(degree, fixed_point) else problem.iterated(degree, seed)
        if found is not None:
            return PolynomialValues(box.center, box.half_width, found, degree)
    raise InputError(
        "fitted Q evaluation by polynomials diverges on this log",
        fix="use a network, a model (repbm) or importance sampling",
    )


def _inputs(transitions: BellmanTable) -> tuple[np.ndarray, np.ndarray]:
    """(s, h) before and after every transition."""
    before = np.column_stack([transitions.states, transitions.left])
    return before, np.column_stack([transitions.following, transitions.left_after])


def _held_out(transitions: BellmanTable, seed: int) -> np.ndarray:
    """The rows of a random tenth of the episodes; of the steps where there are few episodes."""
    generator = stream(seed, "held-out")
    count = int(transitions.episodes.max()) + 1
    if count < 10:
        return generator.random(len(transitions)) < 0.1
    return (generator.permutation(count) < count // 10)[transitions.episodes]


@dataclass(frozen=True, eq=False)
class _Problem:
    transitions: BellmanTable
    box: Range
    actions: int
    discount: float
    rewards: tuple[float, float]
    horizon: int

    def trials(self, held_out: Bool[np.ndarray, " rows"]) -> list[tuple[int, Float[np.ndarray, "features actions"]]]:
        """Degrees with their fixed points, in the order of their squared one-step error on held-out rows."""
        fitted, kept = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        inputs = self.transitions.states.shape[1] + 1
        counts = np.bincount(self.transitions.actions[fitted], minlength=self.actions)
        known = min(int(counts[counts >= 10].min(initial=counts.max())), 10 * _MOST_UNKNOWNS // self.actions)
        top = highest_degree(inputs, known, limit=8)
        powers = exponents(inputs, top)
        sizes = [int((powers.sum(axis=1) <= d).sum()) for d in range(top + 1)]
        left, right = self._equations(fitted, powers)
        found = [_solution(left, right, size, self.actions) for size in sizes]
        errors = np.zeros(top + 1)
        for start in range(0, len(kept), _ROWS):
            part = self.transitions.take(kept[start : start + _ROWS])
            x, following = self._features(part, powers)
            for d, size in enumerate(sizes):
                value = self._within(x[:, :size] @ found[d], part.left)[np.arange(len(part)), part.actions]
                errors[d] += ((self._targets(part, following[:, :size] @ found[d]) - value) ** 2).sum()
        order = np.argsort(errors, kind="stable") if len(kept) else range(top + 1)
        more = self._equations(kept, powers)
        left, right = left + more[0], right + more[1]
        return [(int(d), _solution(left, right, sizes[d], self.actions)) for d in order]

    def _equations(self, rows: np.ndarray, powers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x'(x - gamma x_pi) and x'r; unknowns run through the actions of one feature after the other."""
        size, actions = len(powers), self.actions
        left, right = np.zeros((size, actions, size, actions)), np.zeros((size, actions))
        for start in range(0, len(rows), _ROWS):
            part = self.transitions.take(rows[start : start + _ROWS])
            x, following = self._features(part, powers)
            for one in range(actions):
                mine = np.flatnonzero(part.actions == one)
                own = x[mine]
                left[:, one, :, one] += own.T @ own
                right[:, one] += part.rewards[mine] @ own
                for other in range(actions):
                    chance = np.where(part.onward[mine], part.policy[mine, other], 0.0)
                    used = np.flatnonzero(chance)
                    expected = following[mine[used]] * (self.discount * chance[used, None])
                    left[:, one, :, other] -= own[used].T @ expected
        return left.reshape(size * actions, -1), right.reshape(-1)

    def stays_within(self, degree: int, coefficients: Float[np.ndarray, "features actions"]) -> bool:
        """Whether no target of these coefficients is out of bounds: then the bounds would not change them."""
        powers = exponents(self.transitions.states.shape[1] + 1, degree)
        for start in range(0, len(self.transitions), _ROWS):
            part = self.transitions.take(np.arange(start, min(start + _ROWS, len(self.transitions))))
            values = self._features(part, powers)[1] @ coefficients
            if (self._within(values, part.left_after, _SLACK) != values)[part.onward].any():
                return False
        return True

    def iterated(self, degree: int, seed: int) -> Float[np.ndarray, "features actions"] | None:
        """The bounded iteration from 0 until it settles, on a part of a large log; None where it does not settle."""
        powers = exponents(self.transitions.states.shape[1] + 1, degree)
        most, part = max(_MOST_CELLS // len(powers), 1), self.transitions
        if len(part) > most:
            part = part.take(stream(seed, "fqe").permutation(len(part))[:most])
        part = part.take(np.argsort(part.actions, kind="stable"))
        x, following = self._features(part, powers)
        ends = np.searchsorted(part.actions, np.arange(self.actions + 1))
        mine = [slice(first, last) for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
        ridge = np.eye(len(powers)) * (_PENALTY * len(part))
        factors = [cho_factor(x[rows].T @ x[rows] + ridge) for rows in mine]
        low, high = (float(bound[0]) for bound in return_bounds(self.rewards, self.discount, np.array([self.horizon])))
        scale = max(abs(low), abs(high), np.finfo(float).tiny)
        coefficients, targets, change = np.zeros((len(powers), self.actions)), part.rewards, np.inf
        for _ in range(2 * self.horizon):
            pairs = zip(factors, mine, strict=True)
            coefficients = np.column_stack([cho_solve(factor, targets[rows] @ x[rows]) for factor, rows in pairs])
            before, targets = targets, self._targets(part, following @ coefficients, _SLACK)
            change = float(np.sqrt(np.mean((targets - before) ** 2))) / scale
            if change < _SETTLED:
                break
        return coefficients if change < _DIVERGES else None

    def _features(self, part: BellmanTable, powers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        now, then = (features(self.box.place(inputs), powers, np) for inputs in _inputs(part))
        return now, then

    def _targets(
        self, part: BellmanTable, values: Float[np.ndarray, "rows actions"], slack: float = 0.0
    ) -> Float[np.ndarray, " rows"]:
        """r + gamma sum_a' pi(a' | s') Q(s', a', h - 1), with Q within bounds."""
        expected = np.einsum("ka,ka->k", part.policy, self._within(values, part.left_after, slack))
        return part.rewards + np.where(part.onward, self.discount * expected, 0.0)

    def _within(self, values: np.ndarray, left: np.ndarray, slack: float = 0.0) -> np.ndarray:
        """Values held within the possible returns, widened by `slack` times the range of those of a whole episode.

        Exact bounds would pull the many values near a bound, which a polynomial misses either way, to one side.
        """
        low, high = return_bounds(self.rewards, self.discount, np.append(left, self.horizon))
        wider = slack * (high[-1] - low[-1])
        return np.clip(values, low[:-1, None] - wider, high[:-1, None] + wider)


def _solution(left: np.ndarray, right: np.ndarray, size: int, actions: int) -> Float[np.ndarray, "features actions"]:
    """The fixed point with the first `size` features; a tiny penalty serves unknowns that nothing determines."""
    count = size * actions
    diagonal = np.abs(np.diag(left)[:count])
    scale = np.sqrt(np.maximum(diagonal, 1e-8 * diagonal.max() + np.finfo(float).tiny))
    system = left[:count, :count] / np.outer(scale, scale) + _PENALTY * np.eye(count)
    try:
        found = np.linalg.solve(system, right[:count] / scale) / scale
    except np.linalg.LinAlgError:
        found = np.zeros(count)
    return np.where(np.isfinite(found), found, 0.0).reshape(size, actions)
