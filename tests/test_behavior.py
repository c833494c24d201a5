"""The behavior learned from a log, against the one that made it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import InputError, stream
from repbm.data import Categorical, Trajectories
from repbm.evaluation import evaluate
from repbm.policies import learn_behavior, reliability
from repbm.policies._behavior_kinds import KINDS
from repbm.policies._calibration import mixture


def logged(chances, n: int = 400, steps: int = 8, dimensions: int = 2, seed: int = 0, whole: int = 0) -> Trajectories:
    """A log in which actions are drawn with these chances of states that are drawn at random."""
    generator = np.random.default_rng(seed)
    size = n * steps
    states = generator.normal(size=(size, dimensions))
    if whole:
        states = generator.integers(0, whole, size=(size, 1)).astype(float)
    odds = chances(states)
    taken = (generator.random((size, 1)) > np.cumsum(odds, axis=1)).sum(axis=1)
    return Trajectories(
        states,
        Categorical(taken.astype(np.int32), tuple(range(odds.shape[1]))),
        np.zeros(size),
        np.arange(0, size + 1, steps),
        np.ones(n, bool),
        np.full((n, states.shape[1]), np.nan),
    )


def logistic(states: np.ndarray) -> np.ndarray:
    scores = np.column_stack([np.zeros(len(states)), 2 * states[:, 0], states[:, 1] - 1])
    odds = np.exp(scores)
    return odds / odds.sum(axis=1, keepdims=True)


def stripes(states: np.ndarray) -> np.ndarray:
    first = np.where((np.sin(3 * states[:, 0]) > 0) ^ (states[:, 1] > 0), 0.9, 0.2)
    return np.column_stack([first, 1 - first])


def table(states: np.ndarray) -> np.ndarray:
    odds = np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], size=12)
    return odds[states[:, 0].astype(int)]


@pytest.mark.parametrize(
    ("chances", "whole", "kinds"),
    [
        pytest.param(logistic, 0, ("logistic",), marks=pytest.mark.slow),
        pytest.param(stripes, 0, ("larger trees", "neighbors"), marks=pytest.mark.slow),
        (table, 12, ("table",)),
    ],
)
def test_the_right_kind_is_found(chances, whole: int, kinds: tuple[str, ...]) -> None:
    data = logged(chances, whole=whole)
    found = learn_behavior(data)
    assert found.parts[0].kind in kinds
    assert found.likelihood >= max(found.likelihoods.values()) - 1e-3
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    truth = chances(data.observations)
    away = np.abs(found.probabilities - truth).mean()
    plain = np.abs(np.bincount(data.actions.codes) / len(data.rewards) - truth).mean()
    assert away < 0.3 * plain
    assert found.probabilities.min() > 0
    assert found.reliability.relative_error < 0.1
    np.testing.assert_array_equal(
        found.logged(data), found.probabilities[np.arange(len(data.rewards)), data.actions.codes]
    )


def test_where_nothing_is_to_be_learned_frequencies_win() -> None:
    data = logged(lambda states: np.tile([0.3, 0.7], (len(states), 1)))
    found = learn_behavior(data)
    assert np.abs(found.probabilities - [0.3, 0.7]).max() < 0.06
    assert found.likelihood - found.likelihoods["frequencies"] < 1e-3


def test_an_episode_does_not_judge_itself() -> None:
    """Every state occurs in one episode only, and the action is what the state's own coin says."""
    generator = np.random.default_rng(3)
    n, steps = 100, 5
    data = logged(lambda states: np.tile([0.5, 0.5], (len(states), 1)), n, steps, seed=4)
    own = np.repeat(generator.normal(size=(n, 2)), steps, axis=0)
    coin = np.repeat(generator.integers(0, 2, n), steps).astype(np.int32)
    data = Trajectories(
        own, Categorical(coin, (0, 1)), data.rewards, data.offsets, data.terminated, np.full((n, 2), np.nan)
    )
    found = learn_behavior(data)
    assert -np.log(found.logged(data)).mean() > 0.65


def test_the_behavior_may_depend_on_time() -> None:
    data = logged(lambda states: np.tile([0.5, 0.5], (len(states), 1)), seed=5)
    codes = np.where(data.steps < 4, 0, 1)
    flipped = np.random.default_rng(6).random(len(codes)) < 0.1
    data = Trajectories(
        data.observations,
        Categorical(np.where(flipped, 1 - codes, codes).astype(np.int32), (0, 1)),
        data.rewards,
        data.offsets,
        data.terminated,
        data.final_observations,
    )
    found = learn_behavior(data)
    assert np.abs(found.probabilities[:, 0] - np.where(data.steps < 4, 0.9, 0.1)).mean() < 0.03


@pytest.mark.parametrize(
    "kind", ["table", "frequencies", "logistic", "curves", "neighbors", "boosting", "larger trees"]
)
def test_what_was_learned_tells_of_other_episodes_as_of_its_own(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its own folds the same; any fold judges episodes that taught nothing, also states that nobody saw."""
    data = logged(table, 60, 5, whole=12) if kind == "table" else logged(logistic, 60, 5)
    monkeypatch.setattr("repbm.policies._behavior.KINDS", {kind: KINDS[kind]} if kind in KINDS else {})
    if kind != "table":
        monkeypatch.setattr("repbm.policies._behavior.numbered_states", lambda data: None)
    found = learn_behavior(data)
    assert found.kind == kind
    np.testing.assert_array_equal(np.bincount(found.folds), 12)
    np.testing.assert_allclose(found.elsewhere(data, found.folds), found.probabilities, rtol=1e-12)
    some = np.array([40, 3])
    part = found.elsewhere(data.take(some), found.folds[some])
    np.testing.assert_allclose(part, found.probabilities[data.positions(some)], rtol=1e-12)
    far = replace(data, observations=data.observations + 1000.0)
    others = found.elsewhere(far, np.arange(60) % 5)
    np.testing.assert_allclose(others.sum(axis=1), 1)
    assert others.min() > 0


def sites(states: np.ndarray) -> np.ndarray:
    """One place goes by a score of many columns, the other by waves."""
    by_score = 1 / (1 + np.exp(-2 * states[:, 2:] @ [1.0, -1.0, 1.0, -1.0]))
    by_rule = np.where(np.sin(3 * states[:, 0]) > 0, 0.95, 0.05)
    first = np.where(states[:, 1] > 0, by_score, by_rule)
    return np.column_stack([first, 1 - first])


def test_kinds_are_mixed_where_that_is_nearer_than_the_best_of_them() -> None:
    data = logged(sites, 400, 6, dimensions=6)
    found = learn_behavior(data)
    assert len(found.parts) > 1
    assert found.kind == ", ".join(part.kind for part in found.parts)
    counts = [part.count for part in found.parts]
    assert sum(counts) == pytest.approx(1)
    assert counts == sorted(counts, reverse=True)
    assert min(counts) >= 0.05
    assert found.likelihood > max(found.likelihoods.values())


def test_a_mixture_is_the_likeliest_of_all() -> None:
    """Of two guesses, one of which is right with 30 % of the steps, and the other one with 70 %."""
    draws, n = np.random.default_rng(0), 20_000
    odds = [np.tile(each, (n, 1)) for each in ([0.9, 0.1], [0.2, 0.8], [0.5, 0.5])]
    which = draws.random(n) < 0.3
    chance = np.where(which, odds[0][:, 0], odds[1][:, 0])
    codes = (draws.random(n) > chance).astype(int)
    counts = mixture(odds, codes, 0.05)
    assert counts.sum() == pytest.approx(1)
    mean = np.einsum("k,kna->na", counts, np.stack(odds))
    assert mean[0, 0] == pytest.approx((codes == 0).mean(), abs=1e-3)
    np.testing.assert_array_equal(mixture(odds[:1], codes, 0.05), [1.0])
    # A guess that hardly counts is left out, and the others take its share.
    assert mixture([odds[1], odds[0]], np.zeros(n, int), 0.05).tolist() == [0.0, 1.0]


def test_reliability_tells_what_is_off() -> None:
    generator = stream(0, "test")
    odds = np.tile([0.2, 0.8], (20_000, 1))
    codes = (generator.random(20_000) < 0.9).astype(np.int64)
    found = reliability(odds, codes)
    np.testing.assert_allclose(np.sort(found.predicted), [0.2, 0.8])
    np.testing.assert_allclose(np.sort(found.observed), [0.1, 0.9], atol=0.01)
    assert found.relative_error == pytest.approx(0.2, abs=0.02)
    assert reliability(np.tile([0.1, 0.9], (20_000, 1)), codes).relative_error < 0.02


def test_one_action_is_certain_and_one_episode_is_too_few() -> None:
    data = logged(lambda states: np.tile([1.0], (len(states), 1)), 5, 3)
    assert learn_behavior(data).probabilities == pytest.approx(1.0)
    with pytest.raises(InputError, match="one episode"):
        learn_behavior(data.take(np.array([0])))


def test_the_seed_decides() -> None:
    data = logged(logistic, 20, 5)
    one, other = learn_behavior(data, 3), learn_behavior(data, 3)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_few_steps_do_not_reassure() -> None:
    """Of 12 steps with two actions at 0.5 the share of one is off by 0.16 on average: less is not told."""
    found = reliability(np.full((12, 2), 0.5), np.tile([0, 1], 6))
    assert found.relative_error == 0
    assert found.decisions == 12
    assert found.chance_error == pytest.approx(np.sqrt(2 / np.pi) * np.sqrt(24 * 0.25) / 12)
    # Of predictions that are right, as many are found off as chance makes so.
    draws, odds = np.random.default_rng(0), np.tile([0.3, 0.7], (500, 1))
    drawn = [reliability(odds, (draws.random(500) < 0.7).astype(int)) for _ in range(200)]
    assert np.mean([one.relative_error for one in drawn]) == pytest.approx(drawn[0].chance_error, rel=0.15)


def test_a_note_says_what_few_steps_do_not_tell() -> None:
    done = np.tile([0, 1], 6)
    log = {"episode": np.arange(12), "obs": np.repeat([0.0, 1.0], 6)[:, None], "action": done, "reward": 1.0 * done}
    asked = {"estimators": ["wis"], "details": False}
    found = evaluate({**log, "terminated": np.ones(12, bool)}, lambda states: [1] * len(states), **asked)
    note = found.estimates["note"][0]
    assert "12 logged steps do not tell whether probabilities are off by " in note
    assert "off by 0.0%" not in note


def test_weights_that_do_not_average_1_have_several_causes() -> None:
    draws, n = np.random.default_rng(0), 400
    codes = draws.integers(0, 2, n)
    log = {"episode": np.arange(n), "obs": draws.normal(size=(n, 1)), "action": codes, "reward": 1.0 * codes}
    sentences = []
    for probability in (0.25, 0.9):
        told = {**log, "terminated": np.ones(n, bool), "behavior_prob": np.full(n, probability)}
        found = evaluate(told, lambda states: np.ones(len(states), int), estimators=["corrected"], details=False)
        (verdict,) = found.examination.verdicts.values()
        sentences.append(next(check.sentence for check in verdict.checks or () if check.name == "weights"))
    assert "should average 1: probabilities of logged actions are too small, or some episodes" in sentences[0]
    assert "should average 1: probabilities of logged actions are too large, some episodes" in sentences[1]
    assert "or the log lacks what the policy does" in sentences[1]
