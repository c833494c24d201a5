"""Dynamics in closed form, in float64: polynomials or kernels, of a complexity chosen on held-out episodes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from repbm.core import BalanceRules, FitRules
from repbm.data import Support, Trajectories
from repbm.models._candidates import ContinuousCandidates
from repbm.models._continuous import ContinuousModel
from repbm.models.dynamics._base import Dynamics
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._functions import KernelDynamics, PolynomialDynamics
from repbm.models.dynamics._kind import DynamicsKind
from repbm.models.dynamics._reweighted import ReweightedClosedForm
from repbm.models.dynamics._state_changes import Candidate, Explanation, StateChanges, by_kernels, by_polynomials
from repbm.models.objectives._objective import Objective
from repbm.models.parts._noise import Noise
from repbm.models.regression._polynomial import Polynomial


class ClosedForm(DynamicsKind):
    """Functions in closed form, tried in turn until one is nearly exact: the one that misses held-out steps least."""

    def __init__(self, name: str, *explanations: Explanation) -> None:
        self.name, self.explanations = name, explanations

    def fit(self, context: FitContext) -> Dynamics:
        best = self._best(context)
        return _still(context) if best is None else best.dynamics

    def model(self, context: FitContext) -> ContinuousModel:
        best = self._best(context)
        if best is None:
            return context.model(_still(context), None)
        return context.model(best.dynamics, _noise(context, best))

    def _best(self, context: FitContext) -> Candidate | None:
        """None where no step tells what follows it."""
        changes = StateChanges.of(context)
        if not (changes.weights > 0).any():
            return None
        best: Candidate | None = None
        for explanation in self.explanations:
            if best is None or best.share > context.rules.nearly_exact:
                best = explanation(changes, best) or best
        return best

    def candidates(
        self, context: FitContext, base: ContinuousModel, folds: Int[np.ndarray, " episodes"], rules: BalanceRules
    ) -> ContinuousCandidates:
        """With the terms of the base, and coefficients from sums: next to nothing, for all folds."""
        return ReweightedClosedForm.of(context, base, self.objectives(context.objective, rules), folds)

    @property
    def simplest(self) -> DynamicsKind:
        return POLYNOMIAL

    def narrowed(self, dynamics: Dynamics) -> DynamicsKind:
        return KERNEL if isinstance(dynamics, KernelDynamics) else POLYNOMIAL


POLYNOMIAL = ClosedForm("polynomial", by_polynomials)
KERNEL = ClosedForm("kernel", by_kernels)
CLOSED_FORM = ClosedForm("closed form", by_polynomials, by_kernels)
"""The better of the two."""


def _still(context: FitContext) -> Dynamics:
    """Nothing ever moves: for logs whose episodes all end at once, where nothing is asked of the dynamics."""
    size = context.table.states.shape[1]
    change = Polynomial.of(np.zeros((context.action_count, 1, size)), np.zeros((1, size), dtype=np.int64))
    return PolynomialDynamics(context.box.center, context.box.half_width, change)


def _noise(context: FitContext, best: Candidate) -> Noise | None:
    if not best.noisy:
        return None
    followed = np.flatnonzero(context.table.followed)
    rows = context.smooth[followed] & np.isfinite(best.missed).all(axis=1)
    return context.noise(followed[rows], best.missed[rows] * context.box.half_width)


def fit_closed_form(
    data: Trajectories,
    support: Support | None,
    objective: Objective,
    horizon: int,
    seed: int = 0,
    kind: DynamicsKind = CLOSED_FORM,
    rules: FitRules = FitRules(),  # noqa: B008 - frozen
) -> ContinuousModel:
    """A model of the log in closed form, good at the objective for the policy with this support."""
    return kind.model(FitContext.of(data, support, objective, horizon, seed, rules))
