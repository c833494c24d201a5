"""Where the log stops supporting a policy, step by step."""

from __future__ import annotations

import numpy as np

from repbm.estimators import Case


def diagnostics(case: Case) -> dict[str, np.ndarray]:
    """One entry a step: episodes alive, factual, counterfactual, u_t and effective episodes.

    Effective episodes are those of the importance weights where behavior probabilities are known, with finished
    episodes at their last weight; else those of the factual products among the episodes alive.
    """
    support = case.support
    if case.data.behavior is None:
        squares = np.bincount(case.data.steps, support.factual**2, case.data.longest)
        effective = np.divide(
            support.factual_count**2, squares, out=np.zeros_like(squares), where=squares > 0
        )
    else:
        effective = case.weights.effective_episodes
    return {
        "step": np.arange(case.data.longest),
        "alive": support.alive,
        "factual": support.factual_count,
        "counterfactual": support.counterfactual_count,
        "u": support.u,
        "effective_episodes": effective,
    }
