"""Rare jumps that no smooth model can follow."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from repbm.core import FitRules


def outlying(
    residuals: Float[np.ndarray, "rows dimensions"], kept: Bool[np.ndarray, " rows"], rules: FitRules
) -> Bool[np.ndarray, " rows"]:
    """The kept rows that miss by many times the typical miss: they must not bend a model elsewhere.

    None at all where they are not rare, and so no jumps but the nature of the noise.
    """
    misses = np.abs(residuals)
    return kept & (misses > jump_limits(misses, kept, rules)).any(axis=1)


def jump_limits(
    misses: Float[np.ndarray, "rows dimensions"], kept: Bool[np.ndarray, " rows"], rules: FitRules
) -> Float[np.ndarray, " dimensions"]:
    """What the kept rows miss by beyond these is a jump; infinite where there are none."""
    none = np.full(misses.shape[1], np.inf)
    if not kept.any():
        return none
    limits = rules.jump_factor * np.median(misses[kept], axis=0) + 1e-12
    far = kept & (misses > limits).any(axis=1)
    return limits if far.sum() < rules.largest_jump_share * kept.sum() else none
