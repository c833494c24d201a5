"""Whether the log can say anything about a policy, and how far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from repbm.data import Trajectories
from repbm.estimators import Case
from repbm.inference import pareto_k
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models import Model, TabularModel

TOLERATED = 0.2
"""A model answers as long as no larger share of individuals has met what the log shows nothing like."""
LARGEST_K = 0.7
FEWEST_EFFECTIVE = 50.0


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the log supports.

    `strange`: the share of those who follow the policy, in a fitted model, who by step t have met a state and an action
    that the log shows nothing like; None where the policy cannot act beyond the log. `pareto_k` and
    `effective_episodes`, of the importance weights of whole episodes and of every step, None without probabilities.
    A model may answer where at most a fifth have met strange things, importance sampling where k is below 0.7 and 50
    effective episodes are left.
    """

    horizon: int
    strange: Float[np.ndarray, " horizon"] | None
    pareto_k: float | None
    effective_episodes: Float[np.ndarray, " longest"] | None
    unseen: tuple[str, ...] = ()
    """Actions of the policy that the log never shows."""

    @property
    def models(self) -> bool:
        """Whether models may answer for the whole horizon."""
        return self.strange is not None and bool((self.strange <= TOLERATED).all())

    @property
    def weights(self) -> bool:
        """Whether importance sampling may answer for the whole horizon."""
        if self.pareto_k is None or self.effective_episodes is None:
            return False
        return self.pareto_k < LARGEST_K and bool(self.effective_episodes[-1] >= FEWEST_EFFECTIVE)

    @property
    def supported(self) -> bool:
        return self.models or self.weights

    @property
    def last_step(self) -> int:
        """The last step up to which either may answer; -1 if not even at the first."""
        reached = [-1]
        if self.strange is not None:
            reached.append(int((self.strange <= TOLERATED).sum()) - 1)
        if self.effective_episodes is not None:
            reached.append(int(np.cumprod(self.effective_episodes >= FEWEST_EFFECTIVE).sum()) - 1)
        return max(reached)

    @property
    def word(self) -> str:
        """Supported, supported up to a step, or not supported."""
        if self.supported:
            return "supported"
        return "not supported" if self.last_step < 0 else f"supported up to step {self.last_step}"

    @property
    def sentence(self) -> str:
        """The word, and why."""
        return f"{self.word}: {self._reason()}"

    def account(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "verdict": self.word,
            "sentence": self.sentence,
            "supported": self.supported,
            "last_step": self.last_step,
            "models_admissible": self.models,
            "weights_admissible": self.weights,
            "strange": None if self.strange is None else self.strange.round(4).tolist(),
            "pareto_k": None if self.pareto_k is None or not np.isfinite(self.pareto_k) else self.pareto_k,
            "unseen_actions": list(self.unseen),
        }

    def _reason(self) -> str:
        if self.strange is None:
            left = 0.0 if self.effective_episodes is None else float(self.effective_episodes[-1])
            return f"at its end {left:.1f} effective episodes follow the policy"
        if self.models:
            return f"{self.strange[-1]:.0%} of those who follow it meet something that the log shows nothing like"
        if self.weights:
            assert self.effective_episodes is not None
            return f"{self.effective_episodes[-1]:.0f} effective episodes follow it to the end"
        step = int((self.strange <= TOLERATED).sum())
        never = f" ({', '.join(self.unseen[:3])} never)" if self.unseen else ""
        return f"by step {step}, {self.strange[step]:.0%} of those who follow it meet what the log does not show{never}"


def judge(case: Case, model: Model | TabularModel | None, seed: int = 0) -> Verdict:
    """From the log, the policy, and a model fitted to the log; never from a truth."""
    data, policy = case.data, case.policy
    horizon = case.horizon or data.longest
    strange = None
    if model is not None and isinstance(policy, ObservationPolicy):
        from repbm.models import strangeness

        strange = strangeness(model, data, policy, horizon, seed)
    known = data.behavior is not None
    return Verdict(
        horizon,
        strange,
        pareto_k(case.weights.log_last) if known else None,
        case.weights.effective_episodes if known else None,
        tuple(str(label) for label in case.decisions.labels[len(data.actions.labels) :]),
    )


def model_of(data: Trajectories, horizon: int, seed: int = 0) -> Model | TabularModel:
    """A model of the log alone, good enough to see where a policy leads."""
    from repbm.models import AM, few_states, fit_precise, fit_tabular

    if few_states(data):
        return fit_tabular(data, None, AM, horizon)
    return fit_precise(data, None, AM, horizon, seed)
