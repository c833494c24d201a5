"""The normalizer of the published weighted estimators, which loses most of the finished episodes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from repbm.estimators import Weights


def forgetful_sums(weights: Weights) -> Float[np.ndarray, " longest"]:
    """For every step t, the sum of w_t by which the published WPDIS and WDR divide.

    Episodes that have a step t count as they should. One of length t counts with its last weight. A shorter one should
    do so too; as published it counts with the last weight of an episode of length t, the nearest of those that stand
    before it in the log, and with nothing where there is none. So late steps, which few episodes reach, count too much.
    """
    data = weights.data
    sums, lengths = data.step_sums(weights.plain), data.lengths
    last = weights.plain(slice(None))[data.lasts]
    for step in np.unique(lengths[lengths < data.longest]):
        finished = np.flatnonzero(lengths <= step)
        places = np.where(lengths[finished] == step, np.arange(len(finished)), -1)
        nearest = np.maximum.accumulate(places)
        sums[step] += last[finished[nearest[nearest >= 0]]].sum()
    return sums
