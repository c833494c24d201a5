"""Models behind critics, fitted to all episodes of a log of which a sample has chosen their form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import FitRules, Thresholds, say
from repbm.critics._fit import FittedCritic
from repbm.critics._kinds import taught
from repbm.critics._model_critic import ModelCritic
from repbm.estimators import Case
from repbm.models import FitSums, WholeFit, whole_fit


@dataclass(frozen=True, eq=False)
class PolicyScale:
    """How much a step counts in the risk under a policy, given its weight: as the sample scales it.

    Weights are over their mean at each step, trusted by how many episodes are behind it, and limited (see
    `TransitionTable.of`); 0 at steps that no episode of the sample reaches with weight.
    """

    factors: Float[np.ndarray, " longest"]
    most: float
    deterministic: bool

    @classmethod
    def of(cls, case: Case, rules: FitRules) -> PolicyScale | None:
        """None where weights are beyond floating point."""
        effective = case.support.policy_weights.effective_episodes
        trusted = np.divide(effective, effective + rules.trust, out=np.zeros_like(effective), where=effective > 0)
        if case.deterministic:
            u = case.support.u
            normal = np.divide(1.0, u, out=np.zeros_like(u), where=u > 0)
        elif case.weights.log_scales is None:
            normal = case.weights.normalizers
        else:
            return None
        return cls(normal * trusted, rules.weight_limit * float(np.sqrt(len(case.data))), case.deterministic)

    def marginal(self, case: Case) -> Float[np.ndarray, " steps"]:
        """Of a part of the log."""
        weights = case.support.factual if self.deterministic else case.weights.plain(slice(None))
        steps, longest = case.data.steps, len(self.factors)
        factors = np.where(steps < longest, self.factors[np.minimum(steps, longest - 1)], 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.minimum(np.where(factors > 0, weights * factors, 0.0), self.most)


@dataclass(frozen=True, eq=False)
class WholeModel:
    """How the model behind a critic is fitted to all episodes."""

    fit: WholeFit[Any]
    scale: PolicyScale | None = None
    """None where the risk under the policy does not count."""

    @classmethod
    def of(cls, fitted: FittedCritic, case: Case, thresholds: Thresholds) -> WholeModel | None:
        """Of the critic that was fitted to this case; None where its model is no sum over steps."""
        critic = fitted.critic
        if not isinstance(critic, ModelCritic) or critic.objective is None or fitted.model is not critic.model:
            return None
        case = taught(case, thresholds)
        objective, scale = critic.objective, None
        if objective.target:
            scale = PolicyScale.of(case, thresholds.fit)
            if scale is None:
                return None
        fit = whole_fit(critic.model, case.data, objective, thresholds.fit, thresholds.choice)
        return None if fit is None else cls(fit, scale)

    @property
    def effort(self) -> int:
        """About how many times as long as usual a step takes."""
        return self.fit.effort

    def sums(self, case: Case) -> FitSums:
        """Of the episodes of this case, and of its policy where the risk under it counts."""
        return self.fit.sums(case.data, None if self.scale is None else self.scale.marginal(case))

    def completed(self, fitted: FittedCritic, sums: FitSums, steps: int) -> FittedCritic | None:
        """The critic with the model of all steps in the sums, of so many in the log; None where its form does not suit
        them."""
        model = self.fit.model(sums)
        if model is None or not isinstance(fitted.critic, ModelCritic):
            return None
        told = say("notes", "fitted_all" if sums.steps >= steps else "fitted_some", count=sums.steps, steps=steps)
        told = told if self.fit.complete else say("notes", "fitted_rest", fitted=told)
        return FittedCritic(fitted.critic.with_model(model), (model,), fitted.scores, told)
