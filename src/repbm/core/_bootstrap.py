"""The bootstrap: units drawn with replacement, and the middle part of what they give."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int


def resampled_counts(generator: np.random.Generator, units: int, draws: int) -> Int[np.ndarray, "draws units"]:
    """How often every unit is in each of so many samples, which are as large as the original."""
    return generator.multinomial(units, np.full(units, 1 / units), size=draws)


def middle(values: Float[np.ndarray, " draws"], level: float) -> tuple[float, float]:
    """The quantiles between which the share `level` of the values lies, as much left out below as above."""
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)
