"""The critic behind the answer: cross-fitted values, and how much more often the policy comes to each state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from threadpoolctl import threadpool_limits

from repbm.core import FittedQRules, RatioRules, stream
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._fqe import fit_fqe
from repbm.critics._state_ratio import fit_state_ratio
from repbm.critics._value_critic import ActionValueCritic
from repbm.estimators import Case, StateValues


@dataclass(frozen=True, eq=False)
class CrossFittedValues:
    """V and Q of critics fitted without the episode itself, those of one fitted to all, and state ratios of a log."""

    parts: CrossFittedCritic
    all_episodes: ActionValueCritic
    state_ratios: Float[np.ndarray, " steps"]
    name: str

    @property
    def folds(self) -> Int[np.ndarray, " episodes"]:
        return self.parts.folds

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        return self.parts(case)

    def initial(self, case: Case) -> StateValues:
        return self.parts.initial(case)

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        return self.all_episodes.values_of(case, states)

    def whole(self, case: Case) -> Float[np.ndarray, " episodes"]:
        return self.all_episodes.initial(case).values

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
