"""A continuous map in two dimensions: walk from one corner to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import InputError
from repbm.domains._noise import checked_noise, disturbed
from repbm.domains._simulator import Simulator
from repbm.policies import NetworkPolicy

_MOVES = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0], [0.0, 0.0]])


@dataclass(frozen=True)
class Map2D(Simulator):
    """Move one unit left (1), right (2), down (3), up (4), or stay (5), 15 times, from the top left corner.

    Reward 1 for a step that ends within `radius` of the top right corner, -1 within `radius` of the bottom left one;
    Gaussian noise of standard deviation `noise` on every next position. The paper's appendix "IS with approximate
    behavior policy". The paper leaves open, and we chose: a square of 5 units whose walls stop every move, radius 1.5,
    noise 0.1, a start within 0.5 of the corner on each axis, and episodes that only the horizon ends.
    """

    noise: float = 0.1
    horizon: int = 15
    size: float = 5.0
    radius: float = 1.5
    spread: float = 0.5

    actions = (1, 2, 3, 4, 5)
    observation_names = ("x", "y")

    def __post_init__(self) -> None:
        checked_noise(self.noise)
        if not (0 < self.radius < self.size < np.inf and 0 <= self.spread <= self.size):
            raise InputError(
                f"a map of size {self.size:g} with radius {self.radius:g} and spread {self.spread:g}",
                fix="keep 0 < radius < size and 0 <= spread <= size",
            )

    def initial(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "{count} 2"]:
        away = generator.uniform(0, self.spread, (count, 2))
        return np.array([0.0, self.size]) + away * np.array([1.0, -1.0])

    def step(
        self,
        states: Float[np.ndarray, "batch 2"],
        actions: Int[np.ndarray, " batch"],
        generator: np.random.Generator | None = None,
    ) -> tuple[Float[np.ndarray, "batch 2"], Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        moved = disturbed(states + _MOVES[actions], self.noise, np.ones(2), generator)
        states = np.clip(moved, 0.0, self.size)
        good = self._near(states, self.size, self.size)
        bad = self._near(states, 0.0, 0.0)
        return states, good.astype(np.float64) - bad, np.zeros(len(states), dtype=bool)

    def _near(self, states: Float[np.ndarray, "batch 2"], x: float, y: float) -> Bool[np.ndarray, " batch"]:
        return np.hypot(states[:, 0] - x, states[:, 1] - y) <= self.radius


def map_policy() -> NetworkPolicy:
    """Drawn in proportion to exp(score): right and up by what is missing to the goal, seldom left or down.

    Like the map's size this is ours: it draws its actions, so that logs of the behaviors below support it.
    """
    return _drawing(1.0, -2.0)


def map_behaviors() -> dict[str, NetworkPolicy]:
    """Two behaviors of the same form: `near` is close to the policy (value 9 against 11), `far` is not (5)."""
    return {"near": _drawing(0.8, -1.0), "far": _drawing(0.4, -0.5)}


def _drawing(strength: float, away: float) -> NetworkPolicy:
    return NetworkPolicy([_pull(Map2D.size, strength, away)], head="softmax", actions=Map2D.actions)


def _pull(size: float, strength: float, away: float) -> tuple[np.ndarray, np.ndarray]:
    """A linear layer: strength (size - 1/2 - x) for right, the same with y for up, 0 to stay, `away` for the others."""
    w, b = np.zeros((2, 5)), np.array([away, 0.0, away, 0.0, 0.0])
    for component, column in ((0, 1), (1, 3)):
        w[component, column] = -strength
        b[column] = strength * (size - 0.5)
    return w, b
