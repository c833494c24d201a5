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


@dataclass(frozen=True, eq=False)
class StatesTold:
    """What the states of a log tell of what follows, and what came before them: no policy changes it."""

    missed: Float[np.ndarray, " steps"]
    """What time, state and action do not tell, of the steps of the `chosen` episodes."""
    chosen: Int[np.ndarray, " some"] | None
    """Of a long log; None for all."""
    before: History
    """The columns of what came before that go most with it, and what was done."""
    betters: float
    """By how many standard errors all that came before betters the prediction of what follows, whatever the policy."""
    seed: int
    rules: HistoryRules

    @classmethod
    def of(cls, case: Case, seed: int, rules: HistoryRules) -> StatesTold | None:
        """None where nothing came before, or where it is not looked for: tables have no further columns."""
        data = case.data
        chosen = spread_episodes(data, rules.most_steps)
        part = case if chosen is None else case.take(chosen)
        if len(part.data) < rules.fewest_episodes or data.longest < 2 or few_states(data):
            return None
        prediction = _Prediction(part, seed, rules)
        if not prediction.rows_tell:
            return None
        before, betters = prediction.telling(History.of(data))
        return cls(prediction.missed, chosen, before, betters, seed, rules)

    @property
    def enough(self) -> bool:
        """Whether it tells more of what follows, whatever the policy."""
        return self.betters > self.rules.evidence

    @property
    def certain(self) -> bool:
        """Whether that is beyond doubt: something is there that states do not hold."""
        return self.betters > self.rules.certain_evidence

    def history(self, case: Case) -> History | None:
        """What came before, where that matters to the policy of the case; else None.

        It does where it tells more of what follows than time, state and action do. Where states hold all that matters
        that is never so (the Markov property), and further columns only add noise. A small log sooner tells what a
        policy makes of it: those who earlier did what the policy does fare otherwise than their states tell.
        """
        if self.enough:
            return self.before
        part = case if self.chosen is None else case.take(self.chosen)
        prediction = _Prediction(part, self.seed, self.rules, self.missed)
        matters = prediction.leans_by > self.rules.least_leaning
        return self.before if matters and abs(prediction.leaning) > self.rules.leaning_evidence else None


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
    known_missed: Float[np.ndarray, " steps"] | None = None
    """What it misses, where that is known already."""

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
        if self.known_missed is not None:
            return self.known_missed
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

    @cached_property
    def later(self) -> Int[np.ndarray, " some"]:
        """The steps before which something came."""
        return np.flatnonzero(self.known & (self.case.data.steps > 0))

    @property
    def rows_tell(self) -> bool:
        """Whether there is something left to tell, in every fold."""
        rows = self.later
        if len(np.unique(self.folds[rows])) < self.rules.folds:
            return False
        return float(self.missed[rows].std()) > _EXACT * float(self.targets[rows].std())

    @cached_property
    def rest(self) -> Float[np.ndarray, " some"]:
        """What is missed of later steps, in standard deviations, without what states tell of that."""
        return self._scaled_missed - self._plain.told(self._scaled_missed)

    @cached_property
    def _scaled_missed(self) -> Float[np.ndarray, " some"]:
        y = self.missed[self.later]
        return np.clip(y / float(y.std()), -_LARGEST, _LARGEST)

    @cached_property
    def _plain(self) -> FoldRegression:
        return self._regression(self.features, self.later)

    def telling(self, history: History) -> tuple[History, float]:
        """The columns of history that go with what follows, and what was done; and how much more of it all tell."""
        rows, data = self.later, self.case.data
        before = _scaled(history.columns(data)[0])
        more = np.hstack([before, *(before * each[:, None] for each in self.taken.T[1:])])
        knowing = self._regression(np.hstack([self.features, more]), rows)
        left = self._scaled_missed - knowing.told(self._scaled_missed)
        betters = self._standard_errors(self.rest**2 - left**2)
        each = [self._standard_errors(self.rest * (column - self._plain.told(column))) for column in before[rows].T]
        kept = np.abs(each) > self.rules.column_evidence
        if self.taken.shape[1] <= self.rules.most_actions:
            kept[history.actions(data)] = True
        return (history.only(np.flatnonzero(kept)) if kept.any() else history), betters

    @cached_property
    def _leaning(self) -> Float[np.ndarray, " some"]:
        """discount^t rho_t (S_t - E[S_t | t, s_t, a_t]) d_t of later steps (see `leaning`)."""
        case, data, rows = self.case, self.case.data, self.later
        assert data.behavior is not None
        # Where the policy does what hardly anybody did, products overflow, and nothing is told.
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = case.decisions.logged(slice(None)) / data.behavior
            before = np.cumsum(ratio - 1) - (ratio - 1)
            lead = (before - np.repeat(before[data.starts], data.lengths))[rows]
            lead = lead - self._plain.told(lead)
            return case.discount ** data.steps[rows] * ratio[rows] * lead * self.rest

    @property
    def leaning(self) -> float:
        """How far the mean over episodes of sum_t discount^t rho_t (S_t - E[S_t | t, s_t, a_t]) d_t is from 0.

        In standard errors; rho = pi / mu, d what is missed, and S_t = sum_{k < t} (rho_k - 1): to first order what the
        product of all ratios before the step is more than 1. The states tell all, and it is 0, or what is fitted to
        them is biased by about so much; products themselves vary far more.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self._standard_errors(self._leaning)

    @property
    def leans_by(self) -> float:
        """The size of that mean, in standard errors of the mean return of the log."""
        data = self.case.data
        size = abs(float(self._leaning.sum())) / len(data) * float(self.missed[self.later].std())
        return size / max(float(self.case.returns.std()) / np.sqrt(len(data)), np.finfo(float).tiny)

    def _regression(self, x: np.ndarray, rows: np.ndarray | slice) -> FoldRegression:
        return FoldRegression(x[rows], self.folds[rows], self.rules.penalties)

    def _standard_errors(self, terms: np.ndarray) -> float:
        """How far the mean over episodes of sums over their later steps is from 0."""
        data = self.case.data
        sums = np.bincount(np.repeat(np.arange(len(data)), data.lengths)[self.later], terms, len(data))
        spread = float(sums.std(ddof=1))
        return float(sums.mean() / (spread / np.sqrt(len(sums)))) if spread > 0 else 0.0


def _scaled(columns: Float[np.ndarray, "steps columns"]) -> Float[np.ndarray, "steps columns"]:
    """In standard deviations around the mean, without far ends; 0 for what does not vary."""
    spread = columns.std(axis=0)
    return np.clip((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -_LARGEST, _LARGEST)
