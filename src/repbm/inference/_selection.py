"""How good a choice between policies is, where the truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Selection:
    """`rank_correlation` (Spearman) of estimates and truths; NaN where either are all the same.

    `regret`: the best true value minus the best among the k that are estimated highest, k = 1, 2, ....
    `false_alarms` (type I): the share of policies truly no better than the baseline that are estimated better;
    `misses` (type II): the share of truly better ones that are not. NaN where there are none.
    """

    rank_correlation: float
    regret: tuple[float, ...]
    false_alarms: float
    misses: float


def selection(
    estimates: Float[np.ndarray, " policies"], truths: Float[np.ndarray, " policies"], baseline: float
) -> Selection:
    """`baseline` is the true value that a policy has to beat, such as that of what is done now."""
    from scipy.stats import rankdata

    order = np.argsort(-estimates, kind="stable")
    best = np.maximum.accumulate(truths[order])
    chosen, better = estimates > baseline, truths > baseline
    return Selection(
        rank_correlation=_correlation(rankdata(estimates), rankdata(truths)),
        regret=tuple((truths.max() - best).tolist()),
        false_alarms=_share(chosen[~better]),
        misses=_share(~chosen[better]),
    )


def _correlation(x: Float[np.ndarray, " policies"], y: Float[np.ndarray, " policies"]) -> float:
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else float("nan")


def _share(flags: np.ndarray) -> float:
    return float(flags.mean()) if len(flags) else float("nan")
