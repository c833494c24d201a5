"""Whether the log can say anything about a policy, and how far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from repbm.core import NoveltyRules, SupportRules
from repbm.estimators import Case, Weights
from repbm.inference import pareto_k
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models import Model


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the log supports.

    `novelty`: the share of those who follow the policy, in a fitted model, who by step t have met a state and an action
    that the log shows nothing like; None where the policy cannot act beyond the log. `pareto_k` and
    `effective_episodes` are those of the importance weights of whole episodes, None without probabilities. The `rules`
    say until when a model, and until when importance sampling, may answer.
    """

    mean_length: float
    longest: int
    novelty: Float[np.ndarray, " horizon"] | None
    pareto_k: float | None
    effective_episodes: float | None
    steps_with_valid_weights: int
    """For so many steps importance sampling may answer."""
    unseen: tuple[str, ...] = ()
    """Actions of the policy that the log never shows."""
    held_out_error: float | None = None
    """How far the model goes wrong on held-out episodes several steps ahead, as a share of the movement itself."""
    rules: SupportRules = field(default_factory=SupportRules)

    @property
    def models(self) -> bool:
        """Whether models may answer for the whole horizon."""
        if self.novelty is None or self.unseen:
            return False
        return self._faithful and self._familiar_steps == len(self.novelty)

    @property
    def weights(self) -> bool:
        """Whether importance sampling may answer for the whole horizon."""
        return self.steps_with_valid_weights == self.longest

    @property
    def supported(self) -> bool:
        return self.models or self.weights

    @property
    def last_step(self) -> int:
        """The last step up to which a model may answer, or, without one, weights; -1 if not even at the first."""
        if self.novelty is None or self.unseen or not self._faithful:
            return self.steps_with_valid_weights - 1
        return self._familiar_steps - 1

    @property
    def word(self) -> str:
        """Supported, supported up to a step, or not supported."""
        if self.supported:
            return "supported"
        enough = self.last_step + 1 >= self.rules.smallest_part * self.mean_length
        return f"supported up to step {self.last_step}" if enough else "not supported"

    @property
    def sentence(self) -> str:
        """The word, and why."""
        return f"{self.word}: {self._reason()}"

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; `of` makes the same verdict of them."""
        return {
            "verdict": self.word,
            "sentence": self.sentence,
            "supported": self.supported,
            "last_step": self.last_step,
            "models_admissible": self.models,
            "weights_admissible": self.weights,
            "mean_length": self.mean_length,
            "longest": self.longest,
            "novelty": None if self.novelty is None else self.novelty.tolist(),
            "pareto_k": None if self.pareto_k is None or not np.isfinite(self.pareto_k) else self.pareto_k,
            "effective_episodes": self.effective_episodes,
            "steps_with_valid_weights": self.steps_with_valid_weights,
            "unseen_actions": list(self.unseen),
            "held_out_error": _finite(self.held_out_error),
            "held_out_error_known": self.held_out_error is not None,
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any], rules: SupportRules) -> Verdict:
        """The verdict that `to_dict` wrote."""
        novelty, error = stored["novelty"], stored["held_out_error"]
        return cls(
            mean_length=stored["mean_length"],
            longest=stored["longest"],
            novelty=None if novelty is None else np.asarray(novelty, dtype=np.float64),
            pareto_k=stored["pareto_k"],
            effective_episodes=stored["effective_episodes"],
            steps_with_valid_weights=stored["steps_with_valid_weights"],
            unseen=tuple(stored["unseen_actions"]),
            held_out_error=float("nan") if error is None and stored["held_out_error_known"] else error,
            rules=rules,
        )

    @property
    def _faithful(self) -> bool:
        """Whether the model is any good on held-out episodes, as far as that was measured."""
        return self.held_out_error is None or not self.held_out_error > self.rules.largest_held_out_error

    @property
    def _familiar_steps(self) -> int:
        """For so many steps few enough have met anything novel."""
        return 0 if self.novelty is None else int((self.novelty <= self.rules.largest_novelty).sum())

    def _reason(self) -> str:
        if self.models:
            assert self.novelty is not None
            return f"{self.novelty[-1]:.0%} of those who follow it meet something that the log shows nothing like"
        if self.weights:
            return f"{self.effective_episodes:.0f} effective episodes follow it to the end"
        if not self._faithful:
            return (
                f"the model goes {self.held_out_error:.1f} times as far wrong on held-out episodes as saying "
                "'nothing changes'"
            )
        if self.novelty is None:
            last = self.steps_with_valid_weights - 1
            return f"past step {last} too few episodes follow it" if last >= 0 else "no episodes follow it"
        step = self._familiar_steps
        if self.unseen and step == len(self.novelty):
            return f"it may do what the log never shows ({', '.join(self.unseen[:3])})"
        never = f" ({', '.join(self.unseen[:3])} never)" if self.unseen else ""
        return f"by step {step}, {self.novelty[step]:.0%} of those who follow it meet what the log does not show{never}"


def judge(
    case: Case,
    model: Model | None,
    held_out_error: float | None = None,
    seed: int = 0,
    rules: SupportRules = SupportRules(),  # noqa: B008 - frozen
    novelty: NoveltyRules = NoveltyRules(),  # noqa: B008 - frozen
) -> Verdict:
    """From the log, the policy, and a model fitted to the log, with its held-out error; never from a truth."""
    data, policy, found = case.data, case.policy, None
    if model is not None and isinstance(policy, ObservationPolicy):
        found = model.novelty(data, policy, case.most_steps, novelty, seed)
    weights = None if data.behavior is None else case.weights
    return Verdict(
        mean_length=float(data.lengths.mean()),
        longest=data.longest,
        novelty=found,
        pareto_k=None if weights is None else pareto_k(weights.log_last),
        effective_episodes=None if weights is None else float(weights.effective_episodes[-1]),
        steps_with_valid_weights=0 if weights is None else _steps_with_valid_weights(weights, rules),
        unseen=tuple(map(str, case.unseen)),
        held_out_error=held_out_error,
        rules=rules,
    )


def _steps_with_valid_weights(weights: Weights, rules: SupportRules) -> int:
    """How many steps importance sampling may answer for: found by halves, tails grow heavier on the way."""

    def holds(step: int) -> bool:
        return pareto_k(weights.logs_at(step)) < rules.largest_pareto_k

    enough = int(np.cumprod(weights.effective_episodes >= rules.fewest_effective_episodes).sum())
    low, high = 0, enough
    if enough and holds(enough - 1):
        return enough
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


def _finite(number: float | None) -> float | None:
    return number if number is not None and np.isfinite(number) else None
