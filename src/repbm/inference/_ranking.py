"""Which policy is best: values of several on the same resampled logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.core import say
from repbm.estimators import Estimate
from repbm.inference._intervals import Interval, Resampling, percentile
from repbm.inference._refits import Refits


@dataclass(frozen=True, eq=False)
class Contender:
    """The value of a policy, and the same on resampled logs; None where nothing tells how it varies."""

    value: float
    draws: Float[np.ndarray, " draws"] | None

    def times(self, factor: int) -> Contender:
        """The same as it is with 1, turned around with -1: where less is better."""
        return Contender(factor * self.value, None if self.draws is None else factor * self.draws)


def contender(estimate: Estimate, resampling: Resampling, refits: Refits | None = None) -> Contender | None:
    """None where the estimate has no value."""
    if estimate.value is None or estimate.contributions is None:
        return None
    if refits is not None:
        return Contender(estimate.value, refits.means)
    if estimate.model_only or estimate.effective_episodes == 0 or len(estimate.contributions) < 2:
        return Contender(estimate.value, None)
    if estimate.pool is None:
        return Contender(estimate.value, resampling.means(estimate.contributions))
    return Contender(estimate.value, resampling.values(estimate.pool))


def probabilities_best(contenders: Mapping[str, Contender]) -> dict[str, float] | None:
    """The share of resampled logs on which each is the best; equals share. None where draws are missing or unequal."""
    draws = [each.draws for each in contenders.values()]
    known = [each for each in draws if each is not None]
    if len(known) < len(draws) or len({len(each) for each in known}) != 1:
        return None
    table = np.stack(known)
    table = table[:, np.isfinite(table).all(axis=0)]
    if not table.shape[1]:
        return None
    best = table == table.max(axis=0)
    return dict(zip(contenders, (best / best.sum(axis=0)).mean(axis=1).tolist(), strict=True))


def paired_difference(one: Contender, other: Contender, level: float) -> Interval:
    """Of the first's value minus the second's, both on the same resampled logs."""
    if one.draws is None or other.draws is None or len(one.draws) != len(other.draws):
        return Interval(None, None, None, say("notes", "interval_unknown"))
    return percentile(one.draws - other.draws, level)
