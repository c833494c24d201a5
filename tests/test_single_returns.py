"""What single episodes earn in a fitted model: rewards as the log pays them, and no value changed by it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from repbm.core import InputError
from repbm.data import Categorical, Trajectories
from repbm.domains import TabularWorld
from repbm.models import AM, POLYNOMIAL, ContinuousModel, fit_closed_form, fit_tabular, load_model
from repbm.models.parts._noise import LocalNoise
from repbm.models.parts._outcomes import ENDED, UNKNOWN, Outcomes
from repbm.models.parts._reward_noise import ExactRewards, LastStepRewards, ScatteredRewards, Steps, ValuedRewards
from repbm.models.parts._reward_noise_fit import _valued
from repbm.policies import CallablePolicy, TabularPolicy
from tests.laws.worlds import enumerated, every_path, log_of

HALF = CallablePolicy(lambda x: np.full((len(x), 2), 0.5), actions=(0, 1), name="half")
ALWAYS = CallablePolicy(lambda x: np.ones(len(x), dtype=int), actions=(0, 1), name="always")

Earned = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def one_step(earned: Earned, episodes: int = 600, seed: int = 0) -> Trajectories:
    """A state from -1 to 1, two actions at random, and what is earned by them at once."""
    generator = np.random.default_rng(seed)
    states, actions = generator.uniform(-1, 1, (episodes, 1)), generator.integers(0, 2, episodes)
    return Trajectories(
        observations=states,
        actions=Categorical(actions.astype(np.int32), (0, 1)),
        rewards=earned(states[:, 0], actions, generator).astype(np.float64),
        offsets=np.arange(episodes + 1),
        terminated=np.ones(episodes, dtype=bool),
        final_observations=np.full((episodes, 1), np.nan),
        behavior=np.full(episodes, 0.5),
    )


def paid_at_the_end(episodes: int = 500, seed: int = 0) -> Trajectories:
    """A walk that ends by chance, the sooner the higher it is, and pays 1 or 0 with its end; at most six steps."""
    generator = np.random.default_rng(seed)
    rows, lengths, terminated, final = [], [], [], []
    for _ in range(episodes):
        state, steps = generator.normal(), 0
        while True:
            steps += 1
            action = int(generator.integers(0, 2))
            ended = generator.random() < 0.15 + 0.2 * (state > 0)
            following = 0.7 * state + 0.5 * generator.normal()
            last = ended or steps == 6
            rows.append((state, action, float(last and generator.random() < (0.8 if state > 0 else 0.4))))
            state = following
            if last:
                break
        lengths.append(steps)
        terminated.append(ended)
        final.append([state])
    seen, actions, rewards = map(np.asarray, zip(*rows, strict=True))
    return Trajectories(
        observations=seen[:, None],
        actions=Categorical(actions.astype(np.int32), (0, 1)),
        rewards=rewards,
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        terminated=np.asarray(terminated),
        final_observations=np.asarray(final),
    )


def steps(count: int) -> Steps:
    zeros = np.zeros((count, 1))
    return Steps(zeros, zeros, np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool))


def test_zeros_and_ones_are_drawn_as_such_and_as_often_as_expected() -> None:
    model = fit_closed_form(one_step(lambda s, a, g: g.random(len(s)) < 0.5 + 0.3 * s), None, AM, 1)
    assert isinstance(model.reward_noise, ValuedRewards)
    states = np.tile([[-0.8], [0.8]], (1, 1))
    drawn = model.returns(HALF, states, rollouts=4000)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    # Four standard errors of a share of 4,000, on top of what the fit misses: one seed, drawn in the model itself.
    np.testing.assert_allclose(drawn.mean(axis=0), model.values(HALF, states, rollouts=256).values, atol=0.032 + 0.02)


def test_of_a_few_values_the_mean_is_kept() -> None:
    """For every mean between the least and the most, to four standard errors of 20,000 draws."""
    values = np.array([-1.0, 0.0, 5.0])
    noise = _valued(values, np.repeat(values, [20, 70, 10]), np.zeros(100, dtype=np.int64), 1)
    generator = np.random.default_rng(0)
    for mean in (-1.0, -0.7, 0.3, 2.13, 4.9, 5.0):
        drawn = noise.draw(generator, np.full(20_000, mean), steps(20_000))
        assert set(np.unique(drawn)) <= set(values)
        assert abs(drawn.mean() - mean) <= 4 * drawn.std() / np.sqrt(20_000) + 1e-9
    beyond = noise.draw(generator, np.array([-7.0, 9.0]), steps(2))
    np.testing.assert_array_equal(beyond, [-1.0, 5.0])


def test_scatter_follows_the_state_where_it_does() -> None:
    """0.1 on one side and 1 on the other; alike everywhere, one pool."""
    model = fit_closed_form(
        one_step(lambda s, a, g: s + np.where(s > 0, 1.0, 0.1) * g.normal(size=len(s))), None, AM, 1
    )
    assert isinstance(model.reward_noise, ScatteredRewards)
    assert isinstance(model.reward_noise.noise, LocalNoise)
    quiet, wide = model.returns(HALF, np.array([[-0.7], [0.7]]), rollouts=2000).std(axis=0)
    assert quiet < 0.3
    assert 0.7 < wide < 1.3
    alike = fit_closed_form(one_step(lambda s, a, g: s + g.normal(size=len(s))), None, AM, 1)
    assert isinstance(alike.reward_noise, ScatteredRewards)
    assert not isinstance(alike.reward_noise.noise, LocalNoise)


def test_rewards_without_noise_are_not_disturbed() -> None:
    model = fit_closed_form(one_step(lambda s, a, g: 1 + s * (1 + a)), None, AM, 1)
    assert isinstance(model.reward_noise, ExactRewards)
    states = np.array([[-0.5], [0.25]])
    np.testing.assert_allclose(
        model.returns(ALWAYS, states, rollouts=2), np.tile(1 + 2 * states[:, 0], (2, 1)), atol=1e-9
    )
    same = fit_closed_form(one_step(lambda s, a, g: np.full(len(s), 0.1)), None, AM, 1)
    np.testing.assert_array_equal(same.returns(ALWAYS, states), np.full((1, 2), 0.1))


@pytest.fixture(scope="module")
def ending() -> ContinuousModel:
    return fit_closed_form(paid_at_the_end(), None, AM, 6, kind=POLYNOMIAL)


def test_what_is_paid_with_the_end_is_paid_once(ending: ContinuousModel) -> None:
    """By the world or by time: of the drawn episodes none is paid twice, and as many as in the log are paid.

    The share of 500 logged episodes has a standard error of 0.022, and so has the fit to them; four of both.
    """
    data = paid_at_the_end()
    assert isinstance(ending.reward_noise, LastStepRewards)
    drawn = ending.returns(HALF, data.initial_observations, rollouts=8)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert abs(drawn.mean() - data.returns().mean()) < 4 * np.hypot(0.022, 0.022)


def test_no_value_depends_on_it(ending: ContinuousModel) -> None:
    states = paid_at_the_end(50).initial_observations
    without = replace(ending, reward_noise=None)
    np.testing.assert_array_equal(
        ending.values(HALF, states, rollouts=4).values, without.values(HALF, states, rollouts=4).values
    )


def test_models_are_saved_with_it_and_older_ones_are_read_without(ending: ContinuousModel, tmp_path: Path) -> None:
    states = paid_at_the_end(20).initial_observations
    ending.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.returns(HALF, states, seed=3), ending.returns(HALF, states, seed=3))
    table = fit_tabular(_table_log(60), None, AM, 3)
    table.save(tmp_path / "table.npz")
    at, half = table.states[:2], TabularPolicy(np.full((4, 2), 0.5))
    np.testing.assert_array_equal(load_model(tmp_path / "table.npz").returns(half, at), table.returns(half, at))
    for name, field in (("model", "reward_noise"), ("table", "outcomes")):
        older = load_model(_as_format_3(tmp_path / f"{name}.npz", field))
        with pytest.raises(InputError, match="does not know what single rewards are"):
            older.returns(half if name == "table" else HALF, at if name == "table" else states)


def _as_format_3(path: Path, missing: str) -> Path:
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if not name.startswith(f"model.{missing}")}
    description = json.loads(str(arrays["description"]))
    description["format"] = 3
    del description["model"]["fields"][missing]
    content = io.BytesIO()
    np.savez(content, **{**arrays, "description": np.asarray(json.dumps(description))})
    older = path.with_name(f"older-{path.name}")
    older.write_bytes(content.getvalue())
    return older


def _table_log(episodes: int) -> Trajectories:
    world = TabularWorld.random(4, 2, 3, np.random.default_rng(3))
    return world.collect(np.full((4, 2), 0.5), episodes, np.random.default_rng(4))


def test_outcomes_go_together_and_where_the_log_stopped_others_tell() -> None:
    pairs = np.array([0, 0, 0, 2, 2, 5])
    following = np.array([1, ENDED, ENDED, UNKNOWN, 3, UNKNOWN])
    outcomes = Outcomes.of(pairs, following, np.array([10.0, 20.0, 20.0, 30.0, 40.0, 50.0]), np.ones(6))
    assert len(outcomes.rewards) == 5
    asked = np.repeat([0, 2, 5], 3000)
    after, earned = outcomes.draw(np.random.default_rng(0), asked)
    assert set(zip(after[:3000].tolist(), earned[:3000].tolist(), strict=True)) == {(1, 10.0), (ENDED, 20.0)}
    assert set(after[3000:6000].tolist()) == {3}
    assert set(earned[3000:6000].tolist()) == {30.0, 40.0}
    assert set(after[6000:].tolist()) == {ENDED}
    # A third of 3,000, and four standard errors.
    assert abs((after[:3000] == 1).mean() - 1 / 3) < 4 * 0.0086


@pytest.mark.parametrize("episodes", [8, 200])
def test_a_table_draws_returns_of_the_mean_that_its_values_say(episodes: int) -> None:
    """Also where the log lacks states and actions. To 4.5 standard errors of 20,000 draws, two of three states and two
    logs: a false alarm in 20,000 runs; the seed is fixed."""
    model = fit_tabular(_table_log(episodes), None, AM, 3)
    policy, at = TabularPolicy(np.array([[0.9, 0.1]] * 4)), model.states[:2]
    drawn = model.returns(policy, at, discount=0.9, rollouts=20_000)
    expected = model.values(policy, at, discount=0.9).values
    assert (np.abs(drawn.mean(axis=0) - expected) < 4.5 * drawn.std(axis=0) / np.sqrt(20_000)).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_two_steps_of_a_known_table(seed: int) -> None:
    """A model of 20,000 logged episodes against every episode of the world, weighted by its probability.

    The distance of 20,000 returns from the truth is below 1.95 / sqrt(20,000) in 999 of 1,000 samples; that of the
    model's own frequencies is as large. False alarms: fewer than one in 300 for all three worlds.
    """
    world = enumerated(seed)
    data = world.world.collect(world.behavior, 20_000, np.random.default_rng(seed))
    model = fit_tabular(data, None, AM, world.world.horizon)
    drawn = np.sort(model.returns(TabularPolicy(world.policy), data.initial_observations, discount=0.9)[0])
    paths = every_path(world.world, world.policy)
    returns = log_of(world.world, world.policy, paths).returns(0.9)
    chances = np.array([path.probability for path in paths])
    places = np.unique(returns)
    true = np.array([chances[returns <= at + 1e-9].sum() for at in places])
    found = np.searchsorted(drawn, places + 1e-9, side="right") / len(drawn)
    assert np.abs(true - found).max() < 2.5 * 1.95 / np.sqrt(20_000)


@pytest.mark.slow
def test_one_noisy_step_of_a_known_world() -> None:
    """r = s (1 + a) + (0.3 + 0.5 [s > 0]) e under "always 1", e normal: quantiles of ten logs of 1,000 episodes.

    A quantile of 1,000 returns has a standard error below 0.016 in shares at the median, and so has the model's own
    fit; the mean of ten logs a third of that. Off by at most 0.03 on average: three standard errors of both.
    """

    def earned(s: np.ndarray, a: np.ndarray, g: np.random.Generator) -> np.ndarray:
        return s * (1 + a) + (0.3 + 0.5 * (s > 0)) * g.normal(size=len(s))

    generator = np.random.default_rng(99)
    s = generator.uniform(-1, 1, 400_000)
    truth = np.sort(earned(s, np.ones(len(s)), generator))
    off = []
    for seed in range(10):
        data = one_step(earned, 1000, seed)
        drawn = fit_closed_form(data, None, AM, 1, seed).returns(ALWAYS, data.initial_observations, rollouts=8)
        levels = (0.05, 0.25, 0.5, 0.75, 0.95)
        off.append(np.searchsorted(truth, np.quantile(drawn, levels)) / len(truth) - levels)
    assert np.abs(np.mean(off, axis=0)).max() < 0.03, np.mean(off, axis=0)
    assert np.abs(off).max() < 0.08
