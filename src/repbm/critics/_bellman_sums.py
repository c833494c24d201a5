"""Sums over the log that fitted Q evaluation by polynomials needs: the features of s, a and of what follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.critics._bellman import BellmanTable
from repbm.data import return_bounds
from repbm.models.regression._features import features
from repbm.models.transitions._range import Range

_ROWS = 1 << 13
_SLACK = 1.0


@dataclass(frozen=True, eq=False)
class Problem:
    """What is asked of the transitions, and the fold of each of them."""

    transitions: BellmanTable
    actions: int
    discount: float
    rewards: tuple[float, float]
    horizon: int
    folds: Int[np.ndarray, " rows"]
    box: Range

    @property
    def fold_count(self) -> int:
        return int(self.folds.max(initial=0)) + 1

    @property
    def later(self) -> Int[np.ndarray, " rows"]:
        """The rows that tell what follows: those where more than one step was left."""
        return np.flatnonzero(self.transitions.left > 1)

    @property
    def reach(self) -> float:
        """The range of what an episode can return."""
        low, high = return_bounds(self.rewards, self.discount, np.array([self.horizon]))
        return float(high[0] - low[0]) or 1.0

    def now(self, part: BellmanTable, powers: np.ndarray) -> Float[np.ndarray, "rows features"]:
        return features(self.box.place(part.states), powers, np)

    def then(self, part: BellmanTable, powers: np.ndarray) -> Float[np.ndarray, "rows features"]:
        return features(self.box.place(part.following), powers, np)

    def expected(
        self, part: BellmanTable, values: Float[np.ndarray, "rows actions"], left: int
    ) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
        """gamma sum_a' pi(a' | s') Q(s', a') where something follows, and the same with Q within bounds.

        The bounds are those of possible returns with so many steps left, widened by their range over a whole episode:
        exact ones would pull the many values near a bound, which a polynomial misses either way, to one side.
        """
        low, high = return_bounds(self.rewards, self.discount, np.array([left, self.horizon]))
        wider = _SLACK * (high[1] - low[1])
        odds = np.where(part.onward[:, None], self.discount * part.policy, 0.0)
        within = np.clip(values, low[0] - wider, high[0] + wider)
        return np.einsum("ka,ka->k", odds, values), np.einsum("ka,ka->k", odds, within)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows by fold and action: x x', x r, and gamma pi(a' | s') x x(s')' for every action a' that follows."""

    gram: Float[np.ndarray, "folds actions features features"]
    paid: Float[np.ndarray, "folds actions features"]
    onward: Float[np.ndarray, "folds actions features others"]

    @classmethod
    def over(cls, problem: Problem, rows: np.ndarray, powers: np.ndarray, onward: bool) -> Sums:
        folds, actions, size = problem.fold_count, problem.actions, len(powers)
        gram, paid = np.zeros((folds, actions, size, size)), np.zeros((folds, actions, size))
        cross = np.zeros((folds, actions, size, actions if onward else 0, size))
        rows = rows[np.lexsort((problem.transitions.actions[rows], problem.folds[rows]))]
        for start in range(0, len(rows), _ROWS):
            mine = rows[start : start + _ROWS]
            part = problem.transitions.take(mine)
            x = problem.now(part, powers)
            following = problem.then(part, powers) if onward else x
            group = problem.folds[mine] * actions + part.actions
            bounds = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(group))
            for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
                here, (fold, action) = slice(first, last), divmod(int(group[first]), actions)
                own = x[here]
                gram[fold, action] += own.T @ own
                paid[fold, action] += part.rewards[here] @ own
                used, now, after = np.empty(0, dtype=np.int64), own, own
                for other in range(actions if onward else 0):
                    chance = np.where(part.onward[here], problem.discount * part.policy[here, other], 0.0)
                    asked = np.flatnonzero(chance)
                    if not len(asked):
                        continue
                    if not np.array_equal(asked, used):
                        # Mostly the policy may take every action after the same steps: these are gathered once.
                        used, now, after = asked, own[asked], following[here][asked]
                    cross[fold, action, :, other] += now.T @ (after * chance[used, None])
        return cls(gram, paid, cross.reshape(folds, actions, size, -1))

    def moments(
        self, coefficients: Float[np.ndarray, "actions features"]
    ) -> Float[np.ndarray, "folds actions features"]:
        """sum x (r + gamma sum_a' pi(a' | s') Q(s', a')) with these coefficients of Q."""
        return self.paid + self.onward @ coefficients.reshape(-1)


@dataclass(frozen=True, eq=False)
class Sample:
    """Evenly drawn rows with their features: where it is seen whether values stay within bounds."""

    problem: Problem
    part: BellmanTable
    folds: Int[np.ndarray, " rows"]
    x: Float[np.ndarray, "rows features"]
    following: Float[np.ndarray, "rows features"]
    share: float

    @classmethod
    def of(cls, problem: Problem, powers: np.ndarray, most: int, generator: np.random.Generator) -> Sample:
        rows = problem.later
        count = len(rows)
        if count > most:
            rows = np.sort(generator.permutation(rows)[:most])
        part = problem.transitions.take(rows)
        x, following = problem.now(part, powers), problem.then(part, powers)
        return cls(problem, part, problem.folds[rows], x, following, len(rows) / max(count, 1))

    def targets(
        self, coefficients: Float[np.ndarray, "actions features"], left: int
    ) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
        """r + gamma V within bounds, with so many steps left after the step, and how much the bounds change it."""
        free, within = self.problem.expected(self.part, self.following @ coefficients.T, left)
        return self.part.rewards + within, within - free

    def correction(self, change: Float[np.ndarray, " rows"]) -> Float[np.ndarray, "folds actions features"]:
        """What the bounds change of the moments of the whole log."""
        shape = self.problem.fold_count, self.problem.actions, self.x.shape[1]
        result = np.zeros(shape)
        rows = np.flatnonzero(change)
        np.add.at(result, (self.folds[rows], self.part.actions[rows]), change[rows, None] * self.x[rows] / self.share)
        return result
