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
GAPS = ("crane-lifts", "joint-injection", "season-markdown", "interpreter-desk")
HIDDEN_CAUSE, HALF_SEEN = "wound-dressing", "migraine-diary"
UNANSWERABLE = (*GAPS, HIDDEN_CAUSE)
PARTLY_SEEN = (HIDDEN_CAUSE, HALF_SEEN)
LOSING_SIGHT = ("dialysis-sessions", HALF_SEEN)
NO_LAST_STATE = ("eye-injections",)
NO_PROPENSITIES = ("banner-sites", "language-app", "eye-injections", "interpreter-desk", HALF_SEEN, HIDDEN_CAUSE)
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
    assert 1 <= world.horizon <= 40
    assert np.diff(log.offsets).max() <= world.horizon
    assert np.isfinite(log.observations).all()
    assert np.isfinite(log.rewards).all()
    assert np.isfinite(log.final_observations).all() == world.last_state == (name not in NO_LAST_STATE)
    assert (log.behavior is None) == (not world.propensities)
    assert world.propensities == (name not in NO_PROPENSITIES)
    cut_short = ~log.terminated & (np.diff(log.offsets) < world.horizon)
    assert cut_short.any() == (name in LOSING_SIGHT)
    assert np.ptp(world.returns(starts, np.random.default_rng(17))) > 0.0
    assert world.answerable == (name not in UNANSWERABLE)


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_policies_differ_from_the_behavior_and_keep_to_what_is_logged(name: str, seed: int) -> None:
    world, states = drawn(name, seed), drawn(name, seed).initial(300, np.random.default_rng(5))
    generator, never, largest = np.random.default_rng(6), 0, 0.0
    for _ in range(min(world.horizon, 12)):
        usual, wanted = world.behavior(states), world.policy(world.observe(states))
        for chances in (usual, wanted):
            assert chances.shape == (len(states), world.actions)
            assert (chances >= 0.0).all()
            np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-9)
        never += int(((usual == 0.0) & (wanted > 0.0)).sum())
        assert name in GAPS or (usual[wanted > 0.0] >= LEAST).all()
        largest = max(largest, float(np.abs(usual - wanted).max()))
        states, _, ended = world.step(states, draw(wanted, generator), generator)
        states = states[~ended]
        if not len(states):
            break
    assert (never > 0) == (name in GAPS)
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
    if name not in GAPS:
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


@pytest.mark.parametrize("name", [name for name in EXAM if name not in GAPS])
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
        if name in UNANSWERABLE:
            continue
        log, _ = logged(name, 0)
        weights = weights_of(drawn(name, 0), log)
        shares.append(weights.sum() ** 2 / (weights**2).sum() / len(weights))
    assert np.mean(np.array(shares) > 0.05) > 0.8
    assert max(shares) < 0.6


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


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_the_hidden_cause_biases_who_adjusts_for_what_is_seen(seed: int) -> None:
    """By some standard errors of 1,000 episodes, and by none to speak of where somebody logs who does not know it."""
    world = drawn(HIDDEN_CAUSE, seed)

    def blind(states: np.ndarray) -> np.ndarray:
        return 0.5 * world.policy(world.observe(states)) + 0.5 / world.actions

    told = world.returns(world.initial(20_000, np.random.default_rng(15)), np.random.default_rng(16))[:, 0]
    off = [
        abs(adjusted(one, one.log(8000, np.random.default_rng(25))[0]) - told.mean()) / told.std() * np.sqrt(1000)
        for one in (world, replace(world, behavior=blind))
    ]
    assert 2.0 < off[0] < 12.0
    assert off[1] < 0.6 * off[0]


def test_the_hidden_cause_moves_decisions_and_outcomes() -> None:
    world = drawn(HIDDEN_CAUSE, 0)
    states = world.initial(2000, np.random.default_rng(15))
    states[:, -1] = 0.0
    worse = states + np.eye(states.shape[1])[-1]
    np.testing.assert_array_equal(world.observe(states), world.observe(worse))
    assert (world.behavior(worse)[:, 0] < world.behavior(states)[:, 0]).all()
    returns = [world.returns(some, np.random.default_rng(16))[:, 0] for some in (states, worse)]
    assert returns[0].mean() - returns[1].mean() > 0.1 * returns[0].std()


def test_what_is_half_seen_moves_outcomes_and_no_decisions() -> None:
    world = drawn(HALF_SEEN, 0)
    states = world.initial(1000, np.random.default_rng(15))
    worse = states + 2.0 * np.eye(states.shape[1])[-2]
    np.testing.assert_array_equal(world.observe(states), world.observe(worse))
    np.testing.assert_array_equal(world.behavior(states), world.behavior(worse))
    returns = [world.returns(some, np.random.default_rng(16))[:, 0] for some in (states, worse)]
    assert returns[0].mean() - returns[1].mean() > 0.3 * returns[0].std()


@pytest.mark.parametrize("name", GAPS)
@pytest.mark.parametrize("seed", range(3))
def test_what_was_never_logged_is_a_good_part_of_the_policy(name: str, seed: int) -> None:
    """Of its decisions, and of what it is worth; the log holds none of it."""
    world = drawn(name, seed)
    log, starts = world.log(6000, np.random.default_rng(19))
    now, generator, there = starts, np.random.default_rng(20), []
    for _ in range(world.horizon):
        wanted, usual = world.policy(world.observe(now)), world.behavior(now)
        there.append(((usual == 0.0) * wanted).sum(axis=1))
        now, _, _ = world.step(now, draw(wanted, generator), generator)
    assert 0.05 < np.mean(there) < 0.4
    codes, usual = np.asarray(log.actions.codes), world.behavior(log.observations)
    assert (usual[np.arange(len(codes)), codes] > 0.0).all()

    def careful(seen: np.ndarray) -> np.ndarray:
        """The same policy, where the log can follow."""
        kept = world.policy(seen) * (world.behavior(seen) > 0.0)
        kept[kept.sum(axis=1) == 0.0] = 1.0
        return kept / kept.sum(axis=1, keepdims=True)

    other = replace(world, policy=careful)
    own, followed = (one.returns(starts, np.random.default_rng(27))[:, 0] for one in (world, other))
    as_ever = world.returns(starts, np.random.default_rng(27), behavior=True)[:, 0]
    assert max(apart(own, followed), apart(own, as_ever)) > 8.0


def test_gaps_are_where_they_are_told_to_be() -> None:
    """Beside and around two columns, soon after the same action, in one part of the time, and in some categories."""
    crane, injected, season, desk = (logged(name, 0, 1500)[0] for name in GAPS)
    denied = {name: drawn(name, 0).behavior(logged(name, 0, 1500)[0].observations)[:, -1] == 0.0 for name in GAPS}
    for column in (0, 1):
        inside, outside = (crane.observations[denied["crane-lifts"] == which, column] for which in (True, False))
        assert np.mean((outside > inside.min()) & (outside < inside.max())) > 0.2
    soon = denied["joint-injection"]
    assert injected.observations[soon, 3].min() >= 1.0
    assert (injected.observations[~soon, 2] > injected.observations[soon, 2].min()).all()
    week = season.observations[:, 4]
    closed = denied["season-markdown"]
    assert week[closed].max() < week[~closed].min() or week[closed].min() > week[~closed].max()
    tongues = desk.observations[:, 0]
    without = set(tongues[denied["interpreter-desk"]])
    assert without.isdisjoint(tongues[~denied["interpreter-desk"]])
    assert 3 <= len(without) <= 4 < 10 <= len(set(tongues)) <= 15


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
    assert 20 <= drawn("grain-silo", seed).horizon <= 40
    assert drawn("kiln-glaze", seed).horizon == drawn("banner-sites", seed).horizon == 1
    assert drawn("language-app", seed).log(5, np.random.default_rng(0))[0].observations.shape[1] >= 14
    for name in ("language-app", "eye-injections"):
        log = logged(name, seed)[0]
        last = np.zeros(len(log.rewards), dtype=bool)
        last[log.offsets[1:] - 1] = True
        assert (log.rewards[~last] == 0.0).all()
        assert log.rewards[last].std() > 0.0
    bought = logged("banner-sites", seed)[0]
    assert set(bought.rewards) == {0.0, 1.0}
    assert 8 <= len(set(bought.observations[:, 0])) <= 16
    late = logged("ambulance-posts", seed)[0].rewards
    np.testing.assert_array_equal(late, np.rint(late))
    assert late.max() <= 0.0
    for name in ("line-pruning", "venture-rounds"):
        rewards = logged(name, seed, 2000)[0].rewards
        assert ((rewards - rewards.mean()) ** 4).mean() > 10.0 * rewards.var() ** 2
    for name in ("kiln-glaze", "venture-rounds", "eye-injections"):
        wanted = drawn(name, seed).policy(logged(name, seed)[0].observations)
        assert set(np.unique(wanted)) == {0.0, 1.0}


@pytest.mark.parametrize("seed", range(2))
def test_what_is_given_in_the_feed_works_weeks_later(seed: int) -> None:
    """At once it changes no lice, old or young; they differ in the end."""
    world = drawn("salmon-pens", seed)
    now = [world.initial(2000, np.random.default_rng(2))] * 2
    lice = []
    for week in range(5):
        taken = [np.full(2000, action if week == 0 else 0) for action in (0, 1)]
        now = [world.step(one, code, np.random.default_rng(week))[0] for one, code in zip(now, taken, strict=True)]
        lice.append(apart(now[0][:, 0], now[1][:, 0]))
    assert lice[0] == lice[1] == 0.0
    assert lice[-1] > 5.0
