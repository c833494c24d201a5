"""The worlds of the exam: drawn by their seed alone, with sound logs, right propensities and a truth that holds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from repbm.data import Trajectories
from repbm.domains.worlds import EXAM, World

SEEDS = (0, 1)
NO_OVERLAP, HIDDEN_CAUSE, LOSING_SIGHT = "contrast-scans", "physio-motivation", "anticoagulant"
PARTLY_SEEN = ("pest-resistance", HIDDEN_CAUSE)
NO_PROPENSITIES = ("anticoagulant", "debt-collection", "lab-panel", HIDDEN_CAUSE)
every_family = pytest.mark.parametrize("name", EXAM)


@cache
def drawn(name: str, seed: int) -> World:
    return EXAM[name](np.random.default_rng(seed))


@cache
def logged(name: str, seed: int, episodes: int = 400) -> tuple[Trajectories, np.ndarray]:
    """With propensities, whether the world logs them or not."""
    return replace(drawn(name, seed), propensities=True).log(episodes, np.random.default_rng(21))


def returns_of(log: Trajectories, discount: float) -> np.ndarray:
    steps = np.arange(len(log.rewards)) - np.repeat(log.offsets[:-1], np.diff(log.offsets))
    return np.add.reduceat(log.rewards * discount**steps, log.offsets[:-1])


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The difference of two means, in its standard errors."""
    return abs(one.mean() - other.mean()) / np.sqrt(one.var() / len(one) + other.var() / len(other))


@every_family
def test_a_seed_draws_a_world_its_log_and_its_policy(name: str) -> None:
    again = EXAM[name](np.random.default_rng(0))
    logs = [world.log(60, np.random.default_rng(3))[0] for world in (drawn(name, 0), again, drawn(name, 1))]
    for field in ("observations", "rewards", "offsets", "terminated", "final_observations"):
        np.testing.assert_array_equal(getattr(logs[0], field), getattr(logs[1], field))
    np.testing.assert_array_equal(logs[0].actions.codes, logs[1].actions.codes)
    assert logs[0].rewards[:60].tolist() != logs[2].rewards[:60].tolist()
    np.testing.assert_array_equal(drawn(name, 0).policy(logs[0].observations), again.policy(logs[0].observations))


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_logs_are_sound(name: str, seed: int) -> None:
    world = drawn(name, seed)
    log, starts = world.log(60, np.random.default_rng(4))
    assert starts.dtype == np.float64
    assert 1 <= log.observations.shape[1] <= 30
    assert (log.observations.shape[1] < starts.shape[1]) == (name in PARTLY_SEEN)
    assert 2 <= world.actions <= 6
    assert 1 <= world.horizon <= 60
    assert np.diff(log.offsets).max() <= world.horizon
    assert np.isfinite(log.observations).all()
    assert np.isfinite(log.rewards).all()
    assert np.isfinite(log.final_observations).all() == world.last_state
    assert (log.behavior is None) == (not world.propensities)
    assert world.propensities == (name not in NO_PROPENSITIES) or name == NO_OVERLAP
    cut_short = ~log.terminated & (np.diff(log.offsets) < world.horizon)
    assert cut_short.any() == (name == LOSING_SIGHT)
    assert np.ptp(world.returns(starts, np.random.default_rng(17))) > 0.0
    assert world.answerable == (name not in (NO_OVERLAP, HIDDEN_CAUSE))


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_policies_differ_from_the_behavior_and_keep_to_what_is_logged(name: str, seed: int) -> None:
    world, states = drawn(name, seed), drawn(name, seed).initial(100, np.random.default_rng(5))
    generator, never, largest = np.random.default_rng(6), 0, 0.0
    for _ in range(min(world.horizon, 12)):
        usual, wanted = world.behavior(states), world.policy(world.observe(states))
        for chances in (usual, wanted):
            assert chances.shape == (len(states), world.actions)
            assert (chances >= 0.0).all()
            np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-9)
        never += int(((usual == 0.0) & (wanted > 0.0)).sum())
        largest = max(largest, float(np.abs(usual - wanted).max()))
        states, _, ended = world.step(states, wanted.argmax(axis=1), generator)
        states = states[~ended]
        if not len(states):
            break
    assert (never > 0) == (name == NO_OVERLAP)
    assert largest > 0.01


@every_family
def test_propensities_are_those_of_the_actions(name: str) -> None:
    """Those of first steps exactly, how often actions are taken but for drawing, ratios of all steps likewise."""
    world = drawn(name, 1)
    log, starts = logged(name, 1)
    assert log.behavior is not None
    chances, codes, first = world.behavior(starts), np.asarray(log.actions.codes), log.offsets[:-1]
    np.testing.assert_allclose(log.behavior[first], chances[np.arange(len(starts)), codes[first]])
    surprise = np.eye(world.actions)[codes[first]] - chances
    errors = np.sqrt((chances * (1.0 - chances)).sum(axis=0)) + 1e-9
    assert (np.abs(surprise.sum(axis=0)) < 5.0 * errors).all()
    if name != NO_OVERLAP:
        ratios = world.policy(log.observations)[np.arange(len(codes)), codes] / log.behavior
        assert abs(ratios.mean() - 1.0) < 6.0 * ratios.std() / np.sqrt(len(ratios)) + 1e-9


@every_family
def test_two_ways_to_the_truth_agree(name: str) -> None:
    """Returns that the world tells, and returns of a log in which the policy itself acts; of the mean and of one."""
    world = drawn(name, 0)
    followed = replace(world, behavior=lambda states: world.policy(world.observe(states)), lost=None)
    episodes = max(500, min(4000, 40_000 // world.horizon))
    log, starts = followed.log(episodes, np.random.default_rng(7))
    told = world.returns(world.initial(episodes, np.random.default_rng(8)), np.random.default_rng(9))[:, 0]
    assert apart(returns_of(log, world.discount), told) < 5.0
    one = replace(followed, initial=lambda count, _: np.repeat(starts[:1], count, axis=0))
    log, _ = one.log(episodes // 2, np.random.default_rng(10))
    told = world.returns(starts[:1], np.random.default_rng(11), episodes // 2)[0]
    assert apart(returns_of(log, world.discount), told + 1e-12 * np.arange(len(told))) < 5.0


def test_most_policies_change_the_value() -> None:
    changed = []
    for name in EXAM:
        world = drawn(name, 1)
        starts = world.initial(max(500, min(8000, 40_000 // world.horizon)), np.random.default_rng(12))
        own = world.returns(starts, np.random.default_rng(13))[:, 0]
        changed.append(apart(own, world.returns(starts, np.random.default_rng(14), behavior=True)[:, 0]) > 3.0)
    assert np.mean(changed) > 0.5


def test_most_answerable_logs_hold_episodes_enough() -> None:
    """The effective size of plain weights of whole episodes, as a share of them."""
    shares = []
    for name in EXAM:
        if name in (NO_OVERLAP, HIDDEN_CAUSE):
            continue
        log, _ = logged(name, 0)
        assert log.behavior is not None
        codes = np.asarray(log.actions.codes)
        ratios = drawn(name, 0).policy(log.observations)[np.arange(len(codes)), codes] / log.behavior
        weights = np.multiply.reduceat(ratios, log.offsets[:-1])
        shares.append(weights.sum() ** 2 / (weights**2).sum() / len(weights))
    assert np.mean(np.array(shares) > 0.04) > 0.7
    assert max(shares) < 0.9


def test_the_hidden_cause_moves_decisions_and_outcomes() -> None:
    world = drawn(HIDDEN_CAUSE, 0)
    states = world.initial(400, np.random.default_rng(15))
    eager = states + np.eye(states.shape[1])[-1]
    np.testing.assert_array_equal(world.observe(states), world.observe(eager))
    assert (world.behavior(eager)[:, -1] > world.behavior(states)[:, -1]).all()
    returns = [world.returns(some, np.random.default_rng(16))[:, 0] for some in (states, eager)]
    assert returns[1].mean() - returns[0].mean() > 0.3 * returns[0].std()


def test_episodes_that_the_log_loses_sight_of_are_part_of_it() -> None:
    """Only the log is shorter: what is logged up to there is what the same world shows whose log loses nobody."""
    world = drawn(LOSING_SIGHT, 0)
    assert world.lost is not None
    log, starts = world.log(300, np.random.default_rng(18))
    first, chance = log.offsets[1:] - log.offsets[:-1] == 1, world.lost(starts)
    assert ((chance > 0.0) & (chance < 1.0)).all()
    assert not log.terminated.any()
    assert 0 < first.sum() < 100
    never = replace(world, lost=lambda states: np.zeros(len(states)))
    assert (np.diff(never.log(20, np.random.default_rng(18))[0].offsets) == world.horizon).all()
