"""The simulators are gymnasium's worlds, step by step."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control import CartPoleEnv, MountainCarEnv

from repbm.domains import CartPole, MountainCar, Simulator, benchmark_policy, collect, truth
from repbm.policies import NetworkPolicy
from tests.test_domains import NAMES, generator, uniform

WORLDS: tuple[tuple[Simulator, type[gymnasium.Env]], ...] = ((CartPole(), CartPoleEnv), (MountainCar(), MountainCarEnv))


def replayed(
    make: type[gymnasium.Env], state: np.ndarray, actions: np.ndarray
) -> Iterator[tuple[np.ndarray, float, bool]]:
    """What gymnasium gives for these actions from this state."""
    env = make()
    env.reset(seed=0)
    env.unwrapped.state = state.copy()  # type: ignore[attr-defined]
    for action in actions:
        observation, reward, terminated, _, _ = env.step(int(action))
        assert observation.dtype == np.float32
        yield observation, float(reward), terminated


@pytest.mark.parametrize(("simulator", "make"), WORLDS)
def test_equals_gymnasium_step_by_step(simulator: Simulator, make: type[gymnasium.Env]) -> None:
    episodes = 150
    log = collect(simulator, benchmark_policy(NAMES[type(simulator)]), episodes // 3, generator(0), 0.2)
    wild = collect(simulator, uniform(simulator), episodes, generator(1))
    for data in (log, wild):
        following = data.next_observations()
        for k in range(len(data)):
            span = slice(data.offsets[k], data.offsets[k + 1])
            steps = list(replayed(make, data.initial_observations[k], data.actions.codes[span]))
            np.testing.assert_array_equal(np.stack([step[0] for step in steps]), following[span])
            np.testing.assert_array_equal([step[1] for step in steps], data.rewards[span])
            assert [step[2] for step in steps[:-1]] == [False] * (len(steps) - 1)
            assert steps[-1][2] == data.terminated[k]


@pytest.mark.parametrize(("simulator", "make"), WORLDS)
def test_equals_gymnasium_far_from_the_start(simulator: Simulator, make: type[gymnasium.Env]) -> None:
    wide = {CartPole: (3.0, 4.0, 0.3, 4.0), MountainCar: (1.2, 0.07)}[type(simulator)]
    states = generator(2).uniform(-1, 1, (3000, len(wide))) * wide
    if isinstance(simulator, MountainCar):
        states[:, 0] = np.minimum(states[:, 0], 0.6)
    actions = generator(3).integers(len(simulator.actions), size=len(states))
    following, rewards, terminated = simulator.step(states, actions)
    env = make()
    env.reset(seed=0)
    for k, state in enumerate(states):
        env.unwrapped.state = state.copy()  # type: ignore[attr-defined]
        env.unwrapped.steps_beyond_terminated = None  # type: ignore[attr-defined]
        observation, reward, ended, _, _ = env.step(int(actions[k]))
        np.testing.assert_array_equal(observation, simulator.observe(following)[k])
        assert (float(reward), ended) == (rewards[k], terminated[k])
    assert 0 < terminated.mean() < 1


@pytest.mark.parametrize(("simulator", "make"), WORLDS)
def test_initial_states_are_those_of_gymnasium(simulator: Simulator, make: type[gymnasium.Env]) -> None:
    states = simulator.initial(4000, generator())
    assert states.dtype == np.float64
    np.testing.assert_array_equal(simulator.observe(states), states)
    real = np.stack([make().reset(seed=seed)[0] for seed in range(400)])
    # Uniform distributions of these ranges: the ends of 400 draws lie within 5% of those of 4000 (missed with
    # probability below 2 * 6 * 0.95**400 < 2e-8).
    spread = np.ptp(states, axis=0)
    assert (np.abs(states.min(axis=0) - real.min(axis=0)) <= 0.05 * spread).all()
    assert (np.abs(states.max(axis=0) - real.max(axis=0)) <= 0.05 * spread).all()


@pytest.mark.parametrize(("simulator", "make"), WORLDS)
def test_truth_is_what_gymnasium_returns(simulator: Simulator, make: type[gymnasium.Env]) -> None:
    policy = benchmark_policy(NAMES[type(simulator)])
    starts = simulator.initial(20, generator(4))
    rewards = [gymnasium_rewards(simulator, make, policy, state) for state in starts]
    for discount in (1.0, 0.97):
        expected = [sum(discount**t * reward for t, reward in enumerate(episode)) for episode in rewards]
        np.testing.assert_allclose(truth(simulator, policy, starts, discount=discount), expected, rtol=1e-12)
    assert len(set(truth(simulator, policy, starts))) > 1


def gymnasium_rewards(
    simulator: Simulator, make: type[gymnasium.Env], policy: NetworkPolicy, state: np.ndarray
) -> list[float]:
    """The rewards of one rollout by hand, under gymnasium's own time limit."""
    env = gymnasium.wrappers.TimeLimit(make(), simulator.horizon)
    env.reset(seed=0)
    env.unwrapped.state = state.copy()  # type: ignore[attr-defined]
    observation, rewards, over = np.asarray(state, np.float32), [], False
    while not over:
        action = policy.choices(observation[None].astype(np.float64), simulator.actions).what[0]
        observation, reward, terminated, truncated, _ = env.step(int(action))
        rewards.append(float(reward))
        over = terminated or truncated
    return rewards
