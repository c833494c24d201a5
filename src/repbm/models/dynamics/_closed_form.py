"""The precise fit: dynamics in closed form, in float64, of a kind and complexity chosen on held-out episodes."""

from __future__ import annotations

import numpy as np

from repbm.data import Support, Trajectories
from repbm.models._model import Model, PolynomialDynamics
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._state_changes import Candidate, Kind, StateChanges, by_kernels, by_polynomials
from repbm.models.objectives._objective import Objective
from repbm.models.parts._noise_fit import residual_noise
from repbm.models.regression._polynomial import Polynomial

_NEARLY_EXACT = 0.01
"""With a held-out error below this share of the change of state no further kind is tried."""


def fit_closed_form(
    data: Trajectories,
    support: Support | None,
    objective: Objective,
    horizon: int,
    seed: int = 0,
    kinds: tuple[Kind, ...] = (by_polynomials, by_kernels),
) -> Model:
    """A model of the log, good at the objective for the policy with this support.

    Of the kinds of dynamics, tried in turn until one is nearly exact, the one that misses held-out steps least.
    """
    setting = FitContext.of(data, support, objective, horizon, seed)
    sample, box = setting.sample, setting.box
    changes = StateChanges.of(setting, seed)
    if not (changes.weights > 0).any():
        # No step tells what follows it (all episodes end at once): nothing is ever asked of the dynamics.
        size = sample.states.shape[1]
        still = Polynomial(np.zeros((sample.action_count, 1, size)), size, 0)
        return setting.model(PolynomialDynamics(box.center, box.reach, still), None, horizon)
    best: Candidate | None = None
    for kind in kinds:
        if best is None or best.share > _NEARLY_EXACT:
            best = kind(changes, best) or best
    assert best is not None
    noise = None
    if best.noisy:
        held, smooth = changes.held_out, setting.smooth[sample.followed]
        missed, moved = best.missed[smooth[held]] * box.reach, changes.targets[held & smooth] * box.reach
        noise = residual_noise(missed, moved, changes.actions[held & smooth], sample.action_count, seed)
    return setting.model(best.dynamics, noise, horizon)
