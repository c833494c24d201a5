"""The worlds of the exam: drawn by their seed alone, with sound logs and policies worth asking about."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from repbm.domains.worlds import EXAM, World

SEEDS = (0, 1, 2)
every_family = pytest.mark.parametrize("name", EXAM)


@cache
def drawn(name: str, seed: int) -> World:
    return EXAM[name](np.random.default_rng(seed))


def flat(world: World, episodes: int = 50) -> list[np.ndarray]:
    log, starts = world.log(episodes, np.random.default_rng(11))
    found = [log.observations, np.asarray(log.actions.codes), log.rewards, log.offsets, log.final_observations, starts]
    return [*found, log.terminated] if log.behavior is None else [*found, log.terminated, log.behavior]


def returns(world: World, episodes: int) -> tuple[np.ndarray, np.ndarray]:
    log, starts = world.log(episodes, np.random.default_rng(12))
    steps = np.arange(len(log.rewards)) - np.repeat(log.offsets[:-1], np.diff(log.offsets))
    logged = np.add.reduceat(log.rewards * world.discount**steps, log.offsets[:-1])
    return logged, world.returns(starts, np.random.default_rng(13))[:, 0]


@every_family
def test_two_seeds_draw_different_worlds(name: str) -> None:
    one, other = flat(drawn(name, 0)), flat(drawn(name, 1))
    assert any(a.shape != b.shape or not np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=False))


@every_family
def test_a_seed_gives_the_same_log_twice(name: str) -> None:
    again = EXAM[name](np.random.default_rng(0))
    for a, b in zip(flat(drawn(name, 0)), flat(again), strict=True):
        np.testing.assert_array_equal(a, b)
    seen = flat(again)[0]
    np.testing.assert_array_equal(drawn(name, 0).policy(seen), again.policy(seen))


@every_family
def test_logs_are_sound(name: str) -> None:
    for seed in SEEDS:
        world = drawn(name, seed)
        log, _ = world.log(50, np.random.default_rng(14))
        assert np.isfinite(log.observations).all()
        assert np.isfinite(log.rewards).all()
        assert np.isfinite(log.final_observations).all() == world.last_state
        assert (log.behavior is not None) == world.propensities
        if log.behavior is not None:
            assert ((log.behavior > 0.0) & (log.behavior <= 1.0)).all()


@every_family
def test_chances_are_chances_and_answerable_worlds_have_overlap(name: str) -> None:
    for seed in SEEDS:
        world = drawn(name, seed)
        states = world.initial(100, np.random.default_rng(15))
        assert states.dtype == np.float64
        generator = np.random.default_rng(16)
        for _ in range(world.horizon):
            behavior, policy = world.behavior(states), world.policy(world.observe(states))
            for chances in (behavior, policy):
                assert chances.shape == (len(states), world.actions)
                assert (chances >= 0.0).all()
                np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-9)
            if world.answerable:
                assert (behavior > 0.0).all()
            actions = (policy.cumsum(axis=1) < generator.random((len(states), 1))).sum(axis=1)
            states, _, ended = world.step(states, np.minimum(actions, world.actions - 1), generator)
            states = states[~ended]
            if not len(states):
                break


def test_one_family_lacks_overlap_and_another_hides_a_cause() -> None:
    lacking = drawn("forbidden-dose", 0)
    states = lacking.initial(500, np.random.default_rng(17))
    never = lacking.behavior(states) == 0.0
    assert never.any()
    assert (lacking.policy(lacking.observe(states))[never] > 0.5).mean() > 0.9
    hiding = drawn("unseen-frailty", 0)
    states = hiding.initial(500, np.random.default_rng(18))
    assert hiding.observe(states).shape[1] < states.shape[1]
    assert not hiding.propensities
    assert {name for name in EXAM if not drawn(name, 0).answerable} == {"forbidden-dose", "unseen-frailty"}


@every_family
def test_most_policies_change_the_value(name: str) -> None:
    different = 0
    for seed in SEEDS:
        world = drawn(name, seed)
        logged, own = returns(world, min(40_000 // world.horizon, 5000))
        error = np.sqrt((logged.var() + own.var()) / len(own))
        assert np.isfinite(own).all()
        different += abs(own.mean() - logged.mean()) > 3.0 * error
    assert different > len(SEEDS) / 2
