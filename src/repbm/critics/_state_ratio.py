"""How much more often a policy comes to the states of a log, by regression of importance weights on the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import RatioRules, in_threads, stream
from repbm.critics._forest import Forest
from repbm.data import Trajectories, few_states, found_states, numbered_states
from repbm.estimators import Case, Weights

_CLOSE = 1e-9


Regression = Callable[[Int[np.ndarray, " some"], Float[np.ndarray, "some dimensions"]], Float[np.ndarray, " some"]]
"""(steps t, states) -> omega_t(s) after the first step."""


@dataclass(frozen=True, eq=False)
class StateRatio:
    """omega_t(s_t) at every step of a log, by what other folds teach; and what they teach, for other episodes."""

    logged: Float[np.ndarray, " steps"]
    pieces: tuple[Regression, ...]
    """What is learned without each fold."""


def ratios_elsewhere(
    pieces: tuple[Regression, ...], data: Trajectories, folds: Int[np.ndarray, " episodes"]
) -> Float[np.ndarray, " steps"]:
    """omega_t(s_t) at every step of other episodes, each by what was learned without this fold."""
    return _told(pieces, data, folds, data.observations)


def _told(
    pieces: Sequence[Callable[[np.ndarray, np.ndarray], np.ndarray]],
    data: Trajectories,
    folds: Int[np.ndarray, " episodes"],
    seen: np.ndarray,
) -> Float[np.ndarray, " steps"]:
    """1 at first steps; elsewhere what the piece of the fold tells of time and of what is `seen`."""
    result, fold = np.ones(len(data.rewards)), np.repeat(folds, data.lengths)
    for k, piece in enumerate(pieces):
        own = np.flatnonzero((fold == k) & (data.steps > 0))
        if len(own):
            result[own] = piece(data.steps[own], seen[own])
    return result


def fit_state_ratio(case: Case, folds: Int[np.ndarray, " episodes"], seed: int, rules: RatioRules) -> StateRatio:
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
    result, pieces = np.ones(len(data.rewards)), (_Constant(1.0),) * (int(folds.max()) + 1)
    if np.abs(weights.normalized.weights - 1).max() < _CLOSE:
        return StateRatio(result, pieces)
    ratio = case.decisions.logged(slice(None)) / data.behavior
    numbered = numbered_states(data) if few_states(data) else None
    for _ in range(1 + rules.sweeps):
        # Past the last episode that follows the policy nothing is known, and nothing weighs.
        with np.errstate(over="ignore", invalid="ignore"):
            followed = np.nan_to_num(weights.normalized.weights, nan=0.0, posinf=0.0)
        before = data.delayed(followed, 1.0)(slice(None))
        pieces = _regressions(data, before, folds, numbered, seed, rules)
        if numbered is None:
            result = _told(pieces, data, folds, data.observations)
        else:
            # To look for states again would take longer than all else.
            known = [piece.at if isinstance(piece, _Table) else piece for piece in pieces]
            result = _told(known, data, folds, numbered[1])
        scaled = result * ratio
        with np.errstate(divide="ignore"):
            weights = Weights(data, scaled, np.log(scaled[data.lasts]))
    return StateRatio(result, pieces)


def _regressions(
    data: Trajectories,
    before: Float[np.ndarray, " steps"],
    folds: Int[np.ndarray, " episodes"],
    numbered: tuple[np.ndarray, np.ndarray] | None,
    seed: int,
    rules: RatioRules,
) -> tuple[Regression, ...]:
    """E[ before | t, s ] at steps after the first, from all folds but each; `numbered` are the states of a table."""
    fold = np.repeat(folds, data.lengths)

    def regression(k: int) -> Regression:
        others = np.flatnonzero((fold != k) & (data.steps > 0))
        if not len(others) or before[others].sum() <= 0:
            return _Constant(0.0)
        if numbered is not None:
            return _Table.of(*numbered, data.steps, before, others, rules.prior_visits)
        return _Forest.of(data, before, others, seed, rules)

    # Trees grow without the interpreter.
    return tuple(in_threads(regression, range(int(folds.max()) + 1)))


@dataclass(frozen=True)
class _Constant:
    value: float

    def __call__(self, steps: np.ndarray, states: np.ndarray) -> Float[np.ndarray, " some"]:
        return np.full(len(steps), self.value)


@dataclass(frozen=True, eq=False)
class _Forest:
    trees: Forest

    @classmethod
    def of(cls, data: Trajectories, before: np.ndarray, others: np.ndarray, seed: int, rules: RatioRules) -> _Forest:
        if len(others) > rules.most_steps:
            others = np.sort(stream(seed, "ratio").choice(others, rules.most_steps, replace=False))
        inputs = np.column_stack([data.steps[others], data.observations[others]])
        return cls(Forest.grown(inputs, before[others], rules.trees, rules.smallest_leaf, rules.columns))

    def __call__(self, steps: np.ndarray, states: np.ndarray) -> Float[np.ndarray, " some"]:
        return self.trees(np.column_stack([steps, states]))


@dataclass(frozen=True, eq=False)
class _Table:
    """Means of state and time, drawn towards those of the state, which are drawn towards 1."""

    states: Float[np.ndarray, "states dimensions"]
    rough: Float[np.ndarray, " states"]
    """Of the state at any time."""
    fine: Float[np.ndarray, "times states"]

    @classmethod
    def of(
        cls,
        states: Float[np.ndarray, "states dimensions"],
        numbers: Int[np.ndarray, " steps"],
        steps: Int[np.ndarray, " steps"],
        before: Float[np.ndarray, " steps"],
        others: Int[np.ndarray, " others"],
        prior: float,
    ) -> _Table:
        count, times = len(states), int(steps.max()) + 1
        cell = (numbers + count * steps)[others]
        visits, sums = (np.bincount(numbers[others], each, count) for each in (None, before[others]))
        rough = (sums + prior) / (visits + prior)
        visits, sums = (np.bincount(cell, each, count * times).reshape(times, count) for each in (None, before[others]))
        return cls(states, rough, (sums + prior * rough) / (visits + prior))

    def __call__(self, steps: np.ndarray, states: np.ndarray) -> Float[np.ndarray, " some"]:
        place, known = found_states(self.states, states)
        return np.where(known, self.at(steps, place), 1.0)

    def at(self, steps: Int[np.ndarray, " some"], numbers: Int[np.ndarray, " some"]) -> Float[np.ndarray, " some"]:
        """In states of these numbers."""
        late = steps >= len(self.fine)
        return np.where(late, self.rough[numbers], self.fine[np.where(late, 0, steps), numbers])
