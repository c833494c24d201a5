"""Simulators: their logs, true values, and the policies of the benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

from repbm.core import InputError
from repbm.data import Trajectories
from repbm.domains import CartPole, MountainCar, Simulator, benchmark_policy, collect, truth
from repbm.policies import CallablePolicy, Softened

WORLDS: tuple[Simulator, ...] = (CartPole(), MountainCar())
NAMES = {CartPole: "cartpole-long", MountainCar: "mountaincar"}


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def uniform(simulator: Simulator) -> CallablePolicy:
    count = len(simulator.actions)
    return CallablePolicy(lambda x: np.full((len(x), count), 1 / count), actions=simulator.actions)


@pytest.mark.parametrize("simulator", WORLDS)
def test_a_log_of_a_deterministic_policy_returns_the_truth(simulator: Simulator) -> None:
    policy = benchmark_policy(NAMES[type(simulator)])
    log = collect(simulator, policy, 100, generator(5))
    np.testing.assert_array_equal(log.returns(), truth(simulator, policy, log.initial_observations))
    assert log.behavior is not None
    assert (log.behavior == 1).all()


def ends(log: Trajectories, simulator: Simulator) -> np.ndarray:
    """Whether the final observation of every episode lies where the world ends."""
    final = log.final_observations
    if isinstance(simulator, CartPole):
        return (np.abs(final[:, 0]) > 2.4) | (np.abs(final[:, 2]) > np.pi / 15)
    return final[:, 0] >= 0.5


@pytest.mark.parametrize("simulator", WORLDS)
def test_terminated_is_not_truncated(simulator: Simulator) -> None:
    log = collect(simulator, benchmark_policy(NAMES[type(simulator)]), 200, generator(6), 0.3)
    np.testing.assert_array_equal(ends(log, simulator), log.terminated)
    assert (log.lengths[log.truncated] == simulator.horizon).all()
    assert (log.lengths <= simulator.horizon).all()
    assert 0 < log.terminated.sum() < 200
    assert log.observation_names == simulator.observation_names


@pytest.mark.parametrize("simulator", WORLDS)
def test_the_behavior_is_the_softened_policy(simulator: Simulator) -> None:
    policy, count = benchmark_policy(NAMES[type(simulator)]), len(simulator.actions)
    log = collect(simulator, policy, 100, generator(7), 0.2)
    assert log.behavior is not None
    greedy = policy.choices(log.observations, simulator.actions).what == log.actions.codes
    np.testing.assert_allclose(log.behavior, np.where(greedy, 0.8 + 0.2 / count, 0.2 / count), rtol=1e-12)
    # At least 10,000 steps: three standard deviations are below 0.012; false alarm 0.3% over seeds, this one is fixed.
    assert abs(greedy.mean() - (0.8 + 0.2 / count)) < 0.012
    np.testing.assert_allclose(Softened(policy, 0.2).decisions(log).logged(slice(None)), log.behavior, rtol=1e-12)


def test_the_same_seed_gives_the_same_log() -> None:
    policy = benchmark_policy("cartpole-short")
    one, same, other = (collect(CartPole(noise=0.1), policy, 30, generator(seed), 0.2) for seed in (8, 8, 9))
    np.testing.assert_array_equal(one.observations, same.observations)
    assert len(one.observations) != len(other.observations)


@pytest.mark.parametrize("make", [CartPole, MountainCar])
def test_noise_moves_every_component_by_its_scale(make: type[CartPole] | type[MountainCar]) -> None:
    states = np.repeat(make().initial(1, generator()), 20_000, axis=0)
    actions = np.zeros(len(states), dtype=int)
    still = make().step(states, actions)[0]
    small, large = (make(noise=noise).step(states, actions, generator(1))[0] - still for noise in (0.01, 0.02))
    np.testing.assert_allclose(large, 2 * small, atol=1e-12)
    scales = {CartPole: (0.5, 0.5, 0.05, 0.5), MountainCar: (0.5, 0.03)}[make]
    # The standard deviation of 20,000 draws: 4 standard errors are 2%.
    np.testing.assert_allclose(small.std(axis=0), 0.01 * np.asarray(scales), rtol=0.02)


def test_truth_of_random_worlds_and_policies_averages_rollouts() -> None:
    starts = np.repeat(CartPole().initial(1, generator()), 2, axis=0)
    policy = uniform(CartPole())
    values = truth(CartPole(), policy, starts, generator(1), rollouts=4000)
    single = truth(CartPole(), policy, np.repeat(starts, 4000, axis=0), generator(1))
    np.testing.assert_allclose(values, single.reshape(2, -1).mean(axis=1))
    assert abs(values[0] - values[1]) < 4 * single.std() * np.sqrt(2 / 4000)


def test_what_cannot_be_done_is_said() -> None:
    starts = CartPole().initial(3, generator())
    policy = benchmark_policy("cartpole-long")
    with pytest.raises(InputError, match="the policy draws its actions"):
        truth(CartPole(), uniform(CartPole()), starts)
    with pytest.raises(InputError, match="a world with noise"):
        truth(CartPole(noise=0.1), policy, starts)
    with pytest.raises(InputError, match="at least 1"):
        collect(CartPole(), policy, 0, generator())
    with pytest.raises(InputError, match="not a probability"):
        collect(CartPole(), policy, 2, generator(), epsilon=1.5)
    with pytest.raises(InputError, match="did you mean 'mountaincar'"):
        benchmark_policy("mountain-car")
    with pytest.raises(InputError, match="0 or more"):
        MountainCar(noise=-1.0)
