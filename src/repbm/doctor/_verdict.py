"""Whether the log can say anything about a policy, and how far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from repbm.data import Trajectories
from repbm.estimators import Case, Weights
from repbm.inference import pareto_k
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models import Model, TabularModel

TOLERATED = 0.2
"""A model answers as long as no larger share of individuals has met what the log shows nothing like."""
WORST_MISS = 1.2
"""A model answers as long as it does not go further wrong, several steps ahead, than saying that nothing moves (1)."""
LARGEST_K = 0.7
FEWEST_EFFECTIVE = 50.0
LEAST_PART = 0.5
"""What is supported for a smaller part of a usual episode is not supported."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the log supports.

    `strange`: the share of those who follow the policy, in a fitted model, who by step t have met a state and an action
    that the log shows nothing like; None where the policy cannot act beyond the log. `pareto_k` and
    `effective_episodes` are those of the importance weights of whole episodes, None without probabilities. A model may
    answer where at most a fifth have met strange things, importance sampling where k is below 0.7 and 50 effective
    episodes are left; `weighed` is how many steps of the log that holds for. `usual` is the mean length of episodes.
    """

    usual: float
    longest: int
    strange: Float[np.ndarray, " horizon"] | None
    pareto_k: float | None
    effective_episodes: float | None
    weighed: int
    unseen: tuple[str, ...] = ()
    """Actions of the policy that the log never shows."""
    missed: float | None = None
    """How far the model goes wrong on held-out episodes several steps ahead, as a share of the movement itself."""

    @property
    def models(self) -> bool:
        """Whether models may answer for the whole horizon."""
        if self.strange is None or self.unseen:
            return False
        return self._faithful and bool((self.strange <= TOLERATED).all())

    @property
    def _faithful(self) -> bool:
        """Whether the model is any good on held-out episodes, as far as that was measured."""
        return self.missed is None or not self.missed > WORST_MISS

    @property
    def weights(self) -> bool:
        """Whether importance sampling may answer for the whole horizon."""
        return self.weighed == self.longest

    @property
    def supported(self) -> bool:
        return self.models or self.weights

    @property
    def last_step(self) -> int:
        """The last step up to which a model may answer, or, without one, weights; -1 if not even at the first."""
        if self.strange is None or self.unseen or not self._faithful:
            return self.weighed - 1
        return int((self.strange <= TOLERATED).sum()) - 1

    @property
    def word(self) -> str:
        """Supported, supported up to a step, or not supported."""
        if self.supported:
            return "supported"
        enough = self.last_step + 1 >= LEAST_PART * self.usual
        return f"supported up to step {self.last_step}" if enough else "not supported"

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
            "effective_episodes": self.effective_episodes,
            "unseen_actions": list(self.unseen),
            "held_out_error": self.missed if self.missed is None or np.isfinite(self.missed) else None,
        }

    def _reason(self) -> str:
        if self.models:
            assert self.strange is not None
            return f"{self.strange[-1]:.0%} of those who follow it meet something that the log shows nothing like"
        if self.weights:
            return f"{self.effective_episodes:.0f} effective episodes follow it to the end"
        if not self._faithful:
            return (
                f"the model goes {self.missed:.1f} times as far wrong on held-out episodes as saying 'nothing changes'"
            )
        if self.strange is None:
            return (
                f"past step {self.weighed - 1} too few episodes follow it" if self.weighed else "no episodes follow it"
            )
        step = int((self.strange <= TOLERATED).sum())
        if self.unseen and step == len(self.strange):
            return f"it may do what the log never shows ({', '.join(self.unseen[:3])})"
        never = f" ({', '.join(self.unseen[:3])} never)" if self.unseen else ""
        return f"by step {step}, {self.strange[step]:.0%} of those who follow it meet what the log does not show{never}"


def judge(case: Case, model: Model | TabularModel | None, seed: int = 0, missed: float | None = None) -> Verdict:
    """From the log, the policy, and a model fitted to the log, with its held-out error; never from a truth."""
    data, policy = case.data, case.policy
    horizon = case.horizon or data.longest
    strange = None
    if model is not None and isinstance(policy, ObservationPolicy):
        from repbm.models import novelty

        strange = novelty(model, data, policy, horizon, seed)
    weights = None if data.behavior is None else case.weights
    return Verdict(
        usual=float(data.lengths.mean()),
        longest=data.longest,
        strange=strange,
        pareto_k=None if weights is None else pareto_k(weights.log_last),
        effective_episodes=None if weights is None else float(weights.effective_episodes[-1]),
        weighed=0 if weights is None else _weighed(weights),
        unseen=tuple(map(str, case.unseen)),
        missed=missed,
    )


def _weighed(weights: Weights) -> int:
    """How many steps importance sampling may answer for: found by halves, tails grow heavier on the way."""

    def holds(step: int) -> bool:
        return pareto_k(weights.logs_at(step)) < LARGEST_K

    enough = int(np.cumprod(weights.effective_episodes >= FEWEST_EFFECTIVE).sum())
    low, high = 0, enough
    if enough and holds(enough - 1):
        return enough
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


def model_of(data: Trajectories, horizon: int, seed: int = 0) -> Model | TabularModel:
    """A model of the log alone, good enough to see where a policy leads."""
    from repbm.models import AM, few_states, fit_closed_form, fit_tabular

    if few_states(data):
        return fit_tabular(data, None, AM, horizon)
    return fit_closed_form(data, None, AM, horizon, seed)
