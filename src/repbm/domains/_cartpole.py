"""CartPole-v0: keep a pole upright on a cart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.domains._noise import checked_noise, disturbed
from repbm.domains._simulator import Simulator

_GRAVITY, _MASS_POLE, _MASS_TOTAL, _HALF_LENGTH = 9.8, 0.1, 0.1 + 1.0, 0.5
_MOMENT = _MASS_POLE * _HALF_LENGTH
_FORCE, _SECONDS = 10.0, 0.02
_FARTHEST, _STEEPEST = 2.4, 12 * 2 * np.pi / 360
_SCALES = np.array([0.5, 0.5, 0.05, 0.5])


@dataclass(frozen=True)
class CartPole(Simulator):
    """Push left (0) or right (1); reward 1 per step, also for the one that fails; ends beyond 2.4 units or 12 degrees.

    The arithmetic is gymnasium's (Euler steps of 0.02 s in float64, observed as float32), after Barto, Sutton and
    Anderson (1983). `noise` is the standard deviation of Gaussian noise on every next state, in units of
    (0.5, 0.5, 0.05 rad, 0.5): about how far position, velocity, angle and angular velocity swing under control.
    """

    noise: float = 0.0
    horizon: int = 200

    actions = (0, 1)
    observation_names = ("position", "velocity", "angle", "angular_velocity")

    def __post_init__(self) -> None:
        checked_noise(self.noise)

    def initial(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "{count} 4"]:
        return self.observe(generator.uniform(-0.05, 0.05, (count, 4)))

    def step(
        self,
        states: Float[np.ndarray, "batch 4"],
        actions: Int[np.ndarray, " batch"],
        generator: np.random.Generator | None = None,
    ) -> tuple[Float[np.ndarray, "batch 4"], Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        _, velocity, angle, turning = states.T
        force = np.where(actions == 1, _FORCE, -_FORCE)
        cosine, sine = np.cos(angle), np.sin(angle)
        push = (force + _MOMENT * np.square(turning) * sine) / _MASS_TOTAL
        inertia = _HALF_LENGTH * (4.0 / 3.0 - _MASS_POLE * np.square(cosine) / _MASS_TOTAL)
        twist = (_GRAVITY * sine - cosine * push) / inertia
        speeding = push - _MOMENT * twist * cosine / _MASS_TOTAL
        rates = np.stack([velocity, speeding, turning, twist], axis=1)
        states = disturbed(states + _SECONDS * rates, self.noise, _SCALES, generator)
        terminated = (np.abs(states[:, 0]) > _FARTHEST) | (np.abs(states[:, 2]) > _STEEPEST)
        return states, np.ones(len(states)), terminated

    def observe(self, states: Float[np.ndarray, "batch 4"]) -> Float[np.ndarray, "batch 4"]:
        return states.astype(np.float32).astype(np.float64)
