"""Small worlds with continuous states, as logs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from repbm.core import Thresholds
from repbm.data import Categorical, Support, Trajectories, support

QUICK = Thresholds.of({"ratio": {"trees": 10, "folds": 3, "sweeps": 0}})
"""For tests that do not ask how good the answer and its verdict are: a third of the time."""
MATRIX = np.array([[0.9, 0.2], [-0.1, 0.8]])
PUSH = np.array([[0.3, 0.0], [-0.2, 0.1]])
PAY = np.array([1.0, -0.5])
COST = np.array([0.0, 0.25])


@dataclass(frozen=True)
class System:
    """A log of a two-dimensional world of two actions, a policy's actions in it, and their support."""

    data: Trajectories
    support: Support


def policy_action(states: np.ndarray) -> np.ndarray:
    return (states[:, 0] > 0.2).astype(np.int32)


def linear_step(states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """s' = M s + p_a."""
    return states @ MATRIX.T + PUSH[actions]


def curved_step(states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The same with a bend that no linear model follows."""
    bend = np.column_stack([np.sin(2 * states[:, 1]), np.cos(states[:, 0])])
    return linear_step(states, actions) + 0.1 * bend


def reward(states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """r = pay . s - cost_a."""
    return states @ PAY - COST[actions]


def logged(
    seed: int,
    episodes: int = 60,
    length: int = 8,
    noise: float = 0.0,
    step: Callable[[np.ndarray, np.ndarray], np.ndarray] = linear_step,
    agreement: float = 0.8,
) -> System:
    """A log that follows the policy with probability `agreement` at every step."""
    generator = np.random.default_rng(seed)
    states = generator.normal(size=(episodes, 2))
    seen, acted, paid = [], [], []
    for _ in range(length):
        own = policy_action(states)
        actions = np.where(generator.random(episodes) < agreement, own, 1 - own).astype(np.int32)
        seen.append(states)
        acted.append(actions)
        paid.append(reward(states, actions))
        states = step(states, actions) + noise * generator.normal(size=states.shape)
    observations = np.stack(seen, axis=1).reshape(-1, 2)
    data = Trajectories(
        observations=observations,
        actions=Categorical(np.stack(acted, axis=1).reshape(-1), (0, 1)),
        rewards=np.stack(paid, axis=1).reshape(-1),
        offsets=np.arange(episodes + 1) * length,
        terminated=np.zeros(episodes, dtype=bool),
        final_observations=states,
    )
    return supported(data, policy_action(observations))


def supported(data: Trajectories, own: np.ndarray) -> System:
    agrees = (own == data.actions.codes).astype(np.float64)
    return System(data, support(data, lambda at: agrees[at]))


def rescaled(system: System, scale: np.ndarray, shift: np.ndarray) -> System:
    """The same log with its states in other units."""
    own = policy_action(system.data.observations)
    data = replace(
        system.data,
        observations=system.data.observations * scale + shift,
        final_observations=system.data.final_observations * scale + shift,
    )
    return supported(data, own)
