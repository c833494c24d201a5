"""Changes of state as functions in closed form: what is to be explained, and the kinds of function that may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import FitRules
from repbm.models.dynamics._base import Dynamics
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._functions import KernelDynamics, PolynomialDynamics
from repbm.models.dynamics._jumps import outlying
from repbm.models.regression._kernel import KernelSum
from repbm.models.regression._kernel_fit import COARSE, FINE, KernelProblem
from repbm.models.regression._polynomial import Polynomial, fit_polynomial
from repbm.models.regression._selected import selected_or
from repbm.models.transitions._range import Range


@dataclass(frozen=True, eq=False)
class StateChanges:
    """The logged changes of state, in units of the box, and where they begin.

    `weights` are 0 where no smooth function can explain the change; `held_out` rows judge the candidates.
    """

    positions: Float[np.ndarray, "rows dimensions"]
    actions: Int[np.ndarray, " rows"]
    targets: Float[np.ndarray, "rows dimensions"]
    weights: Float[np.ndarray, " rows"]
    held_out: Bool[np.ndarray, " rows"]
    folds: Int[np.ndarray, " rows"]
    action_count: int
    box: Range
    seed: int
    rules: FitRules

    @classmethod
    def of(cls, context: FitContext) -> StateChanges:
        table, box = context.table, context.box
        rows = table.followed
        return cls(
            box.place(table.states[rows]),
            table.actions[rows],
            context.changes[rows] / box.half_width,
            np.where(context.smooth, context.weights, 0.0)[rows],
            context.held_out[rows],
            context.folds[rows],
            table.action_count,
            box,
            context.seed,
            context.rules,
        )

    def missed(
        self, function: Polynomial | KernelSum, rows: Bool[np.ndarray, " rows"]
    ) -> Float[np.ndarray, "chosen dimensions"]:
        """What a function misses on some of the rows."""
        return self.targets[rows] - function.of_actions(self.positions[rows], self.actions[rows])

    def share(self, squares: Float[np.ndarray, " dimensions"]) -> float:
        """Mean squared errors as a share of the changes themselves: the root of the mean over dimensions."""
        kept = self.weights > 0
        sizes = self.targets[kept].var(axis=0)
        moving = sizes > 0
        return float(np.sqrt((squares[moving] / sizes[moving]).mean())) if moving.any() else 0.0


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fitted function, what it misses on rows that it was not fitted to, and that as a share (NaN without any).

    `missed` is NaN in rows that it was fitted to.
    `ordinary` are the weights of the rows without rare jumps: by these candidates are judged. `noisy` says whether what
    is missed may be noise of the world.
    """

    dynamics: Dynamics
    missed: Float[np.ndarray, "rows dimensions"]
    share: float
    ordinary: Float[np.ndarray, " rows"]
    noisy: bool


Explanation = Callable[[StateChanges, Candidate | None], Candidate | None]
"""Of changes, and a rival tried before; None where held-out rows are not explained better than by the rival."""


def by_polynomials(changes: StateChanges, rival: Candidate | None = None) -> Candidate | None:
    """One polynomial an action; rare jumps, which would bend it elsewhere, are left out."""
    weights, held = changes.weights, changes.held_out
    given = changes.positions, changes.actions, changes.targets
    change, squares = fit_polynomial(*given, weights, held, changes.action_count)
    every = np.ones(len(weights), dtype=bool)
    misses = changes.missed(change, every)
    jumps = outlying(misses, weights > 0, changes.rules)
    if jumps.any():
        weights = np.where(jumps, 0.0, weights)
        change, squares = fit_polynomial(*given, weights, held, changes.action_count)
        misses = changes.missed(change, every)
    if changes.share(squares) > changes.rules.nearly_exact:
        change, misses, squares = selected_or(
            change, squares, *given, weights, held, changes.folds, changes.rules.simpler, changes.rules.fuller_gain
        )
    share = changes.share(squares)
    if rival is not None and not share < rival.share:
        return None
    dynamics = PolynomialDynamics(changes.box.center, changes.box.half_width, change)
    return Candidate(dynamics, misses, share, weights, True)


def by_kernels(changes: StateChanges, rival: Candidate | None = None) -> Candidate | None:
    """One sum of kernels an action; what it misses on held-out rows is told by a fit to the others.

    A coarse fit goes first: where even polynomials leave little but noise, it shows that for a fraction of the time.
    """
    held, weights = changes.held_out, changes.weights if rival is None else rival.ordinary
    problem = KernelProblem(
        changes.positions, changes.actions, changes.targets, changes.weights, changes.action_count, changes.seed
    )
    scales = problem.scales(~held)
    total = weights[held].sum()
    missed, share = changes.targets[held], float("nan")
    for size in (COARSE, FINE):
        missed = changes.missed(problem.fitted(~held, scales, size), held)
        share = changes.share(weights[held] @ missed**2 / total) if total > 0 else float("nan")
        if rival is not None and not share < (1 - changes.rules.kernel_gain) * rival.share:
            return None
    whole = problem.fitted(held | ~held, scales, FINE)
    dynamics = KernelDynamics(changes.box.center, changes.box.half_width, whole)
    misses = np.full_like(changes.targets, np.nan)
    misses[held] = missed
    return Candidate(dynamics, misses, share, weights, scales.noise_deviation > changes.rules.kernel_noise)
