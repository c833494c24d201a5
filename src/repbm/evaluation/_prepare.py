"""What comes before any policy is asked: the log, read, and with the behavior learned where it does not tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from repbm.data import Informative, Trajectories
from repbm.doctor import Examination, examine
from repbm.estimators import Case, EstimatorSpec
from repbm.evaluation._critics import critic_kind
from repbm.evaluation._options import Question
from repbm.evaluation._shared import Shared
from repbm.evaluation._whole import AllEpisodes
from repbm.logs import Drawn, Source, draw_log
from repbm.policies import LearnedBehavior, Policy, learn_behavior


def read(
    log: Source | Trajectories,
    policies: Mapping[str, Policy],
    asked: Sequence[EstimatorSpec] | None,
    question: Question,
    shared: Shared,
    summed: AllEpisodes,
) -> Drawn:
    """The log, or what memory allows of it, cut at the horizon; observations only where somebody looks at them."""
    shared.about(log, question)
    keep = list(dict.fromkeys(column for policy in policies.values() for column in policy.needs_columns))
    needs = any(policy.needs_observations for policy in policies.values())
    needs = needs or any(spec.critic is not None for spec in asked or ())

    drawn = _opened(log, keep, needs, question, shared, summed)
    data = drawn.data
    if data.behavior is None and not data.observations.shape[1] and weighs(asked, {}) and len(data) > 1:
        # Read again: the behavior is learned from observations.
        return _opened(log, keep, True, question, shared)
    return drawn


def _opened(
    log: Source | Trajectories,
    keep: Sequence[str],
    needs: bool,
    question: Question,
    shared: Shared,
    summed: AllEpisodes | None = None,
) -> Drawn:
    """Some columns of the log."""

    def drawn_log() -> Drawn:
        options = question.reading
        drawn = (
            Drawn(log)
            if isinstance(log, Trajectories)
            else draw_log(
                log,
                options.memory,
                question.seed,
                question.thresholds.memory,
                along=(lambda scan: None) if summed is None else summed.while_drawn,
                columns=options.columns,
                keep=keep,
                ends=options.ends,
                missing=options.missing,
                gaps=options.gaps,
                worth=options.worth,
                needs_observations=needs,
                rules=question.thresholds.encoding,
            )
        )
        return drawn if question.horizon is None else drawn.with_data(drawn.data.until(question.horizon))

    return shared.once(("log",) if isinstance(log, Trajectories) else ("log", tuple(keep), needs), drawn_log)


def prepare(log: Source | Trajectories, question: Question, shared: Shared) -> tuple[Trajectories, Examination]:
    """The log, read, examined, and with the behavior learned where it does not tell it: all that needs no policy."""
    shared.about(log, question)
    data = _opened(log, (), True, question, shared).data
    examination = shared.once(("examination", id(data)), lambda: examine(data, thresholds=question.thresholds))
    told = informative_columns(data, shared)[1]
    if told.behavior is None and len(told) > 1:
        told = with_behavior(told, question, shared)[1]
    return told, examination


def informative_columns(data: Trajectories, shared: Shared) -> tuple[Informative | None, Trajectories]:
    """Which columns tell something, where not all do, and the log without the others: what is fitted, is fitted to it.

    Left out here and not where the log is read: policies, tables and new individuals have the columns of the log.
    """

    def look() -> tuple[Informative | None, Trajectories]:
        found = Informative.of(data)
        return found, data if found is None else found.log(data)

    return shared.once(("informative", id(data)), look)


def with_behavior(data: Trajectories, question: Question, shared: Shared) -> tuple[LearnedBehavior, Trajectories]:
    """How probable logged actions were, and the log that tells it."""

    def learn() -> tuple[LearnedBehavior, Trajectories]:
        learned = learn_behavior(data, question.seed, question.thresholds.behavior)
        return learned, replace(data, behavior=learned.logged(data))

    return shared.once(("behavior", id(data)), learn)


def weighs(asked: Sequence[EstimatorSpec] | None, cases: Mapping[str, Case]) -> bool:
    """Whether probabilities of logged actions are wanted: where nobody asks for anything, if they can be learned."""
    if asked is None:
        return all(len(case.data) > 1 for case in cases.values())
    if any(spec.role.weighs for spec in asked):
        return True
    kinds = [critic_kind(spec.critic) for spec in asked if spec.critic is not None]
    return any(kind.needs_behavior(case) for kind in kinds for case in cases.values())
