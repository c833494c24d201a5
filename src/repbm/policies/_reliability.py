"""Predicted probabilities of actions, beside what happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import BehaviorRules


@dataclass(frozen=True, eq=False)
class Reliability:
    """Predicted probabilities beside what happened: the mean of each in bins of the predicted, and how many."""

    predicted: Float[np.ndarray, " bins"]
    observed: Float[np.ndarray, " bins"]
    count: Int[np.ndarray, " bins"]

    @property
    def relative_error(self) -> float:
        """The mean over logged actions of |predicted - observed| / observed of their bin."""
        taken = self.observed * self.count
        away = np.abs(self.predicted - self.observed)
        return float((away * self.count)[taken > 0].sum() / taken.sum())

    @property
    def chance_error(self) -> float:
        """What that would be on average, were every prediction right: E|z| sum_bins sqrt(n p (1 - p)) / actions, for a
        standard normal z. Less than this a log does not tell."""
        predicted = self.predicted.clip(0, 1)
        spread = np.sqrt(self.count * predicted * (1 - predicted)).sum()
        return float(np.sqrt(2 / np.pi) * spread / self.decisions)

    @property
    def decisions(self) -> int:
        """How many logged actions tell it."""
        return round(float((self.observed * self.count).sum()))


def reliability(
    probabilities: Float[np.ndarray, "steps actions"],
    codes: Int[np.ndarray, " steps"],
    rules: BehaviorRules = BehaviorRules(),  # noqa: B008 - frozen
) -> Reliability:
    """In bins of equally many pairs of step and action."""
    predicted = probabilities.ravel()
    happened = (codes[:, None] == np.arange(probabilities.shape[1])).ravel()
    bins = int(np.clip(len(predicted) // rules.fewest_in_bin, 1, rules.bins))
    # Equal probabilities stay together.
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, bins + 1)[1:-1]))
    place = np.searchsorted(edges, predicted, side="left")
    count = np.bincount(place)
    full = count > 0
    sums = [np.bincount(place, each)[full] for each in (predicted, happened)]
    return Reliability(sums[0] / count[full], sums[1] / count[full], count[full])
