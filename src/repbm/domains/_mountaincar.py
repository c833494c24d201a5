"""MountainCar-v0: swing a weak car out of a valley."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.domains._noise import checked_noise, disturbed
from repbm.domains._simulator import Simulator

_LEFTMOST, _RIGHTMOST, _FASTEST, _GOAL = -1.2, 0.6, 0.07, 0.5
_FORCE, _GRAVITY = 0.001, 0.0025
_SCALES = np.array([0.5, 0.03])


@dataclass(frozen=True)
class MountainCar(Simulator):
    """Push left (0), not at all (1) or right (2); reward -1 per step; ends at position 0.5, moving right.

    The arithmetic is gymnasium's (in float64, observed as float32), after Moore (1990). `noise` is the standard
    deviation of Gaussian noise on every next state, in units of (0.5, 0.03): about how far position and velocity
    swing; a car pushed over the edge of the world stays at the edge.
    """

    noise: float = 0.0
    horizon: int = 200

    actions = (0, 1, 2)
    observation_names = ("position", "velocity")

    def __post_init__(self) -> None:
        checked_noise(self.noise)

    def initial(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "{count} 2"]:
        return self.observe(np.stack([generator.uniform(-0.6, -0.4, count), np.zeros(count)], axis=1))

    def step(
        self,
        states: Float[np.ndarray, "batch 2"],
        actions: Int[np.ndarray, " batch"],
        generator: np.random.Generator | None = None,
    ) -> tuple[Float[np.ndarray, "batch 2"], Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        position, velocity = states.T
        velocity = velocity + ((actions - 1) * _FORCE + np.cos(3 * position) * -_GRAVITY)
        velocity = np.clip(velocity, -_FASTEST, _FASTEST)
        moved = np.stack([position + velocity, velocity], axis=1)
        position, velocity = disturbed(moved, self.noise, _SCALES, generator).T
        position, velocity = np.clip(position, _LEFTMOST, _RIGHTMOST), np.clip(velocity, -_FASTEST, _FASTEST)
        velocity = np.where((position == _LEFTMOST) & (velocity < 0), 0.0, velocity)
        terminated = (position >= _GOAL) & (velocity >= 0)
        return np.stack([position, velocity], axis=1), np.full(len(states), -1.0), terminated

    def observe(self, states: Float[np.ndarray, "batch 2"]) -> Float[np.ndarray, "batch 2"]:
        return states.astype(np.float32).astype(np.float64)
