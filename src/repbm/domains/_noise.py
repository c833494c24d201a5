"""Gaussian noise on the states of a world that is deterministic otherwise."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from repbm.core import InputError


def disturbed(
    states: Float[np.ndarray, "batch components"],
    noise: float,
    scales: Float[np.ndarray, " components"],
    generator: np.random.Generator | None,
) -> Float[np.ndarray, "batch components"]:
    """states + noise * scales * N(0, 1), each component on its own; untouched where there is no noise."""
    if noise == 0:
        return states
    if generator is None:
        raise InputError("a world with noise draws its next states", fix="pass a random generator")
    return states + noise * scales * generator.standard_normal(states.shape)


def checked_noise(noise: float) -> None:
    if not 0 <= noise < np.inf:
        raise InputError(f"noise of standard deviation {noise:g}", fix="give a finite number, 0 or more")
