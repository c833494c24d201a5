"""What a report shows of a policy beyond the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from repbm.core import say, stream
from repbm.doctor import Backtest, backtest, possible_returns
from repbm.estimators import Case, Critic, marginal_weights, surprises
from repbm.evaluation._options import Question
from repbm.evaluation._practice import PracticeRegion
from repbm.inference import (
    Confounding,
    Group,
    ModelDistribution,
    Resampling,
    ReturnDistribution,
    WeightedSurprises,
    confounding,
    guaranteed_bounds,
    return_distribution,
    subgroups,
)
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from repbm.models import Comparison, Model

SHOWN_INDIVIDUALS = 10_000
"""A report shows at most so many individuals, of all policies together; for these it is told how far the log supports
them."""
_MOST_PATH_STEPS = 400_000
_MOST_ACTIONS = 8


@dataclass(frozen=True)
class PolicyDetails:
    """What one policy does and to whom.

    `actions`: every action, how often the policy would take it in logged states, and how often it was taken; the most
    frequent. `groups`: who gains and who loses. `individuals_by`: the estimator whose individual values are shown.
    `confounding`: what hidden causes could make of the answer, where that is the corrected estimate.
    `returns`: how returns are spread under the policy. `guaranteed`: bounds on the value that need no model, where the
    log says how probable its actions were. `regions`: where it differs from what was done. `model_returns`: how returns
    are spread in a model, where one was fitted.
    """

    actions: tuple[tuple[str, float, float], ...] = ()
    groups: tuple[Group, ...] = ()
    individuals_by: str | None = None
    confounding: Confounding | None = None
    returns: ReturnDistribution | None = None
    guaranteed: tuple[float, float] | None = None
    regions: tuple[PracticeRegion, ...] = ()
    model_returns: ModelDistribution | None = None

    def __repr__(self) -> str:
        return f"PolicyDetails({len(self.actions)} actions, {len(self.groups)} groups)"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> PolicyDetails:
        groups = tuple(Group(**{**each, "conditions": tuple(each["conditions"])}) for each in stored["groups"])
        actions = tuple((str(label), float(chosen), float(taken)) for label, chosen, taken in stored["actions"])
        hidden = stored["confounding"]
        if hidden is not None:
            hidden = Confounding(**{name: _tuple(value) for name, value in hidden.items()})
        regions = tuple(map(PracticeRegion.stored, stored["regions"]))
        spread = None if stored["returns"] is None else ReturnDistribution.of(stored["returns"])
        # Results of before the model was asked do not have it.
        modeled = stored.get("model_returns")
        modeled = None if modeled is None else ModelDistribution.of(modeled)
        bounds = _tuple(stored["guaranteed"])
        return cls(actions, groups, stored["individuals_by"], hidden, spread, bounds, regions, modeled)


def action_shares(case: Case) -> tuple[tuple[str, float, float], ...]:
    """What the policy does beside what was done, over logged steps."""
    if case.decisions.matrix is None:
        return ()
    labels = case.decisions.labels
    taken = np.bincount(case.data.actions.codes, minlength=len(labels)) / len(case.data.rewards)
    chosen = case.decisions.matrix().mean(axis=0)
    found = [(str(label), float(p), float(q)) for label, p, q in zip(labels, chosen, taken, strict=True)]
    return tuple(sorted(found, key=lambda entry: -entry[1])[:_MOST_ACTIONS])


def hidden_causes(case: Case, critic: Critic, answer: Mapping[str, Any], question: Question) -> Confounding | None:
    """What hidden causes could make of the corrected estimate in the row `answer`; None where it has no interval."""
    data = case.data
    if answer["difference_low"] is None or data.behavior is None:
        return None
    weights = marginal_weights(case, critic)
    parts = WeightedSurprises(
        base=float(critic.initial(case).values.mean()),
        steps=data.steps,
        weights=weights.scaled,
        surprises=surprises(case, critic),
        behavior=data.behavior,
        finished=weights.carried(np.zeros(len(data), dtype=np.int64), 1)[0],
        discount=case.discount,
    )
    interval = (answer["difference_low"], answer["difference_high"])
    return confounding(parts, answer["logged_mean"], interval, question.thresholds.confounding)


def spread_of_returns(case: Case, resampling: Resampling, question: Question) -> ReturnDistribution:
    """How returns are spread under the policy, as far as the log tells."""
    if case.data.behavior is None:
        return ReturnDistribution(None, reason=say("spread", "no_probabilities"))
    if case.unseen:
        return ReturnDistribution(None, reason=say("spread", "never_shown", action=repr(case.unseen[0])))
    rules, weights = question.thresholds.distribution, case.weights.log_last
    given = question.level, question.threshold, rules, question.outcome.sign
    return return_distribution(case.returns, weights, resampling, *given)


def model_free_bounds(case: Case, question: Question) -> tuple[float, float] | None:
    """What holds in any world; None where probabilities are learned, or the log lacks actions of the policy."""
    if case.data.behavior is None or case.behavior is not None or case.unseen:
        return None
    return guaranteed_bounds(case.returns, case.weights.log_last, possible_returns(case), question.level, question.seed)


def gains_by_group(
    case: Case, values: Float[np.ndarray, " episodes"], earned: Float[np.ndarray, " episodes"], question: Question
) -> tuple[Group, ...]:
    """Who gains and who loses: value for the individual minus what was earned."""
    data, rules = case.data, question.thresholds.subgroups
    gains = np.asarray(values) - earned
    return tuple(subgroups(data.initial_observations, data.names, gains, question.level, question.seed, rules))


def shown(count: int, policies: int) -> Int[np.ndarray, " some"]:
    """The individuals that a report shows: evenly spread where there are more than it can."""
    return np.arange(count)[:: max(1, -(-count // max(1, SHOWN_INDIVIDUALS // policies)))]


def support_of_individuals(
    case: Case, model: Model | None, rows: Int[np.ndarray, " some"], question: Question
) -> Float[np.ndarray, " episodes"] | None:
    """The chance of these individuals to meet only what the log shows; NaN for the others, and past what can be
    followed in time. None where the policy cannot act beyond the log."""
    if model is None or not isinstance(case.policy, ObservationPolicy):
        return None
    horizon = case.most_steps
    rows = rows[: max(1, _MOST_PATH_STEPS // horizon)]
    states = case.data.initial_observations[rows]
    found = np.full(len(case.data), np.nan)
    novelty, seed = question.thresholds.novelty, question.seed
    found[rows] = model.support_probability(case.data, case.policy, states, horizon, novelty, seed)
    return found


def held_out_backtest(
    case: Case, scores: Comparison, question: Question, announce: Callable[[str], None]
) -> Backtest | None:
    """A model of most of the episodes, of the kind chosen for all, asked about the rest; None with too few."""
    from repbm.critics import CriticSpec, ModelCriticKind, fit_critic
    from repbm.models import AM

    rules, seed = question.thresholds.backtest, question.seed
    if len(case.data) < rules.fewest_episodes:
        return None
    order = stream(seed, "backtest").permutation(len(case.data))
    part = int(rules.fitted_share * len(order))
    fitted, kept = case.take(np.sort(order[:part])), case.data.take(np.sort(order[part:]))
    spec = CriticSpec(ModelCriticKind(AM), question.fitting.model_fit(question.thresholds))
    model = fit_critic(fitted, spec, seed, scores=scores, announce=announce).model
    assert model is not None
    return backtest(model, fitted.data, kept, case.discount, case.most_steps, seed, rules)


def _tuple(value: Any) -> Any:
    """What JSON holds as a list."""
    return tuple(value) if isinstance(value, list) else value
