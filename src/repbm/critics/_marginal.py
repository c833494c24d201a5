"""The critic behind the answer: cross-fitted values, and how much more often the policy comes to each state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int

from repbm.core import IndividualRules
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._initial_regression import InitialRegression, initial_features
from repbm.critics._logged_values import LoggedValues
from repbm.critics._outcome_spread import OutcomeSpread
from repbm.critics._state_ratio import Regression, ratios_elsewhere
from repbm.critics._value_critic import ActionValueCritic, AnyStateCritic, values_later
from repbm.estimators import Case, IndividualValues, StateValues, marginal_weights, surprises


@dataclass(frozen=True, eq=False)
class CrossFittedValues:
    """V and Q of critics fitted without the episode itself, those of one fitted to all, and state ratios of a log."""

    parts: CrossFittedCritic
    all_episodes: AnyStateCritic
    state_ratios: Float[np.ndarray, " steps"]
    regressions: tuple[Regression, ...]
    """Those that state ratios come from, without each fold."""
    now: LoggedValues
    name: str
    rules: IndividualRules
    follows_model: bool = False
    """Whether values come from following the policy in models that are nearly exact."""
    _told: dict[Case, _Told] = field(default_factory=dict, repr=False)
    _logged: dict[Case, IndividualValues] = field(default_factory=dict, repr=False)
    _by_fold: dict[Case, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def states_tell_all(self) -> bool:
        return True

    @property
    def states_lack_something(self) -> bool:
        return False

    @property
    def folds(self) -> Int[np.ndarray, " episodes"]:
        return self.parts.folds

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        return self.parts(case)

    def initial(self, case: Case) -> StateValues:
        found = self.parts.initial(case)
        # Of models a fold has few individuals to speak of.
        return replace(found, note=self.all_episodes.initial(case).note) if self.follows_model else found

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        return StateValues(self.individuals(case, states).values)

    def individuals(
        self, case: Case, states: Float[np.ndarray, "individuals dimensions"] | None = None
    ) -> IndividualValues:
        """V_0 by the critic of all episodes plus what surprises tell; the logged individuals where none are given."""
        if states is not None:
            asked = np.asarray(states, dtype=np.float64)
            return self._individuals(case, asked, self._parts(case, asked))
        if case not in self._logged:
            asked = case.data.initial_observations
            self._logged[case] = self._individuals(case, asked, self.initial_by_fold(case))
        return self._logged[case]

    def _individuals(
        self, case: Case, asked: Float[np.ndarray, "some dimensions"], parts: Float[np.ndarray, "folds some"]
    ) -> IndividualValues:
        told = self._told_of(case)
        errors = np.sqrt(self._variances(parts, told.value_variance) + told.surplus.explained)
        gains = self._variances(parts - self.now.by_fold(asked), told.gain_variance)
        return IndividualValues(
            values=self.all_episodes.values_of(case, asked).values + told.surplus(asked),
            errors=errors,
            deviations=told.spread.deviations(asked, errors),
            shape=told.spread.shape,
            logged=self.now(asked),
            gain_errors=np.sqrt(gains + told.surplus.explained),
        )

    def _parts(self, case: Case, states: np.ndarray) -> Float[np.ndarray, "folds some"]:
        """V_0 by each of the critics that leave out a fold."""
        return np.stack([critic.values_of(case, states).values for critic in self.parts.critics])

    def initial_by_fold(self, case: Case) -> Float[np.ndarray, "folds episodes"]:
        """V_0 of logged individuals by each of the critics that leave out a fold."""
        if case not in self._by_fold:
            self._by_fold[case] = self._parts(case, case.data.initial_observations)
        return self._by_fold[case]

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
        parts = self.initial_by_fold(case)
        means = [float(_jackknife(each).mean()) for each in (parts, parts - self.now.by_fold(states))]
        errors = np.sqrt(self._variances(parts, means[0]) + surplus.explained)
        spread = OutcomeSpread.of(case, self, self.initial(case).values + surplus(states), errors, self.rules)
        return _Told(surplus, spread, *means)

    def error(self, case: Case) -> float:
        return self.error_of(self.initial_by_fold(case).mean(axis=1))

    def error_of(self, means: Float[np.ndarray, " folds"]) -> float:
        """By leaving out fold after fold (the jackknife): sqrt((K - 1) / K sum_k (m_k - m)^2), m_k the mean V_0."""
        return float(np.sqrt(_jackknife(means[:, None])[0]))

    def logged(self, case: Case) -> Float[np.ndarray, " episodes"]:
        return self.now.left_out

    def earned(self, case: Case) -> Float[np.ndarray, " episodes"]:
        return self.now.earned

    def unexpected(self, case: Case) -> Float[np.ndarray, " steps"]:
        return surprises(case, self)

    def ratios(self, case: Case) -> Float[np.ndarray, " steps"]:
        return self.state_ratios

    def of_episodes(self, case: Case, episodes: Int[np.ndarray, " some"]) -> CrossFittedValues:
        return replace(
            self,
            parts=CrossFittedCritic(self.parts.critics, self.folds[episodes], self.parts.name),
            state_ratios=self.state_ratios[case.data.positions(episodes)],
            now=self.now.of_episodes(episodes),
            _told={},
            _logged={},
            _by_fold={},
        )

    @property
    def asked_elsewhere(self) -> bool:
        """Whether `elsewhere` takes no longer than to read other episodes: not where a model is followed from each."""
        return not self.follows_model

    def elsewhere(self, case: Case, folds: Int[np.ndarray, " episodes"]) -> CrossFittedValues:
        """The same critic, not fitted again, of other episodes, each judged by what is known without this fold."""
        own = self.alone()
        ratios = ratios_elsewhere(self.regressions, case.data, folds)
        return replace(
            own, parts=replace(own.parts, folds=folds), state_ratios=ratios, now=own.now.elsewhere(case, folds)
        )

    def alone(self) -> CrossFittedValues:
        """What `elsewhere` needs, without all that is known of the log that it was fitted to."""
        each = (*self.parts.critics, self.all_episodes)
        *fitted, whole = (critic.alone() for critic in each if isinstance(critic, ActionValueCritic))
        assert len(fitted) == len(self.parts.critics)
        return replace(
            self,
            parts=CrossFittedCritic(tuple(fitted), self.folds[:0], self.parts.name),
            all_episodes=whole,
            state_ratios=self.state_ratios[:0],
            now=self.now.alone(),
            _told={},
            _logged={},
            _by_fold={},
        )

    def final(self, case: Case) -> Float[np.ndarray, " episodes"]:
        data = case.data
        left = case.most_steps - data.lengths
        result = np.full(len(data), np.nan)
        shown = np.flatnonzero(np.isfinite(data.final_observations).all(axis=1) & (left > 0))
        result[shown] = values_later(self.parts, case, shown, data.final_observations[shown], left[shown])
        return result


@dataclass(frozen=True, eq=False)
class _Told:
    """What a log tells of individuals beyond the critics."""

    surplus: InitialRegression
    """What surprises say on average; what it explains is the variance of individual values that may be missed."""
    spread: OutcomeSpread
    value_variance: float
    """Mean variances, from fitting, of the values of logged individuals,"""
    gain_variance: float
    """and of their differences to what is done now."""


def _jackknife(parts: Float[np.ndarray, "folds some"]) -> Float[np.ndarray, " some"]:
    """Variances of what was fitted without each fold."""
    count = len(parts)
    return (count - 1) / count * ((parts - parts.mean(axis=0)) ** 2).sum(axis=0)
