"""The mistakes of the published HIV estimates alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from repbm.estimators import Case, Estimate, Estimator, Role, Weights


def later_ratios(case: Case) -> Weights:
    """Weights without the ratio of the first step: w_0 = 1."""
    data, logged = case.data, case.decisions.logged
    behavior = data.behavior
    assert behavior is not None
    return Weights.of_ratios(data, lambda at: np.where(data.steps[at] == 0, 1.0, logged(at) / behavior[at]))


@dataclass(frozen=True, eq=False)
class Standardized:
    """An estimator asked about (r - m) / s in place of the rewards r, its answer taken back as x -> s x + m G.

    G = 1 + gamma + ... + gamma^(H-1). As published, m and s are mean and deviation of the rewards in episodes of the
    evaluated policy *itself*: a leak, for where no logged episode follows the policy what is left is m G.
    """

    estimator: Estimator
    rewards: Float[np.ndarray, " steps"]
    """Those of the policy's own episodes."""

    @property
    def name(self) -> str:
        return self.estimator.name

    @property
    def role(self) -> Role:
        return self.estimator.role

    def __call__(self, case: Case) -> Estimate:
        mean, deviation = self.rewards.mean(), self.rewards.std()
        data = replace(case.data, rewards=(case.data.rewards - mean) / deviation)
        answer = self.estimator(replace(case, data=data, _softened={}))
        if answer.contributions is None:
            return answer
        total = (case.discount ** np.arange(case.horizon or case.data.longest)).sum()
        contributions = deviation * answer.contributions + mean * total
        return Estimate.of_contributions(
            contributions, answer.effective_episodes, answer.note, None if answer.individual is None else contributions
        )
