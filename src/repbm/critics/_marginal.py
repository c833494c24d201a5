"""The critic behind the answer: cross-fitted values, and how much more often the policy comes to each state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from repbm.core import IndividualRules, Thresholds, stream
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._fqe import fit_fqe
from repbm.critics._initial_regression import InitialRegression, initial_features
from repbm.critics._logged_values import LoggedValues, logged_case, without_fold
from repbm.critics._outcome_spread import OutcomeSpread
from repbm.critics._state_ratio import fit_state_ratio
from repbm.critics._value_critic import ActionValueCritic
from repbm.data import spread_episodes
from repbm.estimators import Case, IndividualValues, StateValues, marginal_weights, surprises


@dataclass(frozen=True, eq=False)
class CrossFittedValues:
    """V and Q of critics fitted without the episode itself, those of one fitted to all, and state ratios of a log."""

    parts: CrossFittedCritic
    all_episodes: ActionValueCritic
    state_ratios: Float[np.ndarray, " steps"]
    now: LoggedValues
    name: str
    rules: IndividualRules
    _told: dict[Case, _Told] = field(default_factory=dict, repr=False)

    @property
    def folds(self) -> Int[np.ndarray, " episodes"]:
        return self.parts.folds

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        return self.parts(case)

    def initial(self, case: Case) -> StateValues:
        return self.parts.initial(case)

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        return StateValues(self.individuals(case, states).values)

    def individuals(
        self, case: Case, states: Float[np.ndarray, "individuals dimensions"] | None = None
    ) -> IndividualValues:
        """V_0 by the critic of all episodes plus what surprises tell; the logged individuals where none are given."""
        told = self._told_of(case)
        asked = case.data.initial_observations if states is None else np.asarray(states, dtype=np.float64)
        parts = self._parts(case, asked)
        errors = np.sqrt(self._variances(parts, told.value_variance) + told.missed)
        gains = self._variances(parts - self.now.by_fold(asked), told.gain_variance)
        return IndividualValues(
            values=self.all_episodes.values_of(case, asked).values + told.surplus(asked),
            errors=errors,
            deviations=told.spread.deviations(asked, errors),
            shape=told.spread.shape,
            logged=self.now(asked),
            gain_errors=np.sqrt(gains + told.missed),
        )

    def _parts(self, case: Case, states: np.ndarray) -> Float[np.ndarray, "folds some"]:
        """V_0 by each of the critics that leave out a fold."""
        return np.stack([critic.values_of(case, states).values for critic in self.parts.critics])

    def _variances(self, parts: Float[np.ndarray, "folds some"], mean: float) -> Float[np.ndarray, " some"]:
        """Of something fitted without fold after fold, drawn half-way to the mean of logged individuals."""
        return self.rules.fold_factor * (0.5 * _jackknife(parts) + 0.5 * mean)

    def _told_of(self, case: Case) -> _Told:
        if case not in self._told:
            self._told[case] = self._learned(case)
        return self._told[case]

    def _learned(self, case: Case) -> _Told:
        data, weights = case.data, marginal_weights(case, self)
        states = data.initial_observations
        terms = case.discount**data.steps * weights.scaled * weights.normalizers[data.steps] * surprises(case, self)
        surplus = InitialRegression.of(
            initial_features(data), states, np.add.reduceat(terms, data.starts), self.rules.evidence
        )
        # What may be there without being seen counts by half.
        missed = surplus.explained if surplus.taken else 0.5 * surplus.explained
        parts = self._parts(case, states)
        means = [float(_jackknife(each).mean()) for each in (parts, parts - self.now.by_fold(states))]
        errors = np.sqrt(self._variances(parts, means[0]) + missed)
        spread = OutcomeSpread.of(case, self, self.initial(case).values + surplus(states), errors, self.rules)
        return _Told(surplus, missed, spread, *means)

    def error(self, case: Case) -> float:
        """By leaving out fold after fold (the jackknife): sqrt((K - 1) / K sum_k (m_k - m)^2), m_k the mean V_0."""
        means = self._parts(case, case.data.initial_observations).mean(axis=1, keepdims=True)
        return float(np.sqrt(_jackknife(means)[0]))

    def logged(self, case: Case) -> Float[np.ndarray, " episodes"]:
        return self.now.left_out

    def ratios(self, case: Case) -> Float[np.ndarray, " steps"]:
        return self.state_ratios

    def of_episodes(self, case: Case, episodes: Int[np.ndarray, " some"]) -> CrossFittedValues:
        return replace(
            self,
            parts=CrossFittedCritic(self.parts.critics, self.folds[episodes], self.parts.name),
            state_ratios=self.state_ratios[case.data.positions(episodes)],
            now=replace(self.now, left_out=self.now.left_out[episodes]),
            _told={},
        )

    def final(self, case: Case) -> Float[np.ndarray, " episodes"]:
        data = case.data
        left = case.most_steps - data.lengths
        result = np.full(len(data), np.nan)
        shown = np.isfinite(data.final_observations).all(axis=1) & (left > 0)
        for k, critic in enumerate(self.parts.critics):
            own = np.flatnonzero(shown & (self.folds == k))
            if len(own):
                assert isinstance(critic, ActionValueCritic)
                result[own] = critic.values_at(case, data.final_observations[own], left[own])
        return result


@dataclass(frozen=True, eq=False)
class _Told:
    """What a log tells of individuals beyond the critics."""

    surplus: InitialRegression
    """What surprises say on average."""
    missed: float
    """The variance of individual values that the critics, and the surplus, may miss."""
    spread: OutcomeSpread
    value_variance: float
    """Mean variances, from fitting, of the values of logged individuals,"""
    gain_variance: float
    """and of their differences to what is done now."""


def _jackknife(parts: Float[np.ndarray, "folds some"]) -> Float[np.ndarray, " some"]:
    """Variances of what was fitted without each fold."""
    count = len(parts)
    return (count - 1) / count * ((parts - parts.mean(axis=0)) ** 2).sum(axis=0)


@dataclass(frozen=True, eq=False)
class MarginalFit:
    """Fitted Q evaluation and state ratios, both by folds of the episodes: what is fitted independently, and joined."""

    case: Case
    name: str
    seed: int
    thresholds: Thresholds

    @cached_property
    def folds(self) -> Int[np.ndarray, " episodes"]:
        n = len(self.case.data)
        return stream(self.seed, "marginal-folds").permutation(n) % min(self.thresholds.ratio.folds, n)

    @cached_property
    def taught(self) -> Int[np.ndarray, " some"]:
        """The episodes that teach values of the policy: of a long log some."""
        chosen = spread_episodes(self.case.data, self.thresholds.fitted_q.most_steps)
        return np.arange(len(self.case.data)) if chosen is None else chosen

    @cached_property
    def now(self) -> Case:
        return logged_case(self.case)

    @property
    def parts(self) -> list[Callable[[], Any]]:
        """Values of the policy by all episodes and without each fold, those of what is done now, and state ratios."""
        each = range(int(self.folds.max()) + 1)
        return [
            lambda: self._fitted(self.case if len(self.taught) == len(self.folds) else self.case.take(self.taught)),
            *(partial(self._without, k) for k in each),
            *(partial(self._logged_without, k) for k in each),
            lambda: fit_state_ratio(self.case, self.folds, self.seed, self.thresholds.ratio),
        ]

    def joined(self, results: Sequence[Any]) -> CrossFittedValues:
        """The critic, of what the parts gave."""
        count, rules = (len(results) - 2) // 2, self.thresholds.individuals
        whole, ratios, parts, logged = results[0], results[-1], results[1 : count + 1], results[count + 1 : -1]
        features = initial_features(self.case.data)
        now = LoggedValues.of(self.case, self.now, tuple(logged), self.folds, features, rules)
        judging = CrossFittedCritic(tuple(parts), self.folds, self.name)
        return CrossFittedValues(judging, whole, ratios, now, self.name, rules)

    def _without(self, fold: int) -> ActionValueCritic:
        return self._fitted(self.case.take(self.taught[self.folds[self.taught] != fold]))

    def _logged_without(self, fold: int) -> ActionValueCritic:
        return self._fitted(without_fold(self.now, self.folds, fold, self.thresholds.individuals))

    def _fitted(self, part: Case) -> ActionValueCritic:
        rules = self.thresholds.fitted_q
        found = fit_fqe(part.data, part.policy, part.discount, part.most_steps, seed=self.seed, rules=rules)
        return ActionValueCritic(found, self.name)
