"""The precise fit: polynomials in closed form, in float64, their degrees chosen on held-out episodes."""

from __future__ import annotations

import numpy as np

from repbm.data import Support, Trajectories
from repbm.models._model import Model, PolynomialDynamics
from repbm.models._noise import residual_noise
from repbm.models._objective import Objective
from repbm.models._polynomial import Polynomial, fit_polynomial
from repbm.models._setting import Setting
from repbm.models._trimming import outlying


def fit_precise(
    data: Trajectories, support: Support | None, objective: Objective, horizon: int, seed: int = 0
) -> Model:
    """A model of the log, good at the objective for the policy with this support."""
    setting = Setting.of(data, support, objective, seed)
    sample, box = setting.sample, setting.box
    rows = sample.followed
    if not (rows & (setting.weights > 0)).any():
        # No step tells what follows it (all episodes end at once): nothing is ever asked of the dynamics.
        size = sample.states.shape[1]
        still = Polynomial(np.zeros((sample.action_count, 1, size)), size, 0)
        return setting.model(PolynomialDynamics(box.center, box.reach, still), None, horizon)
    positions, actions = box.place(sample.states[rows]), sample.actions[rows]
    targets = (sample.next_states[rows] - sample.states[rows]) / box.reach
    each = np.where(setting.smooth, setting.weights, 0.0)[rows]
    held = setting.held_out[rows]
    change, _ = fit_polynomial(positions, actions, targets, each, held, sample.action_count)
    residuals = targets - change.of_actions(positions, actions)
    jumps = outlying(residuals, each > 0)
    if jumps.any():
        each = np.where(jumps, 0.0, each)
        change, _ = fit_polynomial(positions, actions, targets, each, held, sample.action_count)
        residuals = targets - change.of_actions(positions, actions)
    judged = held & setting.smooth[rows]
    noise = residual_noise(
        residuals[judged] * box.reach, targets[judged] * box.reach, actions[judged], sample.action_count, seed
    )
    return setting.model(PolynomialDynamics(box.center, box.reach, change), noise, horizon)
