"""Where the log stops supporting a policy, step by step."""

from __future__ import annotations

import numpy as np

from repbm.estimators import Case, GroupSums


def diagnostics(case: Case) -> dict[str, np.ndarray]:
    """One entry a step: episodes alive, factual, counterfactual, u_t and effective episodes.

    Effective episodes are those of the importance weights where behavior probabilities are known, with finished
    episodes at their last weight; else those of the factual products among the episodes alive.
    """
    support = case.support
    known = case.data.behavior is not None
    effective = case.weights.effective_episodes if known else support.effective_episodes
    return {
        "step": np.arange(case.data.longest),
        "alive": support.alive,
        "factual": support.factual_count,
        "counterfactual": support.counterfactual_count,
        "u": support.u,
        "effective_episodes": effective,
    }


def group_diagnostics(sums: GroupSums) -> dict[str, np.ndarray]:
    """The same of a log that was read in parts."""
    return {
        "step": np.arange(sums.longest),
        "alive": sums.alive,
        "factual": sums.factual,
        "counterfactual": sums.counterfactual,
        "u": sums.factual / sums.episodes,
        "effective_episodes": sums.weights[0.0].effective_episodes,
    }
