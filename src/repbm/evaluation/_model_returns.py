"""How returns are spread under the policy in a fitted model, where that passed its back-test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from repbm.core import InputError, say
from repbm.doctor import Backtest, possible_returns
from repbm.estimators import Case
from repbm.evaluation._options import Question
from repbm.inference import ModelDistribution, Refits, model_figures

if TYPE_CHECKING:
    from repbm.models import Model


def spread_in_model(
    case: Case,
    name: str,
    model: Model,
    refits: Refits | None,
    tested: Backtest | None,
    question: Question,
) -> ModelDistribution:
    """Figures of returns drawn in the model, called `name`; none where nothing shows that it tells single returns."""
    if tested is None or tested.largest_distance is None or tested.distance is None:
        return ModelDistribution(name, reason=say("spread", "untested"))
    found = ModelDistribution(name, distance=tested.distance, largest_distance=tested.largest_distance)
    if tested.distance > tested.largest_distance:
        return replace(
            found,
            reason=say("spread", "otherwise", distance=tested.distance, largest=tested.largest_distance),
        )
    from repbm.critics import draw_returns

    rules = question.thresholds.distribution
    try:
        drawn = draw_returns(case, model, name, rules, question.seed)
    except InputError as fault:
        return replace(found, reason=str(fault))
    if not np.isfinite(drawn).all():
        return replace(found, reason=say("spread", "overflow"))
    possible = possible_returns(case)
    again = None if refits is None or refits.returns is None else np.clip(refits.returns, *possible)
    given = question.level, question.threshold, rules, again, question.outcome.sign
    figures = model_figures(np.clip(drawn.reshape(-1), *possible), case.returns, *given)
    return replace(found, returns=drawn.size, refits=0 if again is None else len(again), figures=figures)
