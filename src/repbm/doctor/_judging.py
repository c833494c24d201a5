"""The one way to a verdict, for the doctor and for evaluations alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.core import Thresholds
from repbm.doctor._sample import sampled
from repbm.doctor._verdict import Verdict, judge
from repbm.estimators import Case, MarginalCritic
from repbm.policies import ObservationPolicy, learn_behavior


def verdict_of(
    case: Case,
    seed: int = 0,
    thresholds: Thresholds = Thresholds(),  # noqa: B008 - frozen
    critic: MarginalCritic | None = None,
) -> Verdict:
    """What the log of the case supports; of a long log evenly spread episodes tell.

    `critic` is the one behind the answer where that is known for the whole log; else it is fitted here, and so is the
    behavior where the log does not say it.
    """
    chosen = sampled(case.data, thresholds.log)
    if chosen is not None:
        critic = None if critic is None else critic.of_episodes(case, chosen)
        case = case.take(chosen)
    if case.data.behavior is None and len(case.data) > 1:
        learned = learn_behavior(case.data, seed, thresholds.behavior)
        known = replace(case.data, behavior=learned.logged(case.data))
        case = replace(case, data=known, behavior=learned.probabilities, _softened={})
    # Weights of hardly possible actions overflow: then a check fails, or the answer is not known well enough.
    with np.errstate(over="ignore", invalid="ignore"):
        if critic is None and can_be_answered(case):
            critic = answering_critic(case, seed, thresholds)
        found = judge(case, critic, thresholds.support, thresholds.positivity)
        return found if chosen is None else found.with_answer(None)


def can_be_answered(case: Case) -> bool:
    """Whether the policy can act in any state, the log shows all it does, and there are episodes to learn from."""
    several = len(case.data) > 1 and case.data.behavior is not None
    return several and isinstance(case.policy, ObservationPolicy) and not case.unseen


def answering_critic(case: Case, seed: int, thresholds: Thresholds) -> MarginalCritic:
    """The critic behind the answer."""
    from repbm.critics import CriticSpec, Marginal, fit_critic

    spec = CriticSpec(Marginal(), thresholds=thresholds)
    critic = fit_critic(case, spec, seed).critic
    assert isinstance(critic, MarginalCritic)
    return critic
