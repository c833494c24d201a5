"""A model as a critic: where it is asked, what its rollouts count for, and batches that shrink on the way."""

from __future__ import annotations

import numpy as np
import pytest

from repbm.critics import ModelCritic
from repbm.data import Trajectories
from repbm.domains import CartPole, benchmark_policy, collect
from repbm.estimators import Case, DoublyRobust
from repbm.experiments.as_published import StepSampling, hard_model_values
from repbm.models import AM, ContinuousModel, fit_closed_form, roll_out

SHORT = benchmark_policy("cartpole-short")


@pytest.fixture(scope="module")
def log() -> Trajectories:
    return collect(CartPole(), SHORT, 40, np.random.default_rng(0), epsilon=0.2)


@pytest.fixture(scope="module")
def model(log: Trajectories) -> ContinuousModel:
    return fit_closed_form(log, Case.of(log, SHORT).support, AM, 200)


@pytest.fixture(scope="module")
def few(log: Trajectories) -> Case:
    """Some 250 steps: every size of a batch is compiled anew."""
    return Case.of(log.take(np.arange(10)), SHORT)


@pytest.fixture(scope="module")
def soft(few: Case) -> Case:
    """One for all tests: every policy is compiled anew, too."""
    return few.softened(0.2)


@pytest.mark.parametrize("share", [0.0, 1e-6, 0.02, 0.3])
def test_what_is_left_out_carries_no_more_than_its_share(log: Trajectories, share: float) -> None:
    """Per step: the least weights are left out, together at most the share, and one more would exceed it."""
    weights = Case.of(log, SHORT).softened(0.1).weights
    kept = weights.non_negligible(share)
    before = weights.before(slice(None))
    for t in range(log.longest):
        here = log.steps == t
        dropped, rest = before[here & ~kept], before[here & kept]
        total = before[here].sum()
        assert dropped.sum() <= share * total * (1 + 1e-9)
        assert dropped.max(initial=0.0) < rest.min()
        ties = rest[rest <= rest.min() * (1 + 1e-8)]
        assert dropped.sum() + ties.sum() > share * total


def test_the_order_of_episodes_decides_nothing(log: Trajectories) -> None:
    order = np.random.default_rng(1).permutation(len(log))
    kept = Case.of(log, SHORT).softened(0.1).weights.non_negligible(0.02)
    other = Case.of(log.take(order), SHORT).softened(0.1).weights.non_negligible(0.02)
    of_episode = np.split(kept, log.offsets[1:-1])
    np.testing.assert_array_equal(np.concatenate([of_episode[i] for i in order]), other)


def test_steps_without_weight_change_nothing(few: Case, model: ContinuousModel) -> None:
    sparing, full = ModelCritic(model, "m"), ModelCritic(model, "m", negligible=None)
    assert (full(few)[1] != sparing(few)[1]).any()
    for normalized in (False, True):
        one, two = (DoublyRobust(critic, normalized)(few).value for critic in (sparing, full))
        assert one == pytest.approx(two, rel=1e-12)


@pytest.mark.slow
def test_rollouts_of_a_softened_policy_agree_with_many(log: Trajectories, model: ContinuousModel) -> None:
    """V and Q from a few shared rollouts against separate ones: means over 300 steps within 4 standard errors."""
    case = Case.of(log.take(np.arange(12)), SHORT).softened(0.2)
    states, left = case.data.observations, case.steps_left
    logged, value = ModelCritic(model, "m", step_rollouts=8, negligible=None)(case)
    taken = case.data.actions.codes.astype(np.int64)
    for found, first in ((value, None), (logged, taken)):
        policy = case.policy
        many = roll_out(model, policy, states, left, first_actions=first, rollouts=64, seed=5)  # pyright: ignore[reportArgumentType]
        difference = found - many.values
        assert abs(difference.mean()) < 4 * many.spread.mean() * np.sqrt((1 + 1 / 8) / len(states))
        scale = np.sqrt((many.spread**2).mean() * (1 / 3 + 1 / 64))
        assert np.sqrt((difference**2).mean()) < 1.5 * scale


def test_a_shared_rollout_cancels_where_the_logged_action_is_the_drawn_one(soft: Case, model: ContinuousModel) -> None:
    """With probability 0.9 where the policy would have taken it for sure; 0.06 are three standard errors."""
    logged, value = ModelCritic(model, "m", step_rollouts=1, negligible=None)(soft)
    data = soft.data
    greedy = SHORT.probabilities(data.observations, data.actions.labels)[np.arange(len(value)), data.actions.codes] == 1
    assert (logged == value)[greedy].mean() == pytest.approx(0.9, abs=0.06)


@pytest.mark.slow
def test_several_rollouts_a_step_vary_less(soft: Case, model: ContinuousModel) -> None:
    """One used to be taken. With 16 the squares of what two seeds differ by are a 16th; twice that is allowed."""

    def noise(**given: int) -> float:
        one, two = (ModelCritic(model, "m", seed=seed, negligible=None, **given)(soft)[1] for seed in (0, 1))  # pyright: ignore[reportArgumentType]
        return float(((one - two) ** 2).mean())

    single = noise(step_rollouts=1)
    assert noise() < single / 8
    assert noise(most_steps=1) == single


def test_shrinking_batches_give_everyone_the_same_value(log: Trajectories, model: ContinuousModel) -> None:
    """Rollouts of many lengths: a batch of all, in which most are done early, against each one alone."""
    states = np.repeat(log.initial_observations, 3, axis=0)
    left = np.arange(len(states)) % 60 + 1
    together = roll_out(model, SHORT, states, left)
    few = np.arange(0, len(states), 31)
    alone = [roll_out(model, SHORT, states[[k]], left[[k]]).values[0] for k in few]
    np.testing.assert_allclose(together.values[few], alone, rtol=1e-9)


def test_single_precision_is_close(log: Trajectories, model: ContinuousModel) -> None:
    states, left = log.initial_observations, np.full(len(log), 12)
    double = roll_out(model, SHORT, states, left, discount=0.9)
    single = roll_out(model, SHORT, states, left, discount=0.9, dtype=np.float32)
    np.testing.assert_allclose(single.values, double.values, rtol=1e-4)
    assert (single.values != double.values).any()


def test_published_soft_rows_know_the_values_wherever_soft_weights_matter(few: Case, model: ContinuousModel) -> None:
    """Past the first departure hard weights are 0, soft ones are not: V and Q of the policy itself count there, too."""
    critic = ModelCritic(model, "m")
    everywhere = ModelCritic(model, "m", negligible=None)(few)
    rows = few.softened(0.02).weights.non_negligible(1e-6)
    for found, full in zip(hard_model_values(critic)(few, 0.02), everywhere, strict=True):
        np.testing.assert_array_equal(found, np.where(rows, full, 0.0))
    assert rows.mean() > 2 * few.weights.non_negligible(1e-6).mean()
    assert StepSampling("dr", hard_model_values(critic), False, 0.0)(few).value == pytest.approx(
        DoublyRobust(critic)(few).value, rel=1e-12
    )
