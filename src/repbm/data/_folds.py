"""Folds of episodes that do not depend on their order."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from repbm.core import stream
from repbm.data._trajectories import Trajectories


def content_folds(
    data: Trajectories, count: int, seed: int, purpose: str, together: bool = False
) -> Int[np.ndarray, " episodes"]:
    """Random folds by what episodes show, their states and actions: a log in another order has the same ones.

    Sums of random multiples of all bits, modulo 2^64, are ranked. Rewards do not count: in other units they are the
    same log. Equal episodes go to different folds, or `together` to one: those of a resampled log are the same.
    """
    odd = stream(seed, purpose).integers(0, 1 << 62, data.observations.shape[1] + 2, dtype=np.uint64) * 2 + 1
    states = np.ascontiguousarray(data.observations, dtype=np.float64).view(np.uint64)
    marks = states @ odd[:-2] + data.actions.codes.astype(np.uint64) * odd[-2]
    # Multiples of small numbers differ in few bits: the upper half of each is folded into the lower.
    marks = (marks ^ (marks >> np.uint64(29))) * odd[-1]
    marks = (marks ^ (marks >> np.uint64(32))) * (2 * data.steps.astype(np.uint64) + 1)
    each = np.add.reduceat(marks, data.starts)
    if together:
        return np.unique(each, return_inverse=True)[1].reshape(-1) % count
    folds = np.empty(len(data), dtype=np.int64)
    folds[np.argsort(each, kind="stable")] = np.arange(len(data)) % count
    return folds
