"""Worlds with hardly any noise: the answer is found by following the policy in a model that tells them."""

from __future__ import annotations

import numpy as np
import pytest

from repbm import evaluate
from repbm.core import Thresholds, stream
from repbm.critics import CriticSpec, Marginal, fit_critic
from repbm.critics._marginal import CrossFittedValues
from repbm.data import Trajectories
from repbm.doctor import verdict_of
from repbm.domains import CartPole, benchmark_policy, collect, truth
from repbm.domains.worlds import families
from repbm.estimators import Case, Corrected
from repbm.inference import standard_error

POLICY = benchmark_policy("cartpole-short")


def changed(**thresholds: dict[str, float]) -> Thresholds:
    return Thresholds.of(thresholds)


def critic_of(case: Case, thresholds: Thresholds = Thresholds()) -> CrossFittedValues:  # noqa: B008 - frozen
    found = fit_critic(case, CriticSpec(Marginal(), thresholds=thresholds)).critic
    assert isinstance(found, CrossFittedValues)
    return found


@pytest.fixture(scope="module")
def log() -> Trajectories:
    return collect(CartPole(), POLICY, 40, stream(3, "little noise"), 0.2)


@pytest.fixture(scope="module")
def case(log: Trajectories) -> Case:
    return Case.of(log, POLICY, 0.98)


@pytest.fixture(scope="module")
def followed(case: Case) -> CrossFittedValues:
    return critic_of(case)


def test_the_model_answers_where_there_is_no_noise(case: Case, followed: CrossFittedValues) -> None:
    """CartPole is told exactly: what is left is which individuals were logged, and nothing of their values."""
    fitted = critic_of(case, changed(choice={"little_noise": 0.0}))
    assert (followed.follows_model, fitted.follows_model) == (True, False)
    true = truth(CartPole(), POLICY, case.data.initial_observations, discount=0.98)
    answers = [Corrected(critic)(case) for critic in (followed, fitted)]
    gaps = [abs(answer.value - true.mean()) for answer in answers if answer.value is not None]
    assert gaps[0] < 0.1 * gaps[1]
    assert standard_error(answers[0]) < standard_error(answers[1])
    assert standard_error(answers[0]) == pytest.approx(true.std(ddof=1) / np.sqrt(40), rel=0.2)
    assert answers[0].individual == pytest.approx(true, abs=0.5)
    assert "found in a model that misses held-out states by" in answers[0].note


def test_values_of_states_in_the_middle_are_those_of_rollouts(case: Case, followed: CrossFittedValues) -> None:
    """With 7 steps left CartPole pays 1 each step unless it falls: at most 1 + 0.98 + ..."""
    final = followed.final(case)
    shown = np.isfinite(final)
    assert shown.any()
    assert (final[shown] >= 0).all()
    assert (final[shown] <= sum(0.98**t for t in range(200)) + 1e-9).all()


def test_fitted_values_answer_where_following_would_take_too_long(case: Case) -> None:
    assert not critic_of(case, changed(rollouts={"most_of_answer": 1000})).follows_model


def test_nothing_is_followed_in_a_noisy_world() -> None:
    world = families()["noisy-linear"](stream(0, "world", "noisy-linear"))
    data, _ = world.log(60, stream(0, "log"))
    assert not critic_of(Case.of(data, world.evaluated(), world.discount, world.horizon)).follows_model


def test_evaluations_with_models_come_to_the_verdict_of_the_answer_alone(
    log: Trajectories, case: Case, followed: CrossFittedValues
) -> None:
    found = evaluate(log, {"it": POLICY}, discount=0.98, estimators=["corrected", "am"], details=False)
    assert found.examination.verdicts["it"].to_dict() == verdict_of(case, critic=followed).to_dict()


def test_too_few_episodes_behind_an_answer_tell_nothing(case: Case, followed: CrossFittedValues) -> None:
    """Not even whether a model that tells what was logged tells what was not."""
    few = {"fewest_behind_answer": 41.0}
    lost = verdict_of(case, thresholds=changed(support=few), critic=followed)
    assert lost.word == "the log cannot tell"
    assert "hardly any logged episode follows it" in lost.sentence
    assert verdict_of(case, critic=followed).supported
