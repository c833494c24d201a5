"""The rows of estimators, each from the critic that it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from repbm.core import FailsElsewhere, say
from repbm.doctor import possible_returns
from repbm.estimators import (
    Case,
    Corrected,
    CorrectedSums,
    DirectMethod,
    Estimate,
    EstimatorSpec,
    FoldCritic,
    GroupSums,
    ImportanceSampling,
    PerDecisionImportanceSampling,
    Role,
)
from repbm.evaluation._critics import Critics, critic_kind
from repbm.evaluation._steps import Steps
from repbm.evaluation._tables import Tables

if TYPE_CHECKING:
    from repbm.critics import WholeModel


def added_whole(tables: Tables, spec: EstimatorSpec, name: str, sums: GroupSums | None) -> bool:
    """The row of importance sampling from all episodes of a log that was read in parts, if that is known."""
    if sums is None or spec.critic is not None:
        return False
    estimator = spec.estimator(None)
    if not isinstance(estimator, ImportanceSampling | PerDecisionImportanceSampling):
        return False
    tables.add_grouped(name, spec, sums, sums.estimate(estimator))
    return True


def correcting(
    critics: Critics, chosen: Mapping[str, Sequence[EstimatorSpec]], cases: Mapping[str, Case]
) -> dict[tuple[str, str], FoldCritic]:
    """The critics behind answers that may be asked about episodes which are not in the sample."""
    found = {}
    for name, specs in chosen.items():
        for spec in specs:
            fitted = critics.for_estimator(spec, cases[name]) if spec.role is Role.CORRECTED else None
            if fitted is None or not isinstance(spec.estimator(fitted.critic), Corrected):
                continue
            if isinstance(fitted.critic, FoldCritic) and fitted.critic.asked_elsewhere:
                found[name, spec.name] = fitted.critic
    return found


def completing(
    critics: Critics, chosen: Mapping[str, Sequence[EstimatorSpec]], cases: Mapping[str, Case]
) -> dict[tuple[str, str], WholeModel]:
    """The models that may be fitted to episodes which are not in the sample, by policy and critic.

    One that no policy changes stands with the first.
    """
    found: dict[tuple[str, str], WholeModel] = {}
    for name, specs in chosen.items():
        known = {critic for _, critic in found if not critic_kind(critic).for_policy}
        own = critics.for_all_steps(specs, cases[name])
        found |= {(name, critic): model for critic, model in own.items() if critic not in known}
    return found


def add(
    tables: Tables,
    critics: Critics,
    spec: EstimatorSpec,
    name: str,
    case: Case,
    earned: np.ndarray,
    new: Any,
    steps: Steps,
    sums: CorrectedSums | None = None,
) -> None:
    """The row of an estimator, and the values of individuals where it has them.

    `sums` is what episodes of a log that was read in parts correct, where that is known.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        fitted = critics.for_estimator(spec, case)
        estimator = spec.estimator(None if fitted is None else fitted.critic)
        direct = estimator if isinstance(estimator, DirectMethod) else None
        try:
            found = estimator(case)
        except FailsElsewhere as fault:
            found, new = Estimate(None, None, 0.0, note=say("notes", "not_defined", reason=fault)), None
        again = None
        if critics.question.fitting.refits and fitted is not None and direct is not None and found.value is not None:
            again = critics.refitted(spec, case, lambda k: steps.refit(spec, name, k))
        weighted = spec.role.weighs or (spec.critic is not None and critic_kind(spec.critic).needs_behavior(case))
        tables.add(name, spec, case, found, earned, again, weighted, "" if fitted is None else fitted.told)
        if sums is not None and isinstance(estimator, Corrected) and isinstance(estimator.critic, FoldCritic):
            tables.correct(name, spec, case, sums, sums.estimate(estimator, estimator.critic, found.note))
    if new is not None and direct is not None:
        tables.add_values(name, spec.name, new.labels, direct.values_of(case, new.states), "new")
    if new is not None and isinstance(estimator, Corrected):
        asked = estimator.individuals(case, new.states)
        if asked is not None:
            tables.add_individuals(name, spec.name, new.labels, asked, possible_returns(case), "new")
