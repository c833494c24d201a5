"""The critic behind the answer: cross-fitted values, and how much more often the policy comes to each state."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from threadpoolctl import threadpool_limits

from repbm.core import FittedQRules, RatioRules, stream
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._fqe import fit_fqe
from repbm.critics._individual_values import SurplusRegression, fold_errors
from repbm.critics._state_ratio import fit_state_ratio
from repbm.critics._value_critic import ActionValueCritic
from repbm.estimators import Case, IndividualValues, StateValues, marginal_weights, surprises


@dataclass(frozen=True, eq=False)
class CrossFittedValues:
    """V and Q of critics fitted without the episode itself, those of one fitted to all, and state ratios of a log."""

    parts: CrossFittedCritic
    all_episodes: ActionValueCritic
    state_ratios: Float[np.ndarray, " steps"]
    name: str
    _surplus: dict[Case, SurplusRegression] = field(default_factory=dict, repr=False)

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
        surplus = self._surplus_of(case)
        asked = case.data.initial_observations if states is None else np.asarray(states, dtype=np.float64)
        left = np.full(len(asked), case.most_steps)
        parts = np.stack([critic.values_at(case, asked, left) for critic in self._critics])
        values = self.all_episodes.values_at(case, asked, left) + surplus(asked)
        return IndividualValues(values, np.sqrt(fold_errors(parts) + surplus.explained))

    @property
    def _critics(self) -> tuple[ActionValueCritic, ...]:
        return tuple(critic for critic in self.parts.critics if isinstance(critic, ActionValueCritic))

    def _surplus_of(self, case: Case) -> SurplusRegression:
        if case not in self._surplus:
            data, weights = case.data, marginal_weights(case, self)
            terms = weights.scaled * weights.normalizers[data.steps] * surprises(case, self)
            total = np.add.reduceat(case.discount**data.steps * terms, data.starts)
            self._surplus[case] = SurplusRegression.of(data.initial_observations, total)
        return self._surplus[case]

    def error(self, case: Case) -> float:
        """By leaving out fold after fold (the jackknife): sqrt((K - 1) / K sum_k (m_k - m)^2), m_k the mean V_0."""
        means = np.array([critic.initial(case).values.mean() for critic in self.parts.critics])
        return float(np.sqrt((len(means) - 1) / len(means) * ((means - means.mean()) ** 2).sum()))

    def ratios(self, case: Case) -> Float[np.ndarray, " steps"]:
        return self.state_ratios

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


def fit_marginal(case: Case, name: str, seed: int, rules: RatioRules, fitted_q: FittedQRules) -> CrossFittedValues:
    """Fitted Q evaluation and state ratios, both by folds of the episodes."""
    n = len(case.data)
    folds = stream(seed, "marginal-folds").permutation(n) % min(rules.folds, n)

    def fitted(part: Case) -> ActionValueCritic:
        found = fit_fqe(part.data, part.policy, part.discount, part.most_steps, seed=seed, rules=fitted_q)
        return ActionValueCritic(found, name)

    with threadpool_limits(1):
        whole = fitted(case)
        parts = tuple(fitted(case.take(np.flatnonzero(folds != k))) for k in range(int(folds.max()) + 1))
        ratios = fit_state_ratio(case, folds, seed, rules)
    return CrossFittedValues(CrossFittedCritic(parts, folds, name), whole, ratios, name)
