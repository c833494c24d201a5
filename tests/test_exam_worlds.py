"""The worlds of the exam: drawn by their seed alone, with sound logs, right propensities and a truth that holds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from repbm.core import draw
from repbm.data import Trajectories
from repbm.domains.worlds import EXAM, World

SEEDS = (0, 1)
NO_OVERLAP, HIDDEN_CAUSE = "course-placement", "calf-barn"
LOSING_SIGHT = ("tooth-record", "reading-referral")
NO_LAST_STATE = ("ramp-metering", "book-promotion")
HALF_SEEN = "fever-clinic"
PARTLY_SEEN = (HALF_SEEN, HIDDEN_CAUSE)
NO_PROPENSITIES = ("ventilator-weaning", "slow-nitrogen", "concrete-pour", "book-promotion", HIDDEN_CAUSE)
LEAST = 0.03
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


def weights_of(world: World, log: Trajectories) -> np.ndarray:
    assert log.behavior is not None
    codes = np.asarray(log.actions.codes)
    ratios = world.policy(log.observations)[np.arange(len(codes)), codes] / log.behavior
    return np.multiply.reduceat(ratios, log.offsets[:-1])


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
    assert 2 <= world.actions <= 5
    assert 1 <= world.horizon <= 80
    assert np.diff(log.offsets).max() <= world.horizon
    assert np.isfinite(log.observations).all()
    assert np.isfinite(log.rewards).all()
    assert np.isfinite(log.final_observations).all() == world.last_state == (name not in NO_LAST_STATE)
    assert (log.behavior is None) == (not world.propensities)
    assert world.propensities == (name not in NO_PROPENSITIES)
    cut_short = ~log.terminated & (np.diff(log.offsets) < world.horizon)
    assert cut_short.any() == (name in LOSING_SIGHT)
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
        assert name == NO_OVERLAP or (usual[wanted > 0.0] >= LEAST).all()
        largest = max(largest, float(np.abs(usual - wanted).max()))
        states, _, ended = world.step(states, draw(wanted, generator), generator)
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
    episodes = max(500, min(4000, 30_000 // world.horizon))
    log, starts = followed.log(episodes, np.random.default_rng(7))
    told = world.returns(world.initial(episodes, np.random.default_rng(8)), np.random.default_rng(9))[:, 0]
    assert apart(returns_of(log, world.discount), told) < 5.0
    one = replace(followed, initial=lambda count, _: np.repeat(starts[:1], count, axis=0))
    log, _ = one.log(episodes // 2, np.random.default_rng(10))
    told = world.returns(starts[:1], np.random.default_rng(11), episodes // 2)[0]
    assert apart(returns_of(log, world.discount), told + 1e-12 * np.arange(len(told))) < 5.0


@pytest.mark.parametrize("name", [name for name in EXAM if name != NO_OVERLAP])
def test_weighing_a_log_tells_the_same_truth(name: str) -> None:
    """With the true propensities and episodes that are all seen to their end.

    Who sees the hidden cause acts far from the policy: there, the policy itself acts in half of the decisions.
    """
    world = drawn(name, 1)
    if name == HIDDEN_CAUSE:
        usual, wanted = world.behavior, world.policy
        world = replace(world, behavior=lambda states: 0.5 * usual(states) + 0.5 * wanted(world.observe(states)))
    episodes = max(800, min(5000, 30_000 // world.horizon))
    log, _ = replace(world, propensities=True, lost=None).log(episodes, np.random.default_rng(22))
    weights, returns = weights_of(world, log), returns_of(log, world.discount)
    told = world.returns(world.initial(episodes, np.random.default_rng(23)), np.random.default_rng(24))[:, 0]
    assert abs(weights.mean() - 1.0) < 5.0 * weights.std() / np.sqrt(episodes)
    center = told.mean()
    assert apart(weights * (returns - center), told - center) < 4.5


def test_most_policies_change_the_value() -> None:
    changed = []
    for name in EXAM:
        world = drawn(name, 1)
        starts = world.initial(max(500, min(6000, 30_000 // world.horizon)), np.random.default_rng(12))
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
        weights = weights_of(drawn(name, 0), log)
        shares.append(weights.sum() ** 2 / (weights**2).sum() / len(weights))
    assert np.mean(np.array(shares) > 0.1) > 0.8
    assert max(shares) < 0.9


def adjusted(world: World, log: Trajectories) -> float:
    """What an analyst tells who goes back from the last step, with regressions on all that is seen."""
    steps, episodes = world.horizon, len(log.terminated)
    seen = log.observations.reshape(episodes, steps, -1)
    codes, rewards = np.asarray(log.actions.codes).reshape(episodes, steps), log.rewards.reshape(episodes, steps)
    middle, spread = log.observations.mean(axis=0), log.observations.std(axis=0) + 1e-9
    values = np.zeros(episodes)
    for t in reversed(range(steps)):
        scaled = (seen[:, t] - middle) / spread
        terms = np.column_stack([np.ones(episodes), scaled, scaled**2])
        told = np.empty((episodes, world.actions))
        for code in range(world.actions):
            rows = codes[:, t] == code
            told[:, code] = terms @ np.linalg.lstsq(terms[rows], (rewards[:, t] + values)[rows])[0]
        values = (told * world.policy(seen[:, t])).sum(axis=1)
    return float(values.mean())


@pytest.mark.parametrize("seed", range(3))
def test_the_hidden_cause_biases_who_adjusts_for_what_is_seen(seed: int) -> None:
    """By far more than where the same world is logged by somebody who does not see the cause."""
    world = drawn(HIDDEN_CAUSE, seed)

    def blind(states: np.ndarray) -> np.ndarray:
        return 0.5 * world.policy(world.observe(states)) + 0.5 / world.actions

    told = world.returns(world.initial(10_000, np.random.default_rng(15)), np.random.default_rng(16))[:, 0]
    off = [
        abs(adjusted(one, one.log(2000, np.random.default_rng(25))[0]) - told.mean()) / told.std()
        for one in (world, replace(world, behavior=blind))
    ]
    assert off[0] > 0.2
    assert off[1] < 0.1


def test_the_hidden_cause_moves_decisions_and_outcomes() -> None:
    world = drawn(HIDDEN_CAUSE, 0)
    states = world.initial(400, np.random.default_rng(15))
    states[:, -1] = 0.0
    dull = states + np.eye(states.shape[1])[-1]
    np.testing.assert_array_equal(world.observe(states), world.observe(dull))
    assert (world.behavior(dull)[:, 0] < world.behavior(states)[:, 0]).all()
    returns = [world.returns(some, np.random.default_rng(16))[:, 0] for some in (states, dull)]
    assert returns[0].mean() - returns[1].mean() > returns[0].std()
    following, _, _ = world.step(dull, np.zeros(400, dtype=np.int64), np.random.default_rng(26))
    np.testing.assert_array_equal(following[:, -1], dull[:, -1])


def test_what_is_half_seen_moves_outcomes_and_no_decisions() -> None:
    world = drawn(HALF_SEEN, 0)
    states = world.initial(400, np.random.default_rng(15))
    many = states + 3.0 * np.eye(states.shape[1])[-1]
    np.testing.assert_array_equal(world.observe(states), world.observe(many))
    np.testing.assert_array_equal(world.behavior(states), world.behavior(many))
    returns = [world.returns(some, np.random.default_rng(16))[:, 0] for some in (states, many)]
    assert returns[0].mean() - returns[1].mean() > 0.3 * returns[0].std()


@pytest.mark.parametrize("seed", range(3))
def test_what_was_never_logged_is_a_good_part_of_the_policy(seed: int) -> None:
    """Of its steps, and of what it is worth; the log holds none of it."""
    world = drawn(NO_OVERLAP, seed)
    log, starts = world.log(1000, np.random.default_rng(19))
    now, generator, there = starts, np.random.default_rng(20), []
    for _ in range(world.horizon):
        wanted, usual = world.policy(world.observe(now)), world.behavior(now)
        there.append(((usual == 0.0) * wanted).sum(axis=1))
        now, _, _ = world.step(now, draw(wanted, generator), generator)
    assert np.mean(there) > 0.15
    codes, usual = np.asarray(log.actions.codes), world.behavior(log.observations)
    assert (usual[np.arange(len(codes)), codes] > 0.0).all()
    own, as_ever = (world.returns(starts, np.random.default_rng(27), behavior=which)[:, 0] for which in (False, True))
    assert apart(own, as_ever) > 5.0


@pytest.mark.parametrize("name", LOSING_SIGHT)
def test_episodes_that_the_log_loses_sight_of_are_part_of_it(name: str) -> None:
    """Only the log is shorter: who is lost is neither ended by the world nor seen to the end."""
    world = drawn(name, 0)
    assert world.lost is not None
    log, starts = world.log(300, np.random.default_rng(18))
    chance = world.lost(starts)
    assert ((chance > 0.0) & (chance < 1.0)).all()
    gone = ~log.terminated & (np.diff(log.offsets) < world.horizon)
    assert 10 < gone.sum() < 200
    whole = replace(world, lost=None).log(300, np.random.default_rng(18))[0]
    assert (whole.terminated | (np.diff(whole.offsets) == world.horizon)).all()


@pytest.mark.parametrize("seed", range(3))
def test_families_are_what_they_are_called(seed: int) -> None:
    assert 40 <= drawn("pasture-rotation", seed).horizon <= 80
    assert drawn("concrete-pour", seed).horizon == 1
    assert drawn("turbine-sensors", seed).log(5, np.random.default_rng(0))[0].observations.shape[1] >= 18
    rare = np.asarray(logged("reading-referral", seed)[0].actions.codes)
    assert 0.02 < np.mean(rare == drawn("reading-referral", seed).actions - 1) < 0.12
    table = logged("tooth-record", seed)[0].observations
    assert len(np.unique(table, axis=0)) <= 18
    ward = logged("ventilator-weaning", seed)[0]
    last = np.zeros(len(ward.rewards), dtype=bool)
    last[ward.offsets[1:] - 1] = ward.terminated
    assert (ward.rewards[~last] == 0.0).all()
    assert 0.2 < (ward.rewards[last] > 0.0).mean() < 1.0
    sales = logged("book-promotion", seed)[0].rewards
    assert ((sales - sales.mean()) ** 4).mean() > 10.0 * sales.var() ** 2


def spread(name: str, seed: int, state: np.ndarray) -> np.ndarray:
    """First columns that a state leads to, many times over."""
    world = drawn(name, seed)
    return world.step(np.tile(state, (2000, 1)), np.zeros(2000, dtype=np.int64), np.random.default_rng(28))[0][:, 0]


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_of_the_kind_that_is_told(seed: int) -> None:
    assert (
        np.std(spread("brine-tanks", seed, drawn("brine-tanks", seed).initial(1, np.random.default_rng(2))[0])) < 1e-3
    )
    light, dense = (spread("ramp-metering", seed, np.array([at, 10.0, 800.0, 0.5])).std() for at in (15.0, 45.0))
    assert dense > 2.5 * light
    cells = np.sort(spread("cell-passages", seed, np.array([6.0, 8.0, 0.9, 1.0])))
    stalled, took = np.split(cells, [np.diff(cells).argmax() + 1])
    assert min(len(stalled), len(took)) > 100
    assert took.mean() - stalled.mean() > 6.0 * max(stalled.std(), took.std())
