"""Returns of single episodes, drawn in a fitted model for individuals of a log."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from repbm.core import DistributionRules
from repbm.estimators import Case, acting
from repbm.models import Model


def draw_returns(
    case: Case, model: Model, name: str, rules: DistributionRules, seed: int = 0
) -> Float[np.ndarray, "rollouts individuals"]:
    """What episodes of logged individuals earn that follow the policy in the model.

    All individuals, as often as it takes to tell how returns are spread; of very many evenly spread ones, once each.
    """
    count = len(case.data)
    most = max(2, min(rules.model_returns, rules.most_model_steps // (case.most_steps * model.effort)))
    rows = np.arange(count) if count <= most else np.unique(np.linspace(0, count - 1, most).astype(np.int64))
    return model.returns(
        acting(case.policy, name),
        np.asarray(case.data.initial_observations[rows], dtype=np.float64),
        horizon=case.most_steps,
        discount=case.discount,
        rollouts=max(1, most // len(rows)),
        seed=seed,
    )
