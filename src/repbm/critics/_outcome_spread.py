"""How far outcomes of individuals lie from what is expected for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import IndividualRules
from repbm.estimators import Case, Critic, OutcomeShape, marginal_weights, surprises


@dataclass(frozen=True, eq=False)
class OutcomeSpread:
    """The variance of returns under the policy for any initial state, and the common shape of outcomes.

    R - V_0(s_0) = sum_t discount^t (r_t + discount V_{t+1} - V_t): the terms are uncorrelated under the policy, so that
    their variances add up, each weighted as the surprises are. Where the initial state tells of it, by a forest. The
    shape is that of logged episodes, weighted by the product of their ratios, as conformal prediction under another
    policy does (Zhang et al. 2022), in standard deviations.
    """

    variance: float
    forest: Any
    shape: OutcomeShape

    def deviations(
        self, states: Float[np.ndarray, "some dimensions"], errors: Float[np.ndarray, " some"]
    ) -> Float[np.ndarray, " some"]:
        """Standard deviations of outcomes around expected values that are themselves off by `errors`."""
        return np.sqrt(_variances(self.forest, self.variance, states) + errors**2)

    @classmethod
    def of(
        cls,
        case: Case,
        critic: Critic,
        expected: Float[np.ndarray, " episodes"],
        errors: Float[np.ndarray, " episodes"],
        rules: IndividualRules,
    ) -> OutcomeSpread:
        """`expected` are the values of logged individuals, by critics that do not know what came of them."""
        data = case.data
        weights = marginal_weights(case, critic)
        logged, value = critic(case)
        change = case.discount**data.steps * (surprises(case, critic) + logged - value)
        terms = np.add.reduceat(weights.scaled * weights.normalizers[data.steps] * change**2, data.starts)
        states, variance = data.initial_observations, float(terms.mean())
        forest = _forest(states, terms, rules) if variance > 0 else None
        # An episode that was cut off does not tell what would have come of it.
        logs = np.where(case.whole, case.weights.log_last, -np.inf)
        following = np.exp(logs - logs.max()) if np.isfinite(logs.max()) else np.zeros(len(logs))
        # Weights that add up to the number of effective episodes.
        following *= following.sum() / max(float((following**2).sum()), np.finfo(float).tiny)
        deviations = np.sqrt(_variances(forest, variance, states) + errors**2)
        distances = (case.returns - expected) / np.where(deviations > 0, deviations, 1.0)
        return cls(variance, forest, OutcomeShape(distances, following, rules.prior_episodes))


def _forest(
    states: Float[np.ndarray, "episodes dimensions"], y: Float[np.ndarray, " episodes"], rules: IndividualRules
):
    """Trees that tell y better than its mean does, on episodes that they do not know; None where there are none."""
    from sklearn.ensemble import RandomForestRegressor

    n = len(y)
    smallest = max(rules.smallest_leaf, n // 10)
    if n < 2 * smallest or not np.ptp(states, axis=0).any():
        return None
    forest = RandomForestRegressor(rules.trees, min_samples_leaf=smallest, oob_score=True, random_state=0)
    forest.fit(states, y)
    gain = (y - y.mean()) ** 2 - (y - forest.oob_prediction_) ** 2
    return forest if gain.mean() > rules.evidence * gain.std() / np.sqrt(n) else None


def _variances(
    forest: Any, variance: float, states: Float[np.ndarray, "some dimensions"]
) -> Float[np.ndarray, " some"]:
    return np.full(len(states), variance) if forest is None else np.maximum(forest.predict(states), _LEAST * variance)


_LEAST = 0.05
"""No individual has less than this share of the mean variance: leaves know little of it."""
