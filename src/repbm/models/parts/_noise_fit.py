"""What the expected next state misses: when it is worth drawing, and from what."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.core import stream
from repbm.models._model import Noise

_NOISY = 0.05
_RESIDUALS = 2048
_FEW = 10


def residual_noise(
    residuals: Float[np.ndarray, "rows dimensions"],
    changes: Float[np.ndarray, "rows dimensions"],
    actions: Int[np.ndarray, " rows"],
    action_count: int,
    seed: int,
) -> Noise | None:
    """Held-out residuals to draw from, where they are more than a small share of the change of state itself."""
    if not len(residuals):
        return None
    spread = changes.std(axis=0)
    share = np.divide(residuals.std(axis=0), spread, out=np.zeros_like(spread), where=spread > 0)
    if share.max(initial=0.0) < _NOISY:
        return None
    generator = stream(seed, "noise")
    pools = []
    for action in range(action_count):
        own = residuals[actions == action]
        pool = own if len(own) >= _FEW else residuals
        pools.append((pool - pool.mean(axis=0))[generator.integers(0, len(pool), _RESIDUALS)])
    return Noise(np.stack(pools))
