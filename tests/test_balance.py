"""How much the risk under the policy counts: chosen by held-out values, with weights and values that stay in bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import FitRules, stream
from repbm.critics import CRITICS, CriticSpec, FittedCritic, ModelCritic, fit_critic
from repbm.critics._balance import ValueErrors
from repbm.data import Support, content_folds, return_bounds
from repbm.domains.worlds import DEVELOPMENT
from repbm.estimators import Case
from repbm.models import (
    AM,
    BOTH_RISKS,
    AutoFit,
    ContinuousModel,
    NetworkKind,
    NetworkSettings,
    OneKindFit,
    PaperFit,
    fit_closed_form,
    roll_out,
)
from repbm.models.parts._reward import PolynomialReward
from repbm.models.regression._features import exponents, features
from repbm.models.regression._polynomial import Polynomial
from repbm.models.regression._risk_moments import RiskMoments
from repbm.models.transitions._table import TransitionTable
from repbm.policies import CallablePolicy
from tests.systems import curved_step, logged, policy_action

POLICY = CallablePolicy(policy_action)


@pytest.fixture(scope="module")
def case() -> Case:
    """A linear world with noise: polynomials are right there."""
    return Case.of(logged(1, noise=0.05).data, POLICY)


def fitted(case: Case, name: str, fit: AutoFit | PaperFit | None = None) -> FittedCritic:
    return fit_critic(case, CriticSpec(CRITICS[name], fit or AutoFit()))


def test_coefficients_of_any_strength_are_those_of_weighted_least_squares() -> None:
    generator = np.random.default_rng(0)
    z, y = generator.uniform(-1, 1, (300, 2)), generator.normal(size=(300, 2))
    actions, folds = generator.integers(0, 2, 300), np.arange(300) % 3
    weights, marginal = (generator.random(300) > 0.1) * 1.0, generator.exponential(size=300)
    terms = exponents(2, 2)
    # The second output has fewer terms than the first.
    shape = np.ones((2, len(terms), 2))
    shape[:, 3:, 1] = 0
    moments = RiskMoments.of(Polynomial.of(shape, terms), z, actions, y, weights, marginal, folds, 3)
    for strength, without in ((0.0, None), (3.0, 1)):
        found = moments.polynomial(strength, without)(z)
        for action in range(2):
            kept = (actions == action) & (folds != (-1 if without is None else without))
            root = np.sqrt(weights * (1 + strength * marginal))[kept, None]
            for output, size in ((0, len(terms)), (1, 3)):
                x = features(z, terms[:size], np)
                expected = x @ np.linalg.lstsq(root * x[kept], root[:, 0] * y[kept, output], rcond=None)[0]
                np.testing.assert_allclose(found[:, action, output], expected, atol=1e-8)


def test_folds_do_not_depend_on_the_order_of_episodes() -> None:
    data, order = logged(3).data, np.random.default_rng(1).permutation(60)
    folds = content_folds(data, 5, 0, "some")
    np.testing.assert_array_equal(content_folds(data.take(order), 5, 0, "some"), folds[order])
    assert np.bincount(folds).tolist() == [12] * 5
    assert (content_folds(data, 5, 1, "some") != folds).any()
    twice = data.take(np.repeat(np.arange(60), 2))
    apart, together = (content_folds(twice, 2, 0, "some", each).reshape(60, 2) for each in (False, True))
    assert (apart[:, 0] != apart[:, 1]).all()
    assert (together[:, 0] == together[:, 1]).all()
    np.testing.assert_array_equal(content_folds(data, 5, 0, "some", together=True), folds)


def test_another_strength_needs_evidence() -> None:
    """Means of 3, 1 and -1.5 with a standard error of 1: beyond half the way by 2 and by 0.75."""
    noise = np.repeat([-1.0, 1.0], 50)
    errors = ValueErrors(np.array([3.0, 1.0, -1.5])[:, None] + noise * np.sqrt(99))
    assert errors.nearest(0.9) == 1
    assert ValueErrors(errors.contributions[[0, 2]]).nearest(0.7) == 1
    assert ValueErrors(errors.contributions[[0, 2]]).nearest(0.8) == 0
    assert errors.nearest(2.1) == 0
    assert ValueErrors(errors.contributions[[1, 0]]).nearest(0.0) == 0
    assert ValueErrors(errors.contributions[[0, 0]]).nearest(0.0) == 0
    assert ValueErrors(errors.contributions[:, :1]).nearest(1.0) == 0


def test_a_wrong_model_is_fitted_to_where_the_policy_goes() -> None:
    """A curved world of 50 episodes, too few to see the curve. The log alone chooses; the truth is not in it."""
    name = "first/nonlinear"
    world = DEVELOPMENT[name](stream(0, "world", name))
    data, _ = world.log(50, stream(0, "log", name, 50))
    truth = float(world.returns(world.initial(5000, stream(0, "fresh")), stream(0, "truth")).mean())
    case = Case.of(data, world.evaluated(), world.discount, world.horizon)
    critics = {kind: fitted(case, kind).critic for kind in ("am", "repbm")}
    errors = {kind: abs(critic.initial(case).values.mean() - truth) for kind, critic in critics.items()}
    assert errors["repbm"] < 0.5 * errors["am"]
    assert "steps like the policy's count" in critics["repbm"].initial(case).note


def test_a_right_model_stays_as_it_is(case: Case) -> None:
    """To the bit: then nothing speaks for other weights."""
    am, repbm = (fitted(case, name).critic.initial(case) for name in ("am", "repbm"))
    np.testing.assert_array_equal(repbm.values, am.values)
    assert "the same model as am" in repbm.note


def test_where_nobody_follows_the_policy_it_is_the_behavior_model() -> None:
    case = Case.of(logged(2, episodes=20, agreement=0.0).data, POLICY)
    am, repbm = (fitted(case, name).critic.initial(case).values for name in ("am", "repbm"))
    np.testing.assert_array_equal(repbm, am)


@pytest.mark.parametrize("learned", [False, True])
def test_with_the_behavior_as_policy_it_is_the_behavior_model(learned: bool) -> None:
    """To the bit, however wrong the model is: for a policy that draws, and for one that is always followed."""
    system = logged(2, step=curved_step, agreement=1.0 if learned else 0.5)
    data = system.data if learned else replace(system.data, behavior=np.full(len(system.data.rewards), 0.5))
    policy = POLICY if learned else CallablePolicy(lambda x: np.full((len(x), 2), 0.5))
    case = Case.of(data, policy)
    am, repbm = (fitted(case, name).critic.initial(case).values for name in ("am", "repbm"))
    np.testing.assert_array_equal(repbm, am)


def test_objectives_of_other_fits_are_taken_as_they_are(case: Case) -> None:
    found = fitted(case, "repbm", OneKindFit()).model
    assert isinstance(found, ContinuousModel)
    expected = fit_closed_form(case.data, case.support, BOTH_RISKS, 8)
    states = case.data.observations
    np.testing.assert_array_equal(found.dynamics(states), expected.dynamics(states))


@pytest.mark.parametrize("episodes", [100, 10_000])
def test_no_weight_exceeds_the_root_of_the_number_of_episodes(episodes: int) -> None:
    """One episode follows the policy: it would stand for all."""
    data = logged(1, episodes=episodes, length=2).data
    follows = np.repeat(np.arange(episodes) == 0, 2) * 1.0
    counts = np.ones(2)
    support = Support(data, lambda at: follows[at], counts, counts * (episodes - 1), counts)
    free, limited = (
        TransitionTable.of(data, support, 30.0, weight_limit=limit).marginal.max() for limit in (np.inf, 1.0)
    )
    assert free == pytest.approx(episodes / 31)
    assert limited == pytest.approx(min(episodes / 31, np.sqrt(episodes)))
    assert FitRules().weight_limit == 1.0


def test_no_rollout_is_worth_more_than_rewards_allow() -> None:
    system = logged(1)
    model = fit_closed_form(system.data, system.support, AM, 8)
    assert isinstance(model.reward, PolynomialReward)
    paid = replace(model.reward.polynomial, coefficients=1e8 * np.asarray(model.reward.polynomial.coefficients))
    wild = replace(model, reward=replace(model.reward, polynomial=paid))
    states, rewards = system.data.initial_observations, (-2.0, 3.0)
    assert np.abs(wild.values(POLICY, states).values).max() > 1e6
    found = wild.values(POLICY, states, discount=0.9, rewards=rewards)
    low, high = return_bounds(rewards, 0.9, np.array([8]))
    assert low[0] <= found.values.min() <= found.values.max() <= high[0]
    assert "of rollouts earn more or less than rewards allow" in found.note
    calm = model.values(POLICY, states, rewards=(-100.0, 100.0))
    np.testing.assert_array_equal(calm.values, model.values(POLICY, states).values)
    # Nothing is left to be earned, whatever rewards there are.
    assert roll_out(wild, POLICY, states, np.zeros(len(states), int), rewards=(1.0, 2.0)).values.max() == 0


def test_the_default_fit_bounds_values_and_the_published_one_does_not(case: Case) -> None:
    critic = fitted(case, "am").critic
    assert isinstance(critic, ModelCritic)
    assert critic.rewards == (case.data.rewards.min(), case.data.rewards.max())
    assert not PaperFit().bounded
    assert not PaperFit().chooses_strength


@pytest.mark.slow
def test_networks_choose_a_distance_too() -> None:
    """The candidates are am, both risks, and both with either distance; the one that is chosen is fitted to all."""
    system = logged(1, noise=0.05, step=curved_step)
    case = Case.of(system.data, POLICY)
    kind = NetworkKind(NetworkSettings(hidden=8, batch=32, epochs=2, batches=10))
    objectives = kind.objectives(BOTH_RISKS, CriticSpec(CRITICS["repbm"]).thresholds.balance)
    assert [objective.target for objective in objectives] == [0.0, 1.0, 1.0, 1.0]
    assert [objective.balances for objective in objectives] == [False, False, True, True]
    found = fitted(case, "repbm", AutoFit(kinds=(kind,)))
    assert np.isfinite(found.critic.initial(case).values).all()
    assert found.critic.initial(case).note
