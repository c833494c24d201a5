"""Fitted models: exact where the world is simple, honest where the log is thin, the same after a round trip."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.core import FitRules, InputError, stream
from repbm.critics import ModelCritic
from repbm.data import Categorical, Trajectories
from repbm.domains import CartPole, MountainCar, TabularWorld, benchmark_policy, collect, truth
from repbm.estimators import Case
from repbm.evaluation import Fitting, Reading
from repbm.logs import log_frame
from repbm.models import (
    AM,
    AM_PI,
    BOTH_RISKS,
    ContinuousModel,
    fit_closed_form,
    fit_tabular,
    load_model,
    roll_out,
    save_model,
)
from repbm.models._tabular import value_weighted_loss
from repbm.models.parts._reward import PolynomialReward
from repbm.models.parts._saturation import find_saturation
from repbm.models.parts._termination import Box, Logistic, Never
from repbm.models.parts._termination_fit import fit_termination
from repbm.models.regression._features import exponents, features
from repbm.models.transitions._padding import bucket, padded
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable
from repbm.policies import CallablePolicy, NetworkPolicy, Softened, TabularPolicy
from tests.laws.worlds import enumerated
from tests.systems import QUICK, curved_step, linear_step, logged, policy_action, reward

SHORT = benchmark_policy("cartpole-short")


@pytest.fixture(scope="module")
def cartpole() -> Trajectories:
    return collect(CartPole(), SHORT, 150, np.random.default_rng(0), epsilon=0.2)


@pytest.fixture(scope="module")
def model(cartpole: Trajectories) -> ContinuousModel:
    return fit_closed_form(cartpole, Case.of(cartpole, SHORT).support, BOTH_RISKS, 200)


def test_individual_values_of_a_noise_free_world(cartpole: Trajectories, model: ContinuousModel) -> None:
    """150 episodes are enough for nearly everyone's length to the step."""
    expected = truth(CartPole(), SHORT, cartpole.initial_observations)
    rolled = roll_out(model, SHORT, cartpole.initial_observations, np.full(len(cartpole), 200))
    errors = rolled.values - expected
    assert abs(errors.mean()) < 0.05
    assert np.sqrt((errors**2).mean()) < 0.3


def test_a_callable_gives_the_same_values_as_the_network_it_wraps(
    cartpole: Trajectories, model: ContinuousModel
) -> None:
    states, left = cartpole.initial_observations[:40], np.full(40, 50)
    traced = roll_out(model, SHORT, states, left)
    foreign = roll_out(model, CallablePolicy(lambda x: SHORT.scores(x).argmax(axis=1)), states, left)
    np.testing.assert_allclose(foreign.values, traced.values)
    np.testing.assert_array_equal(foreign.left_range, traced.left_range)


def test_first_actions_and_steps_left_and_discount(cartpole: Trajectories, model: ContinuousModel) -> None:
    """Q of the policy's own action is V; one step left is the reward; the discount is that of a reward 1 a step."""
    states = cartpole.initial_observations[:30]
    value = roll_out(model, SHORT, states, np.full(30, 10), discount=0.5)
    own = SHORT.scores(states).argmax(axis=1)
    first = roll_out(model, SHORT, states, np.full(30, 10), first_actions=own, discount=0.5)
    np.testing.assert_allclose(first.values, value.values)
    np.testing.assert_allclose(roll_out(model, SHORT, states, np.full(30, 1)).values, 1.0, atol=1e-9)
    np.testing.assert_allclose(value.values, 2 - 0.5**9, atol=1e-6)


def test_walks_that_begin_with_the_logged_action_serve_action_values_too() -> None:
    """Every step 4000 times over: mean Q and V against all action sequences, within five standard errors."""
    system, copies, chance = logged(5, episodes=200), 4000, 0.6
    model = fit_closed_form(system.data, system.support, AM, 3)
    policy = Softened(NetworkPolicy([(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.0, -0.2]))]), chance)
    data = system.data.take(np.zeros(copies, dtype=int)).until(3)
    asked = Case.of(data, policy, 0.9, 3)
    critic = ModelCritic(model, "am", step_rollouts=2)
    logged_values, values = critic(asked)

    def value(state: np.ndarray, left: int) -> float:
        if left == 0:
            return 0.0
        own = policy_action(state[None])[0]
        return sum(
            ((1 - chance) * (action == own) + chance / 2) * action_value(state, action, left) for action in range(2)
        )

    def action_value(state: np.ndarray, action: int, left: int) -> float:
        at, taken = state[None], np.array([action])
        return float(reward(at, taken)[0]) + 0.9 * value(linear_step(at, taken)[0], left - 1)

    for t in range(3):
        rows = data.starts + t
        state, action = data.observations[t], int(data.actions.codes[t])
        for found, exact in (
            (logged_values[rows], action_value(state, action, 3 - t)),
            (values[rows], value(state, 3 - t)),
        ):
            assert abs(found.mean() - exact) < 5 * found.std() / np.sqrt(copies) + 1e-6


def test_a_saved_model_answers_the_same(tmp_path, cartpole: Trajectories, model: ContinuousModel) -> None:
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert isinstance(loaded, ContinuousModel)
    states, left = cartpole.initial_observations, np.full(len(cartpole), 200)
    np.testing.assert_array_equal(
        roll_out(loaded, SHORT, states, left).values, roll_out(model, SHORT, states, left).values
    )
    assert loaded.labels == model.labels
    assert loaded.observation_names == ("position", "velocity", "angle", "angular_velocity")


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04"])
def test_other_files_are_no_models(tmp_path, content: bytes) -> None:
    (tmp_path / "model.npz").write_bytes(content)
    with pytest.raises(InputError, match="no model file"):
        load_model(tmp_path / "model.npz")


def test_a_model_of_another_format_is_refused(tmp_path, model: ContinuousModel, monkeypatch) -> None:
    monkeypatch.setattr("repbm.models._store.FORMAT", 99)
    save_model(model, tmp_path / "model.npz")
    monkeypatch.undo()
    with pytest.raises(InputError, match="format 99"):
        load_model(tmp_path / "model.npz")


def test_the_wall_of_mountaincar_is_found() -> None:
    """The left wall stops the position and resets the velocity; nothing is known of it but the log."""
    policy = CallablePolicy(lambda x: np.where(x[:, 1] < 0, 0, 2), actions=MountainCar.actions)
    data = collect(MountainCar(), policy, 60, np.random.default_rng(1), epsilon=0.2)
    saturation, decided = find_saturation(TransitionTable.of(data, None), FitRules())
    assert saturation.low[0] == np.float32(-1.2)
    assert saturation.reset_low[0, 1] == 0
    hit = data.next_observations()[:, 0] == np.float32(-1.2)
    np.testing.assert_array_equal(decided[:, 0] & hit, hit)


def test_no_saturation_in_a_smooth_world(cartpole: Trajectories) -> None:
    assert find_saturation(TransitionTable.of(cartpole, None), FitRules())[0].dimensions == ()


def test_termination_is_found_and_censored_ends_are_not_negatives() -> None:
    """In a log of random actions, which let the pole fall on both sides."""
    cartpole = collect(CartPole(), SHORT, 150, np.random.default_rng(0), epsilon=1.0)
    sample = TransitionTable.of(cartpole, None)
    found = fit_termination(sample, Range.of(sample))
    assert isinstance(found, Box)
    # The pole may fall to one side only: a face that is never reached is not there.
    sides = [(found.high[2], found.above[2]), (-found.low[2], -found.below[2])]
    faces = [side for side in sides if np.isfinite(side).all()]
    assert faces
    for inner, outer in faces:
        assert inner <= 12 * 2 * np.pi / 360 <= outer
        assert outer - inner < 5e-3
    # The same log, cut off by its keeper one step before every end: nothing is said of ends at all.
    cut = cartpole.take(cartpole.lengths > 5).until(5)
    assert not cut.terminated.any()
    assert isinstance(fit_termination(TransitionTable.of(cut, None), Range.of(sample)), Never)


def test_random_termination_is_calibrated() -> None:
    """A world that ends with probability 0.05 + 0.6 s at every step: the log's rate is met, not a balanced one."""
    generator = np.random.default_rng(0)
    position = generator.uniform(0, 1, (20_000, 1))
    ended = generator.random(20_000) < 0.05 + 0.6 * position[:, 0]
    # Every step is judged, as in the middle of longer episodes.
    sample = replace(one_step_log(position, position, ended), judged=np.ones(20_000, dtype=bool))
    found = fit_termination(sample, Range.of(sample))
    assert isinstance(found, Logistic)
    grid = np.array([[0.1], [0.5], [0.9]])
    # Standard errors of the fitted rates are below 0.01 here; 4 of them.
    np.testing.assert_allclose(np.asarray(found(jnp.asarray(grid))), 0.05 + 0.6 * grid[:, 0], atol=0.04)


def test_a_steep_slanted_edge_has_the_likeliest_form() -> None:
    """No box cuts it. At the optimum of the penalized likelihood X'(y - p) = 0.001 c, for the intercept 0."""
    position = np.random.default_rng(0).uniform(-1, 1, (20_000, 2))
    side = position[:, 0] + position[:, 1] - 1
    ended = np.random.default_rng(1).random(20_000) < 1 / (1 + np.exp(-200 * side))
    sample = replace(one_step_log(position, position, ended), judged=np.ones(20_000, dtype=bool))
    box = Range.of(sample)
    found = fit_termination(sample, box)
    assert isinstance(found, Logistic)
    x = features(box.place(position), exponents(2, found.degree), np)
    coefficients = np.asarray(found.coefficients)
    slope = x.T @ (ended - 1 / (1 + np.exp(-x @ coefficients)))
    np.testing.assert_allclose(slope, np.append(0.0, 1e-3 * coefficients[1:]), atol=1e-6)


def test_a_single_state_that_goes_on() -> None:
    """Without it the log shows ends only: a fold that is fitted to those says so, and the whole still has a form."""
    position = np.linspace(0, 1, 50)[:, None]
    ended = np.arange(50) != 20
    sample = replace(one_step_log(position, position, ended), judged=np.ones(50, dtype=bool))
    found = np.asarray(fit_termination(sample, Range.of(sample))(jnp.asarray(position)))
    assert np.isfinite(found).all()
    assert found.mean() > 0.9


def one_step_log(states: np.ndarray, following: np.ndarray, ended: np.ndarray) -> TransitionTable:
    n = len(states)
    return TransitionTable.of(
        Trajectories(
            observations=states,
            actions=Categorical(np.zeros(n, np.int32), (0,)),
            rewards=np.zeros(n),
            offsets=np.arange(n + 1),
            terminated=ended,
            final_observations=following,
        ),
        None,
    )


def test_rewards_of_the_state_after_are_recognised(cartpole: Trajectories) -> None:
    after = replace(cartpole, rewards=cartpole.next_observations()[:, 2] ** 2 * 100)
    fitted = fit_closed_form(after, None, AM, 200)
    assert fitted.reward.after  # type: ignore[attr-defined]
    before = replace(cartpole, rewards=cartpole.observations[:, 0] * 3)
    assert not fit_closed_form(before, None, AM, 200).reward.after  # type: ignore[attr-defined]


def test_rewards_in_plain_units_of_logarithmic_observations() -> None:
    """r = 3 y_0 - 0.2 y_1 - cost of the state y after a step, logged as its logarithm: found exactly in any base."""
    log, fresh = logged(6, episodes=200, step=curved_step), logged(7, step=curved_step)

    def paid(data: Trajectories, base: float) -> Trajectories:
        plain = 10 ** data.next_observations()
        unit = np.log(10) / np.log(base)
        return replace(
            data,
            observations=data.observations * unit,
            final_observations=data.final_observations * unit,
            rewards=plain @ np.array([3.0, -0.2]) - np.array([0.0, 5.0])[data.actions.codes],
        )

    for base in (10.0, float(np.e), 2.0):
        model = fit_closed_form(paid(log.data, base), log.support, AM, 8)
        assert isinstance(model.reward, PolynomialReward)
        assert (model.reward.base, model.reward.after, model.reward.polynomial.degree) == (base, True, 1)
        # States beyond the box of the log count as its border.
        following, expected = paid(fresh.data, base).next_observations(), paid(fresh.data, base).rewards
        inside = ((following > model.low) & (following < model.high)).all(axis=1)
        found = np.asarray(model.reward(jnp.asarray(following), jnp.asarray(following)))
        mine = found[np.arange(len(found)), fresh.data.actions.codes]
        np.testing.assert_allclose(mine[inside], expected[inside], rtol=1e-3, atol=1e-3)
    assert fit_closed_form(log.data, log.support, AM, 8).reward.base is None  # type: ignore[attr-defined]
    # Numbers whose powers are beyond floating point are left as they are.
    large = replace(log.data, observations=log.data.observations * 1e4)
    rewards = np.sin(log.data.observations[:, 0] * 9)
    assert fit_closed_form(replace(large, rewards=rewards), None, AM, 8).reward.base is None  # type: ignore[attr-defined]


def test_noise_is_noticed_and_only_where_it_is(cartpole: Trajectories) -> None:
    assert fit_closed_form(cartpole, None, AM, 200).noise is None
    noisy = collect(CartPole(noise=0.02), SHORT, 150, np.random.default_rng(0), epsilon=0.2)
    assert fit_closed_form(noisy, None, AM, 200).noise is not None


def test_tabular_values_are_those_of_dynamic_programming_in_the_frequencies() -> None:
    """With every episode logged in proportion to its probability, frequencies are the world itself."""
    known = enumerated(5, states=3, actions=2, horizon=3)
    counts = np.round(known.probability * 4000).astype(int)
    data = known.data.take(np.repeat(np.arange(len(known.data)), counts))
    fitted = fit_tabular(data, None, AM, 3)
    states = fitted.states[:, 0].astype(int)
    for s in range(len(states)):
        for a in range(2):
            rows = (data.observations[:, 0] == states[s]) & (data.actions.codes == a)
            following = data.next_observations()[rows, 0]
            frequency = np.bincount(following.astype(int), minlength=3) / rows.sum()
            frequency[known.world.terminal] = 0
            np.testing.assert_allclose(fitted.moves[s * 2 + a].toarray()[0], frequency[states], atol=1e-12)
    world = replace(known.world, transitions=_dense(fitted, known.world), terminal=np.array([False, False, True]))
    table = fitted.action_values(TabularPolicy(known.policy), 0.9)
    expected = world.action_values(known.policy, 0.9)
    np.testing.assert_allclose(table[::-1], expected[:, states], atol=1e-10)


def _dense(fitted, world: TabularWorld) -> np.ndarray:
    """The fitted moves as transitions of the world, the rest to the terminal state."""
    states = fitted.states[:, 0].astype(int)
    moves = np.zeros_like(world.transitions)
    moves[:, :, -1] = 1
    for k, s in enumerate(states):
        for a in range(moves.shape[1]):
            row = np.zeros(len(world.initial))
            row[states] = fitted.moves[k * moves.shape[1] + a].toarray()[0]
            row[-1] += 1 - row.sum()
            moves[s, a] = row
    return moves


def test_weighted_frequencies_minimise_the_value_weighted_loss_for_any_target() -> None:
    """No perturbation of the table, for several targets V >= 0, has a smaller loss."""
    generator = np.random.default_rng(0)
    pairs, following = generator.integers(0, 4, 300), generator.integers(0, 5, 300)
    weights = generator.uniform(0.1, 3, 300)
    table = np.zeros((4, 5))
    np.add.at(table, (pairs, following), weights)
    table /= table.sum(axis=1, keepdims=True)
    for _ in range(5):
        values = generator.uniform(0, 10, 5)
        best = value_weighted_loss(table, pairs, following, weights, values)
        for _ in range(10):
            other = table + generator.normal(scale=1e-3, size=table.shape)
            assert value_weighted_loss(other, pairs, following, weights, values) >= best


def test_evaluate_prefers_a_table_where_states_are_few() -> None:
    known = enumerated(5, states=4, actions=2, horizon=4)
    data = known.world.collect(known.behavior, 4000, np.random.default_rng(0))
    found = (
        evaluate(data, known.policy, estimators=["repbm", "am", "wdr(am)"], horizon=4, details=False)
        .estimates["value"]
        .to_numpy()
    )
    # The spread of the returns of 4,000 episodes is about 0.03 here; 4 of them.
    np.testing.assert_allclose(found, known.truth(), atol=0.12)


THIN = {
    "one episode": lambda frame: frame.filter(pl.col("episode") == 0),
    "episodes of length 1": lambda frame: frame.filter(pl.col("step") == 0).with_columns(terminated=True),
    "constant column": lambda frame: frame.with_columns(obs_angle=pl.lit(0.5)),
    "huge rewards": lambda frame: frame.with_columns(reward=pl.col("reward") * 1e12),
    "no final states": lambda frame: frame.filter(pl.col("action").is_not_null()),
}


@pytest.mark.slow
@pytest.mark.parametrize("thin", THIN.values(), ids=THIN.keys())
def test_thin_logs_still_give_possible_values(cartpole: Trajectories, thin) -> None:
    """Between 0 and 20 rewards a person; an episode that must end after one step is worth one reward."""
    frame = thin(log_frame(cartpole.take(np.arange(30))))
    # One of them in compiled code, which takes seconds to compile; the others in NumPy.
    policy = SHORT if thin is THIN["no final states"] else CallablePolicy(lambda x: SHORT.scores(x).argmax(axis=1))
    asked = {"estimators": ["repbm", "am", "dr(repbm)"], "horizon": 20, "thresholds": QUICK, "details": False}
    estimates = evaluate(frame, policy, **asked).estimates
    values = estimates["value"].to_numpy()[:2] / frame["reward"].max()
    assert (values >= 0.999).all()
    assert (values <= 20.001).all()
    if thin is THIN["episodes of length 1"]:
        np.testing.assert_allclose(values, 1.0)


@pytest.mark.slow
def test_huge_rewards_scale_the_value(cartpole: Trajectories) -> None:
    data = cartpole.take(np.arange(40))
    one, other = (
        evaluate(
            replace(data, rewards=factor * data.rewards),
            SHORT,
            estimators=["repbm"],
            horizon=30,
            thresholds=QUICK,
            details=False,
        ).estimates["value"][0]
        for factor in (1.0, 1e12)
    )
    assert other == pytest.approx(1e12 * one, rel=1e-6)


def test_a_policy_that_no_episode_follows() -> None:
    """RepBM learns from the other episodes; the purely re-weighted model says that it cannot."""
    data = collect(CartPole(), SHORT, 40, np.random.default_rng(0))
    opposite = CallablePolicy(lambda x: 1 - SHORT.scores(x).argmax(axis=1))
    assert Case.of(data, opposite).support.factual_count.sum() == 0
    estimates = evaluate(
        data, opposite, estimators=["repbm", "am"], horizon=50, thresholds=QUICK, details=False
    ).estimates
    assert estimates["value"].is_not_null().all()
    with pytest.raises(InputError, match="no episode follows the policy even at its first step"):
        evaluate(data, opposite, estimators=["am-pi"], horizon=50, details=False)
    assert AM_PI.target


def test_a_policy_that_fails_off_the_log_gives_its_own_message(cartpole: Trajectories) -> None:
    logged = {tuple(row) for row in cartpole.observations.tolist()}

    def picky(observations: np.ndarray) -> np.ndarray:
        for row in observations.tolist():
            if tuple(row) not in logged:
                raise ValueError("never saw this state")
        return SHORT.scores(observations).argmax(axis=1)

    with pytest.raises(InputError, match="never saw this state"):
        evaluate(cartpole, picky, estimators=["repbm"], horizon=20, details=False)


def test_a_policy_with_actions_beyond_the_log_is_refused_by_models(cartpole: Trajectories) -> None:
    def third(observations: np.ndarray) -> np.ndarray:
        return np.where(observations[:, 2] > 0, 2, 0)

    with pytest.raises(InputError, match="action"):
        evaluate(cartpole, third, estimators=["repbm"], horizon=20, details=False)


def test_models_need_a_policy_that_acts_anywhere(cartpole: Trajectories) -> None:
    frame = log_frame(cartpole).with_columns(pi=pl.col("action"))
    with pytest.raises(InputError, match="logged steps only"):
        evaluate(
            frame, "column:pi", estimators=["repbm"], reading=Reading({"obs": "obs_position,obs_angle"}), details=False
        )


def test_cross_fitted_critics_never_judge_what_they_were_fitted_to() -> None:
    """The direct method by folds is, for every episode, the value in the table fitted to the other folds."""
    known = enumerated(8, states=4, actions=2, horizon=3)
    data = known.world.collect(known.behavior, 300, np.random.default_rng(1))
    policy = TabularPolicy(known.policy)
    whole = (
        evaluate(data, policy, estimators=["am", "dr(am)"], fitting=Fitting(folds=1), details=False)
        .estimates["value"]
        .to_numpy()
    )
    folded = (
        evaluate(data, policy, estimators=["am", "dr(am)"], fitting=Fitting(folds=3), details=False)
        .estimates["value"]
        .to_numpy()
    )
    assert (whole != folded).all()
    by_hand = np.empty(300)
    folds = stream(0, "folds").permutation(300) % 3
    for k in range(3):
        model = fit_tabular(data.take(folds != k), None, AM, 3)
        values = np.einsum(
            "sa,sa->s", policy.probabilities(model.states, model.labels), model.action_values(policy)[-1]
        )
        by_hand[folds == k] = values[model.find(data.initial_observations[folds == k])]
    assert folded[0] == pytest.approx(by_hand.mean())
    with pytest.raises(InputError, match="301 folds"):
        evaluate(data, policy, estimators=["am"], fitting=Fitting(folds=301), details=False)


def test_a_saved_table_answers_the_same(tmp_path) -> None:
    known = enumerated(8, states=4, actions=2, horizon=3)
    data = known.world.collect(known.behavior, 200, np.random.default_rng(1))
    fitted, policy = fit_tabular(data, None, AM, 3), TabularPolicy(known.policy)
    save_model(fitted, tmp_path / "table.npz")
    loaded = load_model(tmp_path / "table.npz")
    states = data.initial_observations
    np.testing.assert_array_equal(loaded.values(policy, states).values, fitted.values(policy, states).values)
    with pytest.raises(InputError, match="does not show the state 77"):
        loaded.values(policy, np.array([[77.0]]))


def test_losses_of_a_table_are_those_of_the_definition() -> None:
    """Every step by hand: squared reward error plus squared differences of probabilities, the end one more state."""
    known = enumerated(8, states=4, actions=2, horizon=3)
    data = known.world.collect(known.behavior, 60, np.random.default_rng(1))
    fitted = fit_tabular(data, None, AM, 3)
    moves, following = fitted.moves.toarray(), data.next_observations()
    found = fitted.losses(data)
    last = np.zeros(len(found), dtype=bool)
    last[data.lasts] = data.terminated
    for k in range(len(found)):
        s, a = fitted.find(data.observations[k : k + 1])[0], data.actions.codes[k]
        row = np.append(moves[s * 2 + a], 1 - moves[s * 2 + a].sum())
        hit = np.zeros_like(row)
        hit[-1 if last[k] else fitted.find(following[k : k + 1])[0]] = 1
        expected = (fitted.rewards[s, a] - data.rewards[k]) ** 2 + ((row - hit) ** 2).sum()
        assert found[k] == pytest.approx(expected, abs=1e-12)


def test_arrays_come_in_few_lengths() -> None:
    assert [bucket(n, 4) for n in (0, 1, 4, 5, 8, 9)] == [4, 4, 4, 8, 8, 16]
    assert [bucket(n, 1) for n in (0, 1, 2, 3)] == [1, 1, 2, 4]
    np.testing.assert_array_equal(padded(np.array([[1.0, 2.0]]), 2, fill=7), [[1.0, 2.0], [7.0, 7.0]])


def test_columns_of_two_values_have_no_range_to_leave() -> None:
    """A model's 0.99 or 1.01 for a 1 is no state beyond the log."""
    states = np.array([[0.0, 1.5], [1.0, 2.5], [0.0, 3.0]])
    low, high = Range.over(states).counted(states)
    np.testing.assert_array_equal(low, [-np.inf, 1.5])
    np.testing.assert_array_equal(high, [np.inf, 3.0])
