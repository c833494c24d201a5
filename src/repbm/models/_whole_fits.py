"""Which models can be fitted to all steps of a log that is larger than memory."""

from __future__ import annotations

from typing import Any

from repbm.core import ChoiceRules, FitRules
from repbm.data import Trajectories
from repbm.models._continuous import ContinuousModel
from repbm.models._model import Model
from repbm.models._tabular import TabularModel
from repbm.models._whole_fit import WholeFit
from repbm.models._whole_table import WholeTable
from repbm.models.dynamics._whole_polynomials import WholePolynomials
from repbm.models.objectives._objective import Objective


def whole_fit(
    base: Model,
    data: Trajectories,
    objective: Objective,
    rules: FitRules = FitRules(),  # noqa: B008 - frozen
    choice: ChoiceRules = ChoiceRules(),  # noqa: B008 - frozen
) -> WholeFit[Any] | None:
    """How a model that was fitted to these episodes of a log is fitted to more of them, good at the same objective.

    None where its kind has no sums that add up: kernels and networks.
    """
    if isinstance(base, TabularModel):
        return WholeTable.of(base, data, objective, choice)
    if isinstance(base, ContinuousModel):
        return WholePolynomials.of(base, data, objective, rules)
    return None
