"""The paper's domains: an epsilon-greedy log, and the greedy policy."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from repbm.domains._benchmarks import benchmark_policy
from repbm.domains._cartpole import CartPole
from repbm.domains._mountaincar import MountainCar
from repbm.domains._simulator import Simulator
from repbm.domains.worlds._world import World
from repbm.policies import ObservationPolicy, epsilon_greedy

_HORIZONS = (180, 200)
"""200 steps are the benchmarks' own. A policy that never fails earlier would earn the same in every episode."""
_EPSILONS = (0.05, 0.3)
_NOISES = (0.02, 0.1)


def cartpole(generator: np.random.Generator) -> World:
    """CartPole-v0 with one of the two benchmark policies: one that holds the pole for most of the time, one that
    soon drops it. Half of the worlds have noise on their states; the benchmark has none."""
    policy = benchmark_policy(str(generator.choice(["cartpole-long", "cartpole-short"])))
    return simulated(CartPole(_noise(generator), _horizon(generator)), policy, generator.uniform(*_EPSILONS))


def mountaincar(generator: np.random.Generator) -> World:
    """MountainCar-v0 with the benchmark policy. Half of the worlds have noise on their states."""
    policy = benchmark_policy("mountaincar")
    return simulated(MountainCar(_noise(generator), _horizon(generator)), policy, generator.uniform(*_EPSILONS))


def simulated(simulator: Simulator, policy: ObservationPolicy, epsilon: float) -> World:
    """The simulator itself, logged by the policy's most probable action or, with this probability, any action."""
    logging = epsilon_greedy(policy, epsilon)

    def behavior(states: Float[np.ndarray, "batch components"]) -> Float[np.ndarray, "batch actions"]:
        return logging.probabilities(simulator.observe(states), simulator.actions)

    return World(
        horizon=simulator.horizon,
        actions=len(simulator.actions),
        initial=simulator.initial,
        step=simulator.step,
        behavior=behavior,
        policy=lambda seen: policy.probabilities(seen, simulator.actions),
        observe=simulator.observe,
    )


def _noise(generator: np.random.Generator) -> float:
    size = float(np.exp(generator.uniform(*np.log(_NOISES))))
    return size if generator.random() < 0.5 else 0.0


def _horizon(generator: np.random.Generator) -> int:
    return int(generator.integers(*_HORIZONS, endpoint=True))
