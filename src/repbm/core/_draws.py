"""Random draws, one a row."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int


def draw(
    probabilities: Float[np.ndarray, "batch choices"], generator: np.random.Generator
) -> Int[np.ndarray, " batch"]:
    """One draw a row, in proportion to the numbers of that row."""
    cumulative = np.cumsum(probabilities, axis=1)
    marks = generator.random((len(probabilities), 1)) * cumulative[:, -1:]
    return (cumulative <= marks).sum(axis=1)
