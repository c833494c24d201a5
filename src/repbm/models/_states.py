"""States as rows of a table."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int


def found_states(
    states: Float[np.ndarray, "states dimensions"], observations: Float[np.ndarray, "batch dimensions"]
) -> tuple[Int[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
    """The place of each observation among the sorted states, and whether it is there."""
    joined, inverse = np.unique(np.concatenate([states, observations]), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    place = np.full(len(joined), -1)
    place[inverse[: len(states)]] = np.arange(len(states))
    found = place[inverse[len(states) :]]
    return np.maximum(found, 0), found >= 0
