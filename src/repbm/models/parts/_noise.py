"""What the expected next state misses: when it is worth drawing, and from what."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from repbm.core import stream
from repbm.models.parts._part import Part

_RESIDUALS = 2048
_FEW = 10


class Noise(Part):
    """What the expected next state misses: draws from held-out residuals of the same action."""

    residuals: Float[Array | np.ndarray, "actions draws dimensions"]

    def draw(self, key: Array, actions: Int[Array, " batch"]) -> Float[Array, "batch dimensions"]:
        chosen = jax.random.randint(key, actions.shape, 0, self.residuals.shape[1])
        return jnp.asarray(self.residuals)[actions, chosen]


def residual_noise(
    residuals: Float[np.ndarray, "rows dimensions"],
    changes: Float[np.ndarray, "rows dimensions"],
    actions: Int[np.ndarray, " rows"],
    action_count: int,
    seed: int,
    noise_share: float,
) -> Noise | None:
    """Held-out residuals to draw from, where they are more than a small share of the change of state itself."""
    if not len(residuals):
        return None
    spread = changes.std(axis=0)
    share = np.divide(residuals.std(axis=0), spread, out=np.zeros_like(spread), where=spread > 0)
    if share.max(initial=0.0) < noise_share:
        return None
    generator = stream(seed, "noise")
    pools = []
    for action in range(action_count):
        own = residuals[actions == action]
        pool = own if len(own) >= _FEW else residuals
        pools.append((pool - pool.mean(axis=0))[generator.integers(0, len(pool), _RESIDUALS)])
    return Noise(np.stack(pools))
