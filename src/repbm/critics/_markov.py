"""Do states alone tell what follows, or does what came before them matter, too?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import HistoryRules, stream
from repbm.critics._ridge_choice import FoldRegression
from repbm.data import History, few_states, spread_episodes
from repbm.estimators import Case

_LARGEST = 5.0
"""What is far off counts up to so many standard deviations: a few steps must not decide."""
_EXACT = 1e-6
"""Where states tell all but this share of the variation of what follows, nothing is left for what came before."""


def history_tells(case: Case, seed: int, rules: HistoryRules) -> History | None:
    """What came before, where that tells more of what follows than time, state and action do; else None.

    Where states hold all that matters, that is never so (the Markov property), and further columns only add noise.
    Tables have no further columns.
    """
    data = case.data
    chosen = spread_episodes(data, rules.most_steps)
    part = case if chosen is None else case.take(chosen)
    if len(part.data) < rules.fewest_episodes or data.longest < 2 or few_states(data):
        return None
    return _Prediction(part, seed, rules).telling(History.of(data))


def unexpected(case: Case, seed: int, rules: HistoryRules) -> Float[np.ndarray, " steps"]:
    """r + discount V(s') of the behavior, less what time, state and action tell of it; 0 where it is not known."""
    return _Prediction(case, seed, rules).missed


@dataclass(frozen=True, eq=False)
class _Prediction:
    """What time, state and action tell of r + discount V(s'), every episode told by what others teach.

    V is that of the behavior, by regression of returns on time and state. What a ridge regression on polynomials
    misses is left to boosted trees.
    """

    case: Case
    seed: int
    rules: HistoryRules

    @cached_property
    def folds(self) -> Int[np.ndarray, " steps"]:
        data = self.case.data
        return np.repeat(stream(self.seed, "history").permutation(len(data)) % self.rules.folds, data.lengths)

    @cached_property
    def taken(self) -> Float[np.ndarray, "steps actions"]:
        return np.eye(len(self.case.data.actions.labels))[self.case.data.actions.codes]

    @cached_property
    def polynomials(self) -> Float[np.ndarray, "steps features"]:
        """Columns, their products and squares, and time."""
        data = self.case.data
        x = _scaled(data.observations)
        count = x.shape[1]
        first, second = np.triu_indices(count)
        if (count + len(first)) * self.taken.shape[1] > self.rules.most_products:
            first = second = np.arange(count)
        time = data.steps[:, None] / max(data.longest - 1, 1)
        return np.column_stack([x, x[:, first] * x[:, second], time, time * time, x * time])

    @cached_property
    def features(self) -> Float[np.ndarray, "steps features"]:
        """The same for every action by itself."""
        constant = np.ones(len(self.taken))
        own = [self.polynomials * each[:, None] for each in self.taken.T]
        return np.column_stack([constant, *own, self.taken[:, 1:]])

    @cached_property
    def known(self) -> Bool[np.ndarray, " steps"]:
        """All but last steps of episodes that were cut off."""
        data = self.case.data
        result = np.ones(len(data.rewards), dtype=bool)
        result[data.lasts] = self.case.whole
        return result

    @cached_property
    def targets(self) -> Float[np.ndarray, " steps"]:
        case, data = self.case, self.case.data
        powers = case.discount ** data.steps.astype(np.float64)
        later = np.cumsum((powers * data.rewards)[::-1])[::-1]
        after = np.append(later, 0.0)[data.offsets[1:]]
        returns = (later - np.repeat(after, data.lengths)) / np.maximum(powers, np.finfo(float).tiny)
        constant = np.ones((len(returns), 1))
        value = self._regression(np.hstack([constant, self.polynomials]), slice(None)).told(returns)
        following = np.append(value[1:], 0.0)
        following[data.lasts] = 0.0
        return data.rewards + case.discount * following

    @cached_property
    def missed(self) -> Float[np.ndarray, " steps"]:
        from sklearn.ensemble import HistGradientBoostingRegressor

        rows, result = np.flatnonzero(self.known), np.zeros(len(self.targets))
        if len(np.unique(self.folds[rows])) < self.rules.folds:
            return result
        y, folds = self.targets[rows], self.folds[rows]
        y = y - self._regression(self.features, rows).told(y)
        data = self.case.data
        inputs = np.column_stack([data.observations, data.steps, self.taken])[rows]
        for k in range(self.rules.folds):
            trees = HistGradientBoostingRegressor(
                max_iter=self.rules.trees, max_leaf_nodes=self.rules.leaves, random_state=0
            )
            own = folds == k
            result[rows[own]] = y[own] - trees.fit(inputs[~own], y[~own]).predict(inputs[own])
        return result

    def telling(self, history: History) -> History | None:
        """The columns of history that tell more of what follows; None where, together, they do not."""
        data = self.case.data
        rows = np.flatnonzero(self.known & (data.steps > 0))
        if len(np.unique(self.folds[rows])) < self.rules.folds:
            return None
        y = self.missed[rows]
        size = float(y.std())
        if not size > _EXACT * float(self.targets[rows].std()):
            return None
        y = np.clip(y / size, -_LARGEST, _LARGEST)
        before = _scaled(history.columns(data)[0])
        more = np.hstack([before, *(before * each[:, None] for each in self.taken.T[1:])])
        plain = self._regression(self.features, rows)
        rest = y - plain.told(y)
        knowing = self._regression(np.hstack([self.features, more]), rows)
        if self._standard_errors(rows, rest**2 - (y - knowing.told(y)) ** 2) <= self.rules.evidence:
            return None
        each = [self._standard_errors(rows, rest * (column - plain.told(column))) for column in before[rows].T]
        kept = np.flatnonzero(np.abs(each) > self.rules.column_evidence)
        return history.only(kept) if len(kept) else history

    def _regression(self, x: np.ndarray, rows: np.ndarray | slice) -> FoldRegression:
        return FoldRegression(x[rows], self.folds[rows], self.rules.penalties)

    def _standard_errors(self, rows: np.ndarray, terms: np.ndarray) -> float:
        """How far the mean of the sums of episodes is from 0."""
        data = self.case.data
        sums = np.bincount(np.repeat(np.arange(len(data)), data.lengths)[rows], terms, len(data))
        spread = float(sums.std(ddof=1))
        return float(sums.mean()) / (spread / np.sqrt(len(sums))) if spread > 0 else 0.0


def _scaled(columns: Float[np.ndarray, "steps columns"]) -> Float[np.ndarray, "steps columns"]:
    """In standard deviations around the mean, without far ends; 0 for what does not vary."""
    spread = columns.std(axis=0)
    return np.clip((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -_LARGEST, _LARGEST)
