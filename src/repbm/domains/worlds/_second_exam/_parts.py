"""Parts that worlds share: squashing, units of measurement, and policies that lean away from the behavior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.domains.worlds._world import Probabilities

States = Float[np.ndarray, "batch components"]
Columns = Float[np.ndarray, "batch columns"]
"""What is logged or worked out of states, which may have another width."""

Scores = Float[np.ndarray, "batch actions"]
Column = Float[np.ndarray, " batch"]
Actions = Int[np.ndarray, " batch"]
Stepped = tuple[States, Column, Bool[np.ndarray, " batch"]]
"""Next states, rewards, and whether the world ends the episode."""

Preference = Callable[[States], Scores]
"""How well each action is thought of in each state, in any unit."""


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0)))


def softmax(scores: Scores) -> Scores:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def floored(chances: Scores, floor: float) -> Scores:
    """The chances, mixed with as much of an even choice that no action falls below floor / actions."""
    return (1.0 - floor) * chances + floor / chances.shape[1]


def chosen(which: Actions, actions: int) -> Scores:
    """Certainty of one action a row."""
    return np.eye(actions)[which]


def squashed(values: np.ndarray, limit: float) -> np.ndarray:
    """The values, bent smoothly so that none exceeds the limit."""
    return limit * np.tanh(values / limit)


def unending(states: States) -> Bool[np.ndarray, " batch"]:
    return np.zeros(len(states), dtype=bool)


def whole(generator: np.random.Generator, low: int, high: int) -> int:
    """A whole number, both ends included."""
    return int(generator.integers(low, high + 1))


@dataclass(frozen=True, eq=False)
class Gauge:
    """The units in which columns are logged."""

    scale: Float[np.ndarray, " columns"]
    shift: Float[np.ndarray, " columns"]

    @classmethod
    def drawn(cls, generator: np.random.Generator, columns: int, low: float = -3.0, high: float = 5.0) -> Gauge:
        """Units from 10**low to 10**high, with shifts of a few units."""
        scale = 10.0 ** generator.uniform(low, high, columns)
        return cls(scale, scale * generator.normal(0.0, 2.0, columns))

    def show(self, states: States) -> States:
        return states * self.scale + self.shift

    def read(self, seen: States) -> States:
        return (seen - self.shift) / self.scale


def alternative(
    generator: np.random.Generator, horizon: int, behavior: Probabilities, preference: Preference, sample: States
) -> Probabilities:
    """A policy that differs from the behavior towards a preference, less a step the longer the horizon.

    Either every chance is tilted by how much its action is preferred, or some share of decisions goes to the preferred
    action outright; all of them, where the behavior mostly takes it anyway. The sample of states sets the strength.
    """
    budget, usual = generator.uniform(0.8, 3.2) / horizon, behavior(sample)
    if generator.random() < 0.5:
        scores = preference(sample)
        centred = scores - (usual * scores).sum(axis=1, keepdims=True)
        spread = float(np.sqrt((usual * centred**2).sum(axis=1).mean())) + 1e-9

        def tilted(states: States) -> Scores:
            chances, liked = behavior(states), preference(states)
            relative = (liked - (chances * liked).sum(axis=1, keepdims=True)) / spread
            return softmax(np.log(chances) + np.sqrt(budget) * squashed(relative, 2.5))

        return tilted

    wanted = chosen(preference(sample).argmax(axis=1), usual.shape[1])
    distance = float(((wanted - usual) ** 2 / usual).sum(axis=1).mean())
    share = min(1.0, float(np.sqrt(budget / distance)))

    def blended(states: States) -> Scores:
        chances = behavior(states)
        return (1.0 - share) * chances + share * chosen(preference(states).argmax(axis=1), chances.shape[1])

    return blended
