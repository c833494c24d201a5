"""Importance sampling: logged returns, re-weighted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repbm.core import say
from repbm.data import totals
from repbm.estimators._case import Case
from repbm.estimators._estimate import Estimate
from repbm.estimators._normalized import NormalizedTerms, PooledTerms
from repbm.estimators._role import Role
from repbm.estimators._weights import Weights, weightless_note


@dataclass(frozen=True)
class ImportanceSampling:
    """IS: the mean of w_{L-1} G, with G the discounted return. Normalized (WIS): sum w_{L-1} G / sum w_{L-1}.

    `softening` evaluates the policy mixed with that much uniform noise.
    """

    normalized: bool = False
    softening: float = 0.0
    role = Role.WEIGHTING

    @property
    def name(self) -> str:
        return _label("is", self.normalized, self.softening)

    def __call__(self, case: Case) -> Estimate:
        case = case.softened(self.softening)
        weights = case.weights
        if not self.normalized:
            with np.errstate(over="ignore"):
                return unnormalized(weights, np.exp(weights.log_last) * case.returns)
        effective = float(weights.effective_episodes[-1])
        if weights.vanishes:
            return Estimate(None, None, effective, say("notes", "not_defined", reason=weights.vanishing))
        last = weights.last
        contributions = last * case.returns * (len(case.data) / last.sum())

        def pool(groups: np.ndarray, count: int) -> PooledTerms:
            return PooledTerms(
                sums=np.bincount(groups, last, count)[:, None],
                after=np.bincount(groups, last * case.returns, count)[:, None],
                before=None,
                sizes=np.bincount(groups, minlength=count).astype(np.float64),
            )

        return Estimate(float(contributions.mean()), contributions, effective, pool=pool)


@dataclass(frozen=True)
class PerDecisionImportanceSampling:
    """PDIS: the mean of sum_t discount^t w_t r_t. Normalized (WPDIS): w_t divided by its mean at every step.

    A finished episode keeps its last weight in the means of later steps.
    """

    normalized: bool = False
    softening: float = 0.0
    role = Role.WEIGHTING

    @property
    def name(self) -> str:
        return _label("pdis", self.normalized, self.softening)

    def __call__(self, case: Case) -> Estimate:
        case = case.softened(self.softening)
        weights = case.weights
        if self.normalized:
            return NormalizedTerms(weights, case.rewards).estimate()
        rewards = case.rewards
        return unnormalized(weights, totals(lambda at: weights.plain(at) * rewards(at), case.data.offsets))


def unnormalized(weights: Weights, contributions: np.ndarray, rest: str = "nothing_after") -> Estimate:
    """The estimate that is the plain mean of these contributions; `rest` is the word for steps without weight."""
    note = weightless_note(weights, rest)
    return Estimate.of_contributions(contributions, float(weights.effective_episodes[-1]), note)


def _label(kind: str, normalized: bool, softening: float) -> str:
    """The name in tables: WIS and WPDIS with a w in front, softened forms with soft-."""
    return f"{'soft-' if softening else ''}{'w' if normalized else ''}{kind}"
