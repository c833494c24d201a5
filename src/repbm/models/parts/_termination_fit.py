"""The ends of a log: by the state before a step or after it, and by the action, as held-out ends tell."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import FitRules, one_thread
from repbm.models.parts._termination import ActionLogistic, Box, Logistic, Never, Termination
from repbm.models.parts._termination_box import fit_box
from repbm.models.regression._features import exponents, features, highest_degree
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable

_LOGISTIC_ROWS = 20_000
_PENALTIES = (1e-3, 10.0)
_SETTLED = 1e-12
_FOLDS = 5
_DEGREE = 3


def fit_ends(table: TransitionTable, box: Range, rules: FitRules) -> tuple[Termination, bool]:
    """The likeliest ends on held-out steps, and whether they are those on arrival.

    Where the log shows the states in which episodes end, by these; else, or where that is likelier, by the state before
    the last step and its action.
    """
    if not table.ended.any():
        return Never(), True
    shown = bool(table.followed[table.ended].mean() >= rules.shown_ends)
    arrival = _best(_Ends.of(table, box, True)) if shown else None
    if arrival is not None and arrival[1] <= rules.clear_ends * arrival[2]:
        return arrival[0], True
    before = _best(_Ends.of(table, box, False), by_action=True)
    # A loss of NaN is that of ends too few to be compared: those on arrival are the usual ones.
    if arrival is not None and not before[1] < arrival[1]:
        return arrival[0], True
    return before[0], False


def fit_termination(table: TransitionTable, box: Range, on_arrival: bool = True) -> Termination:
    """Box or logistic, whichever has the smaller cross-validated log loss; never, where the log shows no end.

    Looks at the state after a step, or at the one before it.
    """
    ends = _Ends.of(table, box, on_arrival)
    return _best(ends)[0] if ends.ended.any() else Never()


@dataclass(frozen=True, eq=False)
class _Ends:
    """States, actions, and whether the episode ended there.

    Steps after which the log stopped are censored: they say neither that the episode ended nor that it went on.
    """

    states: Float[np.ndarray, "rows dimensions"]
    actions: Int[np.ndarray, " rows"]
    ended: Bool[np.ndarray, " rows"]
    box: Range
    action_count: int

    @classmethod
    def of(cls, table: TransitionTable, box: Range, on_arrival: bool) -> _Ends:
        known = table.judged & table.followed if on_arrival else table.judged
        states = table.next_states if on_arrival else table.states
        return cls(states[known], table.actions[known], table.ended[known], box, table.action_count)

    def take(self, rows: Bool[np.ndarray, " rows"]) -> _Ends:
        return replace(self, states=self.states[rows], actions=self.actions[rows], ended=self.ended[rows])

    @cached_property
    def folds(self) -> Int[np.ndarray, " rows"]:
        """Ends are few: dealt out one by one, so that every fold has its share of them."""
        result = np.empty(len(self.ended), dtype=np.int64)
        ended = self.ended
        result[ended], result[~ended] = np.arange(ended.sum()) % _FOLDS, np.arange((~ended).sum()) % _FOLDS
        return result


def _best(ends: _Ends, by_action: bool = False) -> tuple[Termination, float, float]:
    """The form with the least cross-validated log loss, that loss, and the loss of one rate for all states."""
    ended = ends.ended
    if ended.all() or ended.sum() < _FOLDS:
        return fit_box(ends.states, ended), float("nan"), float("nan")
    folds = [ends.folds == k for k in range(_FOLDS)]
    rate = ended.mean()
    usual = float(-np.log(np.where(ended, rate, 1 - rate)).sum())
    least = sum(_log_loss(_of_box(fit_box(*_pair(ends.take(~k))), ends.take(k)), ended[k]) for k in folds)
    found: Termination = fit_box(ends.states, ended)
    import sklearn.linear_model  # noqa: F401 - before: the limit is one of what is loaded by then

    with one_thread():
        for form in _forms(ends, by_action):
            x = form.design(ends)
            whole = form.fitted(x, ended)
            loss = 0.0
            for k in folds:
                loss += _log_loss(_sigmoid(x[k] @ form.fitted(x[~k], ended[~k], whole)), ended[k])
                if loss > least:
                    break
            if loss < least:
                least, found = loss, form.termination(whole, ends)
    return found, least, usual


@dataclass(frozen=True)
class _Form:
    """A logistic regression: its degree, its penalty, and whether actions have intercepts and slopes of their own."""

    degree: int
    penalty: float
    by_action: bool

    def design(self, ends: _Ends) -> Float[np.ndarray, "rows features"]:
        z = ends.box.place(ends.states)
        x = features(z, exponents(z.shape[1], self.degree), np)
        if not self.by_action:
            return x
        linear = x[:, : 1 + z.shape[1]]
        return np.hstack(
            [x, *(np.where((ends.actions == a)[:, None], linear, 0.0) for a in range(1, ends.action_count))]
        )

    def fitted(
        self, x: Float[np.ndarray, "rows features"], ended: Bool[np.ndarray, " rows"], start: np.ndarray | None = None
    ) -> Float[np.ndarray, " features"]:
        """The coefficients c of the least -log p + penalty / 2 |c|^2, the intercept free: ends are as rare as logged.

        The search begins at `start`.
        """
        share = min(1.0, _LOGISTIC_ROWS / len(ended))
        # A long log is thinned: all ends are kept, of the rest a share that counts for all.
        kept = ended | (np.arange(len(ended)) % max(1, round(1 / share)) == 0)
        count = np.where(ended[kept], 1.0, (~ended).sum() / max((~ended & kept).sum(), 1))
        if ended[kept].all():
            rate = np.clip(ended.mean(), 1e-9, 1 - 1e-9)
            return np.append(np.log(rate / (1 - rate)), np.zeros(x.shape[1] - 1))
        return _likeliest(x[kept, 1:], ended[kept], count, self.penalty, start)

    def termination(self, coefficients: Float[np.ndarray, " features"], ends: _Ends) -> Termination:
        size = ends.states.shape[1]
        given = ends.box.center, ends.box.half_width
        if not self.by_action:
            return Logistic(*given, coefficients, size, self.degree)
        shared = len(exponents(size, self.degree))
        each = np.tile(coefficients[:shared], (ends.action_count, 1))
        each[1:, : 1 + size] += coefficients[shared:].reshape(ends.action_count - 1, 1 + size)
        return ActionLogistic(*given, each, size, self.degree)


def _forms(ends: _Ends, by_action: bool) -> Iterator[_Form]:
    highest = min(_DEGREE, highest_degree(ends.states.shape[1], len(ends.states)))
    for action in (False, True) if by_action and ends.action_count > 1 else (False,):
        for degree in sorted({highest, 1}, reverse=True):
            yield _Form(degree, _PENALTIES[0], action)
        yield _Form(1, _PENALTIES[1], action)


def _pair(ends: _Ends) -> tuple[np.ndarray, np.ndarray]:
    return ends.states, ends.ended


def _of_box(box: Box, ends: _Ends) -> np.ndarray:
    return np.asarray(box.probabilities(ends.states, np))


def _sigmoid(scores: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(scores, -500, 500)))


def _log_loss(probability: np.ndarray, ended: np.ndarray) -> float:
    floor = 0.5 / len(ended)
    probability = np.clip(probability, floor, 1 - floor)
    return float(-np.log(np.where(ended, probability, 1 - probability)).sum())


def _likeliest(
    x: np.ndarray, ended: np.ndarray, count: np.ndarray, penalty: float, start: np.ndarray | None
) -> np.ndarray:
    """Intercept and coefficients of a logistic regression of both kinds of rows, each counted so many times."""
    from sklearn.linear_model import LogisticRegression

    regression = LogisticRegression(C=1 / penalty, solver="newton-cholesky", tol=_SETTLED, warm_start=start is not None)
    if start is not None:
        regression.coef_, regression.intercept_ = start[None, 1:], start[:1]
    with warnings.catch_warnings():
        # One that is not quite there is judged by its log loss, as all are.
        warnings.simplefilter("ignore")
        regression.fit(x, ended, sample_weight=count)
    return np.append(regression.intercept_, regression.coef_[0])
