"""Worlds with noise, logs of other policies, and their truths: what models are compared on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.core import stream
from repbm.data import Trajectories
from repbm.domains import Simulator, TabularWorld, benchmark_policy, benchmark_world, collect, truth
from repbm.policies import ObservationPolicy, TabularPolicy, epsilon_greedy

WORLDS = ("cartpole-short", "cartpole-long", "mountaincar", "tabular")

_STATES, _ACTIONS, _HORIZON = 20, 3, 10


@dataclass(frozen=True, eq=False)
class Truth:
    """True individual values, and their own mean squared error, which is 0 unless they are means of rollouts."""

    values: Float[np.ndarray, " individuals"]
    error: float


class Problem(ABC):
    """A world, the policy evaluated in it, and the behavior that makes the log."""

    policy: ObservationPolicy

    @property
    @abstractmethod
    def horizon(self) -> int: ...

    @abstractmethod
    def log(self, episodes: int, generator: np.random.Generator) -> Trajectories: ...

    @abstractmethod
    def truth(self, starts: Float[np.ndarray, "individuals dimensions"], seed: int, rollouts: int) -> Truth:
        """The values of some initial states; where chance decides, means of so many rollouts each."""


@dataclass(frozen=True, eq=False)
class Simulated(Problem):
    """A benchmark: its greedy policy is evaluated."""

    world: Simulator
    policy: ObservationPolicy
    behavior: ObservationPolicy
    noisy: bool

    @classmethod
    def of(cls, policies: Policies, name: str, behavior: str, epsilon: float, noise: float) -> Simulated:
        acting = epsilon_greedy(policies[behavior or name], epsilon)
        return cls(benchmark_world(name, noise), policies[name], acting, noise > 0)

    @property
    def horizon(self) -> int:
        return self.world.horizon

    def log(self, episodes: int, generator: np.random.Generator) -> Trajectories:
        return collect(self.world, self.behavior, episodes, generator)

    def truth(self, starts: Float[np.ndarray, "individuals dimensions"], seed: int, rollouts: int) -> Truth:
        if not self.noisy:
            return Truth(truth(self.world, self.policy, starts), 0.0)
        starts = np.repeat(starts, rollouts, axis=0)
        drawn = truth(self.world, self.policy, starts, stream(seed, "truth")).reshape(-1, rollouts)
        return Truth(drawn.mean(axis=1), float(drawn.var(axis=1, ddof=1).mean() / rollouts))


@dataclass(frozen=True, eq=False)
class Tabular(Problem):
    """One random world of 20 states, 3 actions and 10 steps, and a random deterministic policy."""

    world: TabularWorld
    table: Float[np.ndarray, "states actions"]
    policy: ObservationPolicy
    epsilon: float

    @property
    def horizon(self) -> int:
        return self.world.horizon

    @classmethod
    def of(cls, epsilon: float) -> Tabular:
        generator = stream(0, "tabular")
        world = TabularWorld.random(_STATES, _ACTIONS, _HORIZON, generator)
        table = np.eye(_ACTIONS)[generator.integers(_ACTIONS, size=_STATES)]
        return cls(world, table, TabularPolicy(table), epsilon)

    def log(self, episodes: int, generator: np.random.Generator) -> Trajectories:
        behavior = (1 - self.epsilon) * self.table + self.epsilon / _ACTIONS
        return self.world.collect(behavior, episodes, generator)

    def truth(self, starts: Float[np.ndarray, "individuals dimensions"], seed: int, rollouts: int) -> Truth:
        return Truth(self.world.values(self.table)[starts[:, 0].astype(int)], 0.0)


class Policies(dict[str, ObservationPolicy]):
    """Benchmark policies, each loaded once, so that code compiled for one is used again."""

    def __missing__(self, name: str) -> ObservationPolicy:
        self[name] = benchmark_policy(name)
        return self[name]
