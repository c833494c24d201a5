"""Linear dynamics with noise, with propensities and without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repbm.domains.worlds._development._parts import (
    Outcome,
    Rows,
    Scores,
    between,
    by_chance,
    conduct,
    count,
    softmax,
    stable,
)
from repbm.domains.worlds._world import World


@dataclass(frozen=True, eq=False)
class Linear:
    """States that move toward 0, are pushed by actions, and are best near a target."""

    transition: np.ndarray
    pushes: np.ndarray
    target: np.ndarray
    costs: np.ndarray
    noise: float
    reward_noise: float

    @classmethod
    def drawn(cls, generator: np.random.Generator, components: int, actions: int) -> Linear:
        return cls(
            transition=stable(generator, components, generator.uniform(0.8, 0.97)),
            pushes=0.5 * generator.normal(size=(actions, components)),
            target=0.6 * generator.normal(size=components),
            costs=generator.uniform(0, 0.3, actions),
            noise=between(generator, 0.05, 0.5),
            reward_noise=between(generator, 0.02, 0.4),
        )

    @property
    def components(self) -> int:
        return len(self.target)

    def initial(self, number: int, generator: np.random.Generator) -> Rows:
        return generator.normal(size=(number, self.components))

    def worth(self, states: Rows, actions: np.ndarray) -> np.ndarray:
        """The expected reward: quadratic around the target, less the cost of the action."""
        return 1.0 - ((states - self.target) ** 2).mean(axis=1) - self.costs[actions]

    def step(self, states: Rows, actions: np.ndarray, generator: np.random.Generator) -> Outcome:
        moved = states @ self.transition.T + self.pushes[actions]
        following = moved + self.noise * generator.normal(size=states.shape)
        rewards = self.worth(following, actions) + self.reward_noise * generator.normal(size=len(states))
        return following, rewards, np.zeros(len(states), dtype=bool)

    def scores(self, seen: Rows) -> Rows:
        """What every action is worth one step ahead."""
        ahead = (seen @ self.transition.T)[:, None, :] + self.pushes[None]
        return -((ahead - self.target) ** 2).mean(axis=2) - self.costs


def noisy_linear(generator: np.random.Generator) -> World:
    """A linear system with noise and quadratic rewards, over 8 to 20 steps."""
    horizon, actions = count(generator, 8, 20), count(generator, 2, 5)
    system = Linear.drawn(generator, count(generator, 1, 8), actions)
    behavior, policy = conduct(generator, system.scores, system.initial(512, generator), horizon)
    return World(horizon, actions, system.initial, system.step, behavior, policy, last_state=by_chance(generator, 0.7))


def no_propensities(generator: np.random.Generator) -> World:
    """A linear system whose log does not say how probable its actions were; they are logistic in the observation."""
    horizon, actions = count(generator, 4, 10), count(generator, 2, 4)
    system = Linear.drawn(generator, count(generator, 1, 5), actions)
    behavior, policy = _logistic_conduct(generator, system, horizon)
    return World(horizon, actions, system.initial, system.step, behavior, policy, propensities=False)


def _logistic_conduct(generator: np.random.Generator, system: Linear, horizon: int) -> tuple[Scores, Scores]:
    """A behavior that is logistic in the observation, and a policy that is so too or takes one best action."""
    components, actions = system.components, len(system.pushes)
    slopes = 0.7 * generator.normal(size=(components, actions)) / np.sqrt(components)
    usual = 0.3 * generator.normal(size=actions)
    share = between(generator, 0.06, 0.5)
    turn = 1.5 * np.sqrt(-np.log(share) / horizon) * generator.normal(size=(components, actions)) / np.sqrt(components)
    shift = 0.8 * np.sqrt(-np.log(share) / horizon) * generator.normal(size=actions)

    def behavior(seen: Rows) -> Rows:
        return softmax(seen @ slopes + usual)

    if by_chance(generator, 1 / 3):
        steep = 2.5 * slopes

        def often(seen: Rows) -> Rows:
            return softmax(seen @ steep + 2 * usual)

        return often, lambda seen: np.eye(actions)[(seen @ steep + 2 * usual).argmax(axis=1)]
    return behavior, lambda seen: softmax(seen @ (slopes + turn) + usual + shift)
