"""Random choices, one per row of probabilities."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.core._side_by_side import SideBySide


def draw(
    probabilities: Float[np.ndarray, "batch choices"], generator: np.random.Generator | SideBySide
) -> Int[np.ndarray, " batch"]:
    """For every row, the number of a column, drawn with the probabilities of that row.

    Rows need not sum to exactly 1: they are taken as shares of their sum.
    """
    # Choices are few and rows many: one long row a choice is summed many times faster.
    cumulative = np.cumsum(np.ascontiguousarray(probabilities.T), axis=0)
    marks = generator.random((len(probabilities), 1))[:, 0] * cumulative[-1]
    return (cumulative <= marks).sum(axis=0)
