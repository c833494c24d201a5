"""Whether the log can say anything about a policy, and how far: checks that must hold, and how much is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import PositivityRules, SupportRules, say
from repbm.doctor._checks import Check, checks_of
from repbm.estimators import Case, Corrected, MarginalCritic, Weights
from repbm.inference import pareto_k

NOT_SUPPORTED = "not supported"
"""The word of a verdict where a check fails."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the log supports.

    Of a policy that can act in any state: all `checks` must hold, and the answer must be known well enough
    (`precision`). Of one that is known at logged steps only: importance weights must hold. `pareto_k` and
    `effective_episodes` are those of the products of ratios of whole episodes, None without probabilities. It does not
    depend on the estimators that are asked for, and never looks at a truth.
    """

    mean_length: float
    longest: int
    pareto_k: float | None
    effective_episodes: float | None
    steps_with_valid_weights: int
    """For so many steps importance sampling may answer."""
    unseen: tuple[str, ...] = ()
    """Actions of the policy that the log never shows."""
    checks: tuple[Check, ...] | None = None
    """None where there is no critic to check: the policy is known at logged steps only."""
    precision: float | None = None
    """The standard error of the answer over the one that as many episodes under the policy itself would leave."""
    novelty: Float[np.ndarray, " horizon"] | None = None
    """For the report: the share of those who follow the policy, in a fitted model, who by step t have met a state and
    an action that the log shows nothing like."""
    rules: SupportRules = field(default_factory=SupportRules)
    answer_episodes: float | None = None
    """The effective episodes behind the answer that a critic gives; None where they are those of a sample alone."""

    def __repr__(self) -> str:
        return f"Verdict({self.sentence})"

    @property
    def models(self) -> bool:
        """Whether what is fitted may answer: every check holds."""
        return self.checks is not None and all(check.holds for check in self.checks)

    @property
    def weights(self) -> bool:
        """Whether importance sampling may answer for the whole horizon."""
        return self.steps_with_valid_weights == self.longest

    @property
    def precise(self) -> bool:
        """Whether the answer is known well enough to act on."""
        return self.precision is None or self.precision <= self.rules.largest_precision

    @property
    def supported(self) -> bool:
        if self.checks is None:
            return self.weights
        return self.models and self.precise

    @property
    def few_behind(self) -> bool:
        """Whether so few effective episodes stand behind the answer that its interval may be too narrow."""
        return self.answer_episodes is not None and self.answer_episodes < self.rules.fewest_effective_episodes

    @property
    def last_step(self) -> int:
        """The last step up to which the log supports the policy; -1 if not even at the first."""
        return self.longest - 1 if self.supported else self.steps_with_valid_weights - 1

    @property
    def word(self) -> str:
        """Supported, the log cannot tell, supported up to a step, or not supported."""
        if self.supported:
            return "supported"
        if self.checks is not None:
            return "the log cannot tell" if self.models else NOT_SUPPORTED
        enough = self.last_step + 1 >= self.rules.smallest_part * self.mean_length
        return f"supported up to step {self.last_step}" if enough else NOT_SUPPORTED

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
            "checks": None if self.checks is None else [asdict(check) for check in self.checks],
            "precision": _finite(self.precision),
            "novelty": None if self.novelty is None else self.novelty.tolist(),
            "pareto_k": None if self.pareto_k is None or not np.isfinite(self.pareto_k) else self.pareto_k,
            "effective_episodes": self.effective_episodes,
            "answer_episodes": self.answer_episodes,
            "steps_with_valid_weights": self.steps_with_valid_weights,
            "unseen_actions": list(self.unseen),
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any], rules: SupportRules) -> Verdict:
        """The verdict that `to_dict` wrote."""
        novelty, checks = stored["novelty"], stored["checks"]
        # JSON has no infinity; without a precision a log can always tell.
        unknown = stored["precision"] is None and stored["verdict"] == "the log cannot tell"
        return cls(
            mean_length=stored["mean_length"],
            longest=stored["longest"],
            pareto_k=stored["pareto_k"],
            effective_episodes=stored["effective_episodes"],
            steps_with_valid_weights=stored["steps_with_valid_weights"],
            unseen=tuple(stored["unseen_actions"]),
            checks=None if checks is None else tuple(Check(**each) for each in checks),
            precision=float("inf") if unknown else stored["precision"],
            novelty=None if novelty is None else np.asarray(novelty, dtype=np.float64),
            rules=rules,
            # Results of earlier programs do not say it.
            answer_episodes=stored.get("answer_episodes"),
        )

    def with_answer(self, effective_episodes: float | None) -> Verdict:
        """Where so many effective episodes stand behind the answer; None where it is not known."""
        return replace(self, answer_episodes=effective_episodes)

    def with_novelty(self, novelty: Float[np.ndarray, " horizon"]) -> Verdict:
        return replace(self, novelty=novelty)

    def _reason(self) -> str:
        if self.checks is None:
            last = self.steps_with_valid_weights - 1
            if self.weights:
                return say("doctor", "because_weights", episodes=self.effective_episodes)
            if last >= 0:
                return say("doctor", "because_past", step=last)
            few = self.effective_episodes or 0.0
            return say("doctor", "because_few", episodes=few) if few >= 1 else say("doctor", "because_none")
        broken = [check.sentence for check in self.checks if not check.holds]
        if broken:
            return "; ".join(broken)
        if self.precision == float("inf"):
            return say("doctor", "because_unknown")
        if self.precision is not None and not self.precise:
            return say("doctor", "because_imprecise", times=self.precision)
        if self.few_behind:
            return say("doctor", "because_supported_few", episodes=self.answer_episodes)
        return say("doctor", "because_supported")


def judge(
    case: Case,
    critic: MarginalCritic | None,
    rules: SupportRules = SupportRules(),  # noqa: B008 - frozen
    positivity: PositivityRules = PositivityRules(),  # noqa: B008 - frozen
) -> Verdict:
    """From the log, the policy, and the critic behind the answer; never from a truth."""
    data = case.data
    weights = None if data.behavior is None else case.weights
    answer = None if critic is None else Corrected(critic)(case)
    checks, precision = (
        (None, None) if critic is None and not case.unseen else checks_of(case, critic, answer, rules, positivity)
    )
    return Verdict(
        mean_length=float(data.lengths.mean()),
        longest=data.longest,
        pareto_k=None if weights is None else pareto_k(weights.log_last),
        effective_episodes=None if weights is None else float(weights.effective_episodes[-1]),
        steps_with_valid_weights=0 if weights is None else _steps_with_valid_weights(weights, rules),
        unseen=tuple(map(str, case.unseen)),
        checks=checks,
        precision=precision,
        rules=rules,
        answer_episodes=None if answer is None or answer.value is None else answer.effective_episodes,
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
