"""The terms of the paper's bound on the error of individual values, step by step.

MSE <= 2H sum_t [ R_mu(t) + R_pi(t) + B_t (IPM_t + min{ D (1/sqrt(m_1) + 1/sqrt(m_2)), 2 nu }) + ... ]   (Theorem 2)
They show where the log stops supporting the policy; the constants B_t, D and nu are not known in practice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.estimators import Case


@dataclass(frozen=True)
class Constants:
    """The constants of the deviation term: D of the function class, and nu, the largest value of its kernel."""

    complexity: float = 1.0
    kernel_bound: float = 1.0


@dataclass(frozen=True, eq=False)
class BoundTerms:
    """One number a step: the two risks, the distance of the groups, and its deviation in a sample of their sizes."""

    risk_behavior: Float[np.ndarray, " longest"]
    risk_policy: Float[np.ndarray, " longest"]
    distance: Float[np.ndarray, " longest"]
    deviation: Float[np.ndarray, " longest"]


def bound_terms(case: Case, losses: Float[np.ndarray, " steps"], constants: Constants | None = None) -> BoundTerms:
    """The terms for a model that misses every logged step by `losses`.

    R_mu(t) = (1/n) sum l_t; R_pi(t) = (1/n) sum (f_t/u_t) l_t. The distance is the maximum mean discrepancy of the
    linear kernel between standardised states of the factual and the counterfactual steps t, a representation that any
    model can be said to have; it is NaN where either group is empty.
    """
    data, support, constants = case.data, case.support, constants or Constants()
    n = len(data)
    weights = support.policy_weights.weights
    scale = data.observations.std(axis=0)
    states = (data.observations - data.observations.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    sizes = support.factual_count, support.counterfactual_count
    groups = support.factual, support.counterfactual
    means = []
    for size, member in zip(sizes, groups, strict=True):
        sums = [
            data.step_sums(lambda at, k=k, member=member: member[at] * states[at, k]) for k in range(states.shape[1])
        ]
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append(np.stack(sums, axis=1) / size[:, None])
    with np.errstate(divide="ignore"):
        spread = constants.complexity * (1 / np.sqrt(sizes[0]) + 1 / np.sqrt(sizes[1]))
    return BoundTerms(
        risk_behavior=data.step_sums(lambda at: losses[at]) / n,
        risk_policy=data.step_sums(lambda at: weights[at] * losses[at]) / n,
        distance=np.sqrt(((means[0] - means[1]) ** 2).sum(axis=1)),
        deviation=np.minimum(spread, 2 * constants.kernel_bound),
    )
