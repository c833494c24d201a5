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
    nothing = np.zeros(len(kept), dtype=bool)
    if not kept.any():
        return nothing
    misses = np.abs(residuals)
    far = kept & (misses > rules.jump_factor * np.median(misses[kept], axis=0) + 1e-12).any(axis=1)
    return far if far.sum() < rules.largest_jump_share * kept.sum() else nothing
