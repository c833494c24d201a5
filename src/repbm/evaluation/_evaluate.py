"""The one verb: evaluate policies on a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from repbm.core import FailsElsewhere, InputError, Progress, Thresholds, one_thread
from repbm.data import Informative, Trajectories
from repbm.doctor import Backtest, Verdict, can_be_answered, examine, refusals, verdict_of
from repbm.engines import Engine, opens_engine
from repbm.estimators import (
    Case,
    Estimator,
    EstimatorSpec,
    Role,
    as_estimator,
    default_estimators,
)
from repbm.evaluation._adding import add, added_whole, completing, correcting
from repbm.evaluation._asked import asked_case, fitted_case
from repbm.evaluation._cohort import cohort
from repbm.evaluation._critics import Critics, critic_kind
from repbm.evaluation._details import (
    PolicyDetails,
    action_shares,
    gains_by_group,
    held_out_backtest,
    hidden_causes,
    model_free_bounds,
    shown,
    spread_of_returns,
    support_of_individuals,
)
from repbm.evaluation._everyone import everyone as all_individuals
from repbm.evaluation._fingerprint import Fingerprint
from repbm.evaluation._model_returns import spread_in_model
from repbm.evaluation._options import Fitting, Question, Reading
from repbm.evaluation._outcome import Outcome, Scale
from repbm.evaluation._practice import practice_regions
from repbm.evaluation._prepare import informative_columns, read, weighs, with_behavior
from repbm.evaluation._record import described, episodes_table, record
from repbm.evaluation._result import Evaluation
from repbm.evaluation._shared import Shared, SharedCritics
from repbm.evaluation._similar import compared
from repbm.evaluation._steps import Steps
from repbm.evaluation._tables import Tables
from repbm.evaluation._whole import AllEpisodes, Taught
from repbm.inference import Resampling
from repbm.logs import Source, read_individuals
from repbm.policies import ObservationPolicy, Policy
from repbm.policies.adapters import as_policy

if TYPE_CHECKING:
    from repbm.models import Model


@opens_engine
@one_thread()
def evaluate(
    log: Source | Trajectories,
    policy: Any,
    *,
    estimators: Sequence[str | EstimatorSpec | Estimator] | str | None = None,
    discount: float = 1.0,
    horizon: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
    thresholds: Thresholds = Thresholds(),  # noqa: B008 - frozen
    individuals: Source | None = None,
    threshold: float | Sequence[float] = (),
    outcome: Outcome = Outcome(),  # noqa: B008 - frozen
    everyone: bool = False,
    details: bool = True,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
    shared: Shared | None = None,
) -> Evaluation:
    """What would happen if we followed this policy instead? Answered from the log alone.

    `log` is whatever `read_log` reads (a path, a data frame, arrays, episodes, a dataset), or Trajectories; `reading`
    says how, and how much memory it may take. `policy` is whatever `as_policy` understands, or a mapping of names to
    such. Without `estimators`, those that the log and the policy support.

    `horizon` cuts every episode after so many steps. `level` is that of the intervals; `seed` drives resampling,
    rollouts and whatever is fitted. `fitting` says how critics are fitted, `thresholds` what decides. Where the log
    does not say how probable its actions were, and an estimator needs it, that is learned (see `learn_behavior`).
    `individuals` is a table of initial states (see `read_individuals`) whose values are wanted too, `threshold` a
    return, or several, of which the share of episodes below is, `outcome` what rewards add up to. With `everyone`, all
    individuals of a log are valued, also of one of which a sample is read (`Evaluation.everyone`). Without `details`,
    what only a report shows (back-test, support of individuals, hidden causes, spread of returns) is left out.
    `engine` is where critics are fitted: an engine, or the name of one, "process", "processes" or "ray"; the numbers
    are the same. `shared` keeps what is the same for other policies (see `PolicyEvaluator`).
    """
    assert isinstance(engine, Engine)
    below = tuple(float(one) for one in np.ravel(threshold))
    question = Question(discount, horizon, level, seed, reading, fitting, thresholds, details, below, outcome, everyone)
    policies = _policies(policy)
    given = [estimators] if isinstance(estimators, str) else estimators
    asked = None if given is None else [as_estimator(one) for one in given]
    steps = Steps(progress)
    steps.begin("reading the log")
    shared = shared or Shared()
    begun = shared.once("fingerprint", lambda: Fingerprint.begun(log))
    summed = AllEpisodes(policies, question, steps.note, engine)
    drawn = read(log, policies, asked, question, shared, summed)
    log_data = drawn.data
    examination = shared.once(("examination", id(log_data)), lambda: examine(log_data, thresholds=thresholds))
    columns, data = informative_columns(log_data, shared)
    new = None
    if individuals is not None:
        new = read_individuals(individuals, log_data.observation_names, reading.columns, log_data.encoding)
        new = new if columns is None else new.among(columns)

    steps.begin("asking the policies")
    asking = {name: asked_case(log_data, name, one, question, drawn.longest) for name, one in policies.items()}
    cases = {name: fitted_case(case, columns, data) for name, case in asking.items()}
    learned = None
    acts = any(isinstance(case.policy, ObservationPolicy) for case in cases.values())
    if data.behavior is None and (weighs(asked, cases) or (acts and len(data) > 1)):
        steps.learn()
        learned, data = with_behavior(data, question, shared)
        known = learned.probabilities
        cases = {name: replace(case, data=data, behavior=known, _softened={}) for name, case in cases.items()}
    chosen = {name: _default(case) if asked is None else asked for name, case in cases.items()}

    steps.plan(chosen, fitting.refits, details)
    critics = Critics(question, steps.note, engine, shared.once(("critics", id(data)), SharedCritics))
    critics.prepare((spec, case) for name, case in cases.items() for spec in chosen[name])
    asked_of_all = {} if drawn.scan is None else correcting(critics, chosen, cases)
    forms = {} if drawn.scan is None else completing(critics, chosen, cases)
    whole = summed.of(drawn, Taught(learned, asked_of_all, columns, forms))
    for (name, critic), sums in whole.fitted.items():
        critics.complete(critic, cases[name], forms[name, critic], sums, drawn.steps(horizon))
    resampling, every = Resampling(data, seed, thresholds.intervals), drawn.episodes
    tables = Tables(level, resampling, thresholds, learned, drawn.note, outcome.sign, every)
    verdicts: dict[str, Verdict] = {}
    models: dict[tuple[str, str], Model] = {}
    earned: dict[str, np.ndarray] = {}
    held_out: list[Backtest | None] = []

    def test_held_out() -> None:
        if details and critics.scores is not None and not held_out:
            held_out.append(held_out_backtest(next(iter(cases.values())), critics.scores, question, steps.note))

    for name, case in cases.items():
        critics.together(chosen[name], case, test_held_out)
        earned[name] = critics.earned(chosen[name], case)
        for spec in chosen[name]:
            steps.estimate(spec, name)
            if not added_whole(tables, spec, name, whole.weighed.get(name)):
                add(tables, critics, spec, name, case, earned[name], new, steps, whole.corrected.get((name, spec.name)))
        steps.judge(name)
        verdicts[name] = _judged(case, critics, question)
        tables.add_diagnostics(name, case, critics.policy_model(case), whole.weighed.get(name))
        tables.settle(name, verdicts[name])
        answer = tables.answer(name)
        if answer is not None and answer["role"] == Role.CORRECTED:
            # Of all episodes, also where some of them were judged.
            verdicts[name] = verdicts[name].with_answer(answer["effective_episodes"])
        models |= {(name, critic): _of_log(model, columns, log_data) for critic, model in critics.models(case).items()}
    found = {name: _gains(tables, name, case, earned[name], question) for name, case in cases.items()}
    tested = None
    if details:
        if models:
            test_held_out()
            tested = held_out[0] if held_out else None
        for name, case in cases.items():
            steps.look_closer(name)
            found[name] = _details(found[name], tables, critics, name, case, len(cases), question, tested)
            rows, starts = shown(len(data), len(cases)), data.initial_observations
            tables.compare(name, "log", compared(case, starts, rows, thresholds, logged=True))
    for name, case in cases.items():
        if new is not None:
            tables.compare(name, "new", compared(case, new.states, np.arange(len(new.states)), thresholds, False))
        tables.refuse(name, "log", refusals(case, case.data.initial_observations, thresholds))
        if new is not None:
            tables.refuse(name, "new", refusals(case, new.states, thresholds))
    steps.end()
    scores, first = critics.scores, next(iter(cases.values()))
    bound, said = {name: case.policy for name, case in asking.items()}, [*summed.notes]
    said += [] if columns is None else [columns.note]
    return Evaluation(
        *tables.frames(),
        ranking=tables.ranking(),
        episodes=episodes_table(next(iter(asking.values()))),
        scale=Scale.of(first),
        cohort=cohort(next(iter(asking.values()))) if details else None,
        examination=replace(examination, verdicts=verdicts),
        backtest=tested,
        policies=found,
        dynamics=[]
        if scores is None
        else [{**asdict(score), "chosen": score.dynamics == scores.chosen} for score in scores.scores],
        behavior=None if learned is None else described(learned),
        run=record(
            log, policy, bound, chosen, asked is None, individuals, log_data, question, engine, begun, new, said
        ),
        models=models,
        everyone=all_individuals(drawn, tables, critics, cases, question, columns) if everyone else None,
    ).numbered()


def _policies(given: Any) -> dict[str, Policy]:
    if isinstance(given, Mapping):
        if not given:
            raise InputError("no policy is given")
        return {str(name): as_policy(one) for name, one in given.items()}
    policy = as_policy(given)
    return {given if isinstance(given, str) else policy.name: policy}


def _default(case: Case) -> list[EstimatorSpec]:
    # What follows an action that the log never shows, no model can tell.
    acts = isinstance(case.policy, ObservationPolicy) and not case.unseen
    known = case.data.behavior is not None
    chosen = default_estimators(known, acts)
    if not known:
        chosen = [spec for spec in chosen if spec.critic is None or not critic_kind(spec.critic).needs_behavior(case)]
    if len(case.data) < 2:
        chosen = [spec for spec in chosen if spec.role is not Role.CORRECTED]
    if not chosen:
        raise InputError(
            "the log tells neither how probable its actions were nor is the policy known beyond its steps",
            fix="add a column behavior_prob, or give the policy as a function",
        )
    return chosen


def _of_log(model: Model, columns: Informative | None, data: Trajectories) -> Model:
    """The model for states that have all columns of the log."""
    from repbm.models import WidenedModel

    return model if columns is None else WidenedModel.of(model, columns, data.observation_names)


def _judged(case: Case, critics: Critics, question: Question) -> Verdict:
    """The verdict, whatever estimators were asked for."""
    critic = critics.answering(case) if can_be_answered(case) else None
    found = verdict_of(case, question.seed, question.thresholds, critic)
    if question.details and isinstance(case.policy, ObservationPolicy) and critics.models(case):
        rules = question.thresholds.novelty
        model = critics.behavior_model(case)
        with suppress(FailsElsewhere):
            found = found.with_novelty(model.novelty(case.data, case.policy, case.most_steps, rules, question.seed))
    return found


def _gains(tables: Tables, name: str, case: Case, earned: np.ndarray, question: Question) -> PolicyDetails:
    """Who tells of individuals, and which groups of them gain; all pages show these."""
    teller = tables.individuals_by(name)
    if teller is None:
        return PolicyDetails()
    groups = gains_by_group(case, tables.individual_values(name, teller), earned, question)
    return PolicyDetails(groups=groups, individuals_by=teller)


def _details(
    known: PolicyDetails,
    tables: Tables,
    critics: Critics,
    name: str,
    case: Case,
    policies: int,
    question: Question,
    tested: Backtest | None,
) -> PolicyDetails:
    """What is known, and what a report shows beyond it."""
    teller = known.individuals_by
    if teller is not None:
        model = critics.behavior_model(case) if critics.models(case) else None
        with suppress(FailsElsewhere):
            support = support_of_individuals(case, model, shown(len(case.data), policies), question)
            if support is not None:
                tables.add_support(name, teller, support)
    answer, hidden = tables.answer(name), None
    if answer is not None and answer["role"] == Role.CORRECTED.value:
        fitted = critics.for_estimator(tables.spec(name, answer["estimator"]), case)
        sampled = tables.of_sample(name, answer)
        hidden = None if fitted is None else hidden_causes(case, fitted.critic, sampled, question)
    returns = spread_of_returns(case, tables.resampling, question)
    telling = critics.telling_model(case)
    modeled = None if telling is None else spread_in_model(case, *telling, tested, question)
    return replace(
        known,
        actions=action_shares(case),
        confounding=hidden,
        returns=returns,
        guaranteed=model_free_bounds(case, question),
        regions=practice_regions(case),
        model_returns=modeled,
    )
