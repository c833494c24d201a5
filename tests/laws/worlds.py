"""Worlds small enough to enumerate: every episode, with its probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from repbm.data import Categorical, Trajectories
from repbm.domains import TabularWorld


class Path(NamedTuple):
    probability: float
    states: list[int]
    actions: list[int]
    ended: bool


@dataclass(frozen=True)
class Enumerated:
    """A world, a behavior and a policy in it, and a log that holds every possible episode once."""

    world: TabularWorld
    behavior: np.ndarray
    policy: np.ndarray
    data: Trajectories
    probability: np.ndarray

    def truth(self, discount: float = 1.0, policy: np.ndarray | None = None) -> float:
        return self.world.truth(self.policy if policy is None else policy, discount)


def enumerated(
    seed: int, states: int = 3, actions: int = 2, horizon: int = 3, deterministic: bool = False
) -> Enumerated:
    generator = np.random.default_rng(seed)
    world = TabularWorld.random(states, actions, horizon, generator)
    behavior = generator.dirichlet(np.full(actions, 2.0), size=states)
    policy = generator.dirichlet(np.full(actions, 2.0), size=states)
    if deterministic:
        policy = np.eye(actions)[policy.argmax(axis=1)]
    paths = every_path(world, behavior)
    return Enumerated(
        world, behavior, policy, log_of(world, behavior, paths), np.array([path.probability for path in paths])
    )


def every_path(world: TabularWorld, behavior: np.ndarray) -> list[Path]:
    """All episodes of positive probability, by the plainest recursion."""
    found: list[Path] = []

    def walk(probability: float, states: list[int], actions: list[int]) -> None:
        state = states[-1]
        for action, chance in enumerate(behavior[state]):
            for following, move in enumerate(world.transitions[state, action]):
                p = probability * chance * move
                if p == 0:
                    continue
                path = Path(p, [*states, following], [*actions, action], bool(world.terminal[following]))
                if path.ended or len(path.actions) == world.horizon:
                    found.append(path)
                else:
                    walk(p, path.states, path.actions)

    for state, chance in enumerate(world.initial):
        if chance > 0:
            walk(chance, [state], [])
    return found


def log_of(world: TabularWorld, behavior: np.ndarray, paths: list[Path]) -> Trajectories:
    states = np.concatenate([path.states[:-1] for path in paths])
    actions = np.concatenate([path.actions for path in paths])
    return Trajectories(
        observations=states[:, None].astype(np.float64),
        actions=Categorical(actions.astype(np.int32), tuple(range(world.rewards.shape[1]))),
        rewards=world.rewards[states, actions],
        offsets=np.concatenate([[0], np.cumsum([len(path.actions) for path in paths])]),
        terminated=np.array([path.ended for path in paths]),
        final_observations=np.array([[float(path.states[-1])] for path in paths]),
        behavior=behavior[states, actions],
    )


def with_rewards(data: Trajectories, rewards: np.ndarray) -> Trajectories:
    return replace(data, rewards=rewards)


def joined(first: Trajectories, second: Trajectories) -> Trajectories:
    """One log after the other; the action labels must agree."""
    assert first.actions.labels == second.actions.labels
    assert first.behavior is not None
    assert second.behavior is not None
    return Trajectories(
        observations=np.concatenate([first.observations, second.observations]),
        actions=Categorical(np.concatenate([first.actions.codes, second.actions.codes]), first.actions.labels),
        rewards=np.concatenate([first.rewards, second.rewards]),
        offsets=np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]]),
        terminated=np.concatenate([first.terminated, second.terminated]),
        final_observations=np.concatenate([first.final_observations, second.final_observations]),
        behavior=np.concatenate([first.behavior, second.behavior]),
    )
