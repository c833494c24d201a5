"""What returns can be, from what rewards are."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int, Num


def annuity(discount: float, left: Num[np.ndarray, " batch"]) -> Float[np.ndarray, " batch"]:
    """G(h) = 1 + gamma + ... + gamma^(h-1), the return of h rewards of 1."""
    count = np.asarray(left, dtype=np.float64)
    return count if discount == 1 else -np.expm1(count * np.log(discount)) / (1 - discount) if discount else count**0


def return_bounds(
    rewards: tuple[float, float], discount: float, left: Int[np.ndarray, " batch"]
) -> tuple[Float[np.ndarray, " batch"], Float[np.ndarray, " batch"]]:
    """The lowest and the highest return of 1 to h steps."""
    total = annuity(discount, left)
    low, high = rewards
    return np.minimum(low, low * total), np.maximum(high, high * total)
