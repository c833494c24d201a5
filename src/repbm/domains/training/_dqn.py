"""Deep Q learning: how the CartPole and MountainCar policies of the benchmarks are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import needs_networks, stream
from repbm.domains._simulator import Simulator
from repbm.policies import NetworkPolicy


@dataclass(frozen=True)
class DQNOptions:
    """The settings of a training. Networks see (observation - middles) / scales.

    A round acts `steps` steps in `episodes` episodes side by side, then updates the network `updates` times, each
    time on `batch` of the last `memory` steps. The share of random actions falls from 1 to `explored` over the first
    `exploring` rounds; `prepared` steps of random actions come before them.
    """

    hidden: tuple[int, ...]
    middles: tuple[float, ...]
    scales: tuple[float, ...]
    rounds: int = 2000
    episodes: int = 16
    steps: int = 4
    updates: int = 32
    batch: int = 64
    memory: int = 20_000
    prepared: int = 1000
    exploring: int = 64
    explored: float = 0.05
    discount: float = 0.99
    rate: float = 5e-4
    followed: float = 0.005
    """The share of its distance to the network that the target network moves at every update."""


def learn(world: Simulator, options: DQNOptions, seed: int) -> Iterator[NetworkPolicy]:
    """The greedy policy after every round.

    Mnih et al. (2015) with the targets of van Hasselt et al. (2016): r + discount * Q'(s', argmax_a Q(s', a)), Q' the
    target network, and r alone where the world ended. An episode that the horizon cuts off has not ended: policies do
    not see the time, so what they could still earn counts there as anywhere else.
    """
    needs_networks()
    from repbm.domains.training._dqn_update import Learner

    crowd, memory = _Crowd(world, options.episodes, stream(seed, "dqn", "actions")), _Memory(options)
    learner = Learner.fresh(options, len(world.actions), stream(seed, "dqn", "network"))
    draws = stream(seed, "dqn", "memory")
    policy = _on_observations(learner.layers(), options, world)
    while memory.seen < options.prepared:
        memory.add(crowd.stepped(policy, 1.0))
    for k in range(options.rounds):
        epsilon = float(np.interp(k, (0, options.exploring), (1.0, options.explored)))
        for _ in range(options.steps):
            memory.add(crowd.stepped(policy, epsilon))
        learner = learner.improved(memory.drawn(draws))
        policy = _on_observations(learner.layers(), options, world)
        yield policy


def _on_observations(
    layers: list[tuple[np.ndarray, np.ndarray]], options: DQNOptions, world: Simulator
) -> NetworkPolicy:
    """The network on plain observations: their scaling is folded into w0 and b0."""
    w, b = layers[0]
    w = w / np.asarray(options.scales)[:, None]
    return NetworkPolicy([(w, b - np.asarray(options.middles) @ w), *layers[1:]], actions=world.actions)


@dataclass(frozen=True, eq=False)
class Steps:
    """Remembered steps; any leading axes."""

    observations: Float[np.ndarray, "*steps dimensions"]
    actions: Int[np.ndarray, "*steps"]
    rewards: Float[np.ndarray, "*steps"]
    following: Float[np.ndarray, "*steps dimensions"]
    terminated: Bool[np.ndarray, "*steps"]


class _Crowd:
    """Episodes side by side: one that ends, or reaches the horizon, starts anew."""

    def __init__(self, world: Simulator, episodes: int, generator: np.random.Generator) -> None:
        self.world, self.generator = world, generator
        self.states = world.initial(episodes, generator)
        self.ages = np.zeros(episodes, dtype=int)

    def stepped(self, policy: NetworkPolicy, epsilon: float) -> Steps:
        """One step of every episode, its action drawn among all with probability epsilon."""
        count, choices = len(self.states), len(self.world.actions)
        observations = self.world.observe(self.states)
        any_action = self.generator.integers(choices, size=count)
        greedy = policy.scores(observations).argmax(axis=1)
        actions = np.where(self.generator.random(count) < epsilon, any_action, greedy)
        self.states, rewards, terminated = self.world.step(self.states, actions, self.generator)
        following = self.world.observe(self.states)
        self.ages += 1
        over = terminated | (self.ages == self.world.horizon)
        self.states[over] = self.world.initial(int(over.sum()), self.generator)
        self.ages[over] = 0
        return Steps(observations, actions, rewards, following, terminated)


class _Memory:
    """The last steps, in single precision and as the network sees them; the oldest are overwritten."""

    def __init__(self, options: DQNOptions) -> None:
        self.options, self.seen = options, 0
        size, rows = options.memory, (options.memory, len(options.scales))
        self.steps = Steps(
            observations=np.empty(rows, np.float32),
            actions=np.empty(size, np.int32),
            rewards=np.empty(size, np.float32),
            following=np.empty(rows, np.float32),
            terminated=np.empty(size, bool),
        )

    def add(self, new: Steps) -> None:
        middles, scales = self.options.middles, self.options.scales
        where = (self.seen + np.arange(len(new.actions))) % self.options.memory
        for name, values in vars(new).items():
            getattr(self.steps, name)[where] = (values - middles) / scales if values.ndim == 2 else values
        self.seen += len(where)

    def drawn(self, generator: np.random.Generator) -> Steps:
        """A batch for each update of a round."""
        size = (self.options.updates, self.options.batch)
        which = generator.integers(min(self.seen, self.options.memory), size=size)
        return Steps(**{name: values[which] for name, values in vars(self.steps).items()})
