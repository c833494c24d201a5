"""Ends at the faces of a box, found in a log."""

from __future__ import annotations

import numpy as np

from repbm.models.parts._termination import Box


def fit_box(states: np.ndarray, ended: np.ndarray) -> Box:
    """The fewest faces of the box of ongoing states that, together, cut off the ended ones."""
    size = states.shape[1]
    if ended.all():
        nowhere = np.full(size, np.inf)
        return Box(-nowhere, -nowhere, nowhere, nowhere, np.asarray(1.0), np.asarray(1.0))
    below, low, high, above = (np.full(size, sign * np.inf) for sign in (-1, -1, 1, 1))
    last = states[ended]
    inner_low, inner_high = states[~ended].min(axis=0), states[~ended].max(axis=0)
    uncut = np.ones(len(last), dtype=bool)
    while uncut.any():
        under, over = last < inner_low, last > inner_high
        gains = np.stack([(under & uncut[:, None]).sum(axis=0), (over & uncut[:, None]).sum(axis=0)])
        if gains.max() == 0:
            break
        side, j = np.unravel_index(int(gains.argmax()), gains.shape)
        if side == 0:
            below[j], low[j] = last[under[:, j], j].max(), inner_low[j]
            uncut &= ~under[:, j]
        else:
            high[j], above[j] = inner_high[j], last[over[:, j], j].min()
            uncut &= ~over[:, j]
    out = ((states < low) | (states > high)).any(axis=1)
    inside = float(ended[~out].mean()) if (~out).any() else 0.0
    outside = float(ended[out].mean()) if out.any() else 1.0
    return Box(below, low, high, above, np.asarray(inside), np.asarray(outside))
