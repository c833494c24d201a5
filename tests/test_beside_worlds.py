"""Worlds that others know, as families: the simulators and tables themselves, and policies near what is logged."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from repbm.core import InputError
from repbm.data import Trajectories
from repbm.domains import CartPole, MountainCar, Simulator, TabularWorld, benchmark_policy, collect
from repbm.domains.worlds import BESIDE, DEVELOPMENT, families
from repbm.domains.worlds._beside._finite import effective_share, finite
from repbm.domains.worlds._beside._simulated import simulated

SIMULATED = ("beside/cartpole", "beside/mountaincar")


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def assert_same(one: Trajectories, other: Trajectories) -> None:
    for field in ("observations", "rewards", "offsets", "terminated", "final_observations"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    np.testing.assert_array_equal(one.actions.codes, other.actions.codes)
    assert one.behavior is not None
    assert other.behavior is not None
    np.testing.assert_allclose(one.behavior, other.behavior, rtol=1e-12)


def test_they_are_neither_development_nor_exam() -> None:
    assert list(BESIDE) == ["beside/icu-sepsis", *SIMULATED]
    assert not set(BESIDE) & set(DEVELOPMENT)
    assert set(BESIDE) < set(families())


@pytest.mark.parametrize(
    ("simulator", "policy"),
    [
        (CartPole(noise=0.05, horizon=60), "cartpole-long"),
        (CartPole(horizon=60), "cartpole-short"),
        (MountainCar(noise=0.05, horizon=100), "mountaincar"),
        (MountainCar(horizon=190), "mountaincar"),
    ],
)
def test_the_papers_domains_are_the_simulators_step_by_step(simulator: Simulator, policy: str) -> None:
    world = simulated(simulator, benchmark_policy(policy), 0.2)
    log, starts = world.log(10, random(1))
    assert_same(log, collect(simulator, benchmark_policy(policy), 10, random(1), epsilon=0.2))
    np.testing.assert_array_equal(starts, log.initial_observations)
    assert set(np.unique(world.policy(log.observations))) == {0.0, 1.0}


@pytest.mark.parametrize("name", SIMULATED)
def test_a_seed_draws_a_world(name: str) -> None:
    worlds = [BESIDE[name](random(seed)) for seed in (0, 0, 1)]
    logs = [world.log(5, random(2))[0] for world in worlds]
    assert_same(logs[0], logs[1])
    assert logs[0].behavior is not None
    assert logs[2].behavior is not None
    assert set(logs[0].behavior.tolist()) != set(logs[2].behavior.tolist())
    assert all(180 <= world.horizon <= 200 for world in worlds)


def test_a_table_is_the_same_world_and_its_policy_tilts_as_far_as_asked() -> None:
    """Draws equal those of the table; returns of 4,000 episodes have its exact mean, at five standard errors."""
    table = TabularWorld.random(20, 4, 8, random(0))
    behavior = random(1).dirichlet(np.ones(4), size=20)
    behavior[3] = [0.5, 0.0, 0.0, 0.5]
    world = finite(table, behavior, 0.15, random(2))
    assert_same(world.log(200, random(3))[0], table.collect(behavior, 200, random(3)))
    every = np.arange(20.0)[:, None]
    np.testing.assert_array_equal(world.behavior(every), behavior)
    policy = world.policy(every)
    np.testing.assert_allclose(policy.sum(axis=1), 1)
    assert (policy[3] > 0).tolist() == [True, False, False, True]
    fresh = table.collect(behavior, 20_000, random(4))
    assert effective_share(policy, behavior, fresh) == pytest.approx(0.15, abs=0.04)
    returns = world.returns(world.initial(4000, random(5)), random(6))
    assert abs(returns.mean() - table.truth(policy)) < 5 * returns.std() / np.sqrt(4000)
    assert table.truth(policy) > table.truth(behavior)
    np.testing.assert_array_equal(finite(table, behavior, 0.15, random(2)).policy(every), policy)


def test_icu_sepsis_is_logged_by_clinicians_and_the_policy_keeps_to_what_they_do() -> None:
    world = BESIDE["beside/icu-sepsis"](random(0))
    log, _ = world.log(1000, random(1))
    assert world.actions == 25
    assert 30 <= world.horizon <= 50
    assert set(np.unique(log.rewards)) == {0.0, 1.0}
    # About 78 in 100 survive; a few are still there at the end.
    assert log.rewards.sum() / 1000 == pytest.approx(0.77, abs=0.06)
    states = np.arange(716.0)[:, None]
    usual, wanted = world.behavior(states), world.policy(states)
    np.testing.assert_allclose(wanted.sum(axis=1), 1)
    assert not ((wanted > 0) & (usual == 0)).any()
    assert 0.03 < effective_share(wanted, usual, log) < 0.4


def test_without_the_extra_icu_sepsis_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"this needs icu-sepsis; pip install 'repbm\[sepsis\]'"):
        BESIDE["beside/icu-sepsis"](random(0))
