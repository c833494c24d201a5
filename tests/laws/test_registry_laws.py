"""Laws that every registered estimator and critic keeps: whoever adds one is tested here without asking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.critics import CRITICS, CriticKind, CriticSpec, fit_critic
from repbm.data import Trajectories
from repbm.estimators import ESTIMATORS, Case, Estimate, EstimatorSpec, FunctionCritic, Role, ZeroCritic
from repbm.policies import TabularPolicy
from tests.laws.test_estimator_laws import continued, softened
from tests.laws.worlds import Enumerated, enumerated, joined, with_rewards

WORLDS = [enumerated(1), enumerated(2, actions=3, horizon=3), enumerated(5, states=4, horizon=3, deterministic=True)]
EVERY = pytest.mark.parametrize("spec", ESTIMATORS.values(), ids=ESTIMATORS.keys())
KINDS = pytest.mark.parametrize("kind", CRITICS.values(), ids=CRITICS.keys())


def guess(states: int, actions: int, factor: float = 1.0) -> FunctionCritic:
    """A critic that knows nothing of the world; 0 in states beyond it."""
    table = np.random.default_rng(7).normal(size=(8, states, actions)) * 5 * factor

    def values(observations: np.ndarray, steps: np.ndarray) -> np.ndarray:
        state = observations[:, 0].astype(int)
        return np.where((state < states)[:, None], table[steps, np.minimum(state, states - 1)], 0.0)

    return FunctionCritic(values, "guess")


def ask(spec: EstimatorSpec, known: Enumerated, data: Trajectories | None = None, factor: float = 1.0) -> Estimate:
    asked = Case.of(known.data if data is None else data, TabularPolicy(known.policy), 0.9)
    states, actions = known.world.rewards.shape
    return spec.estimator(guess(states, actions, factor))(asked)


def value(estimate: Estimate) -> float:
    assert estimate.value is not None
    return estimate.value


def test_an_estimator_is_what_its_entry_says() -> None:
    for name, spec in ESTIMATORS.items():
        made = spec.estimator(guess(3, 2))
        assert made.role is spec.role, name
        assert spec.name == name
        assert (spec.critic is None) == (spec.role is Role.WEIGHTING), name
        assert spec.critic is None or spec.critic in CRITICS, name


@EVERY
def test_independent_contributions_are_unbiased(spec: EstimatorSpec) -> None:
    """The mean over all episodes, by their probability, is the truth, whatever the critic says."""
    for known in WORLDS:
        found = ask(spec, known)
        if not found.independent or spec.role is Role.MODEL:
            return
        assert found.contributions is not None
        truth = known.truth(0.9, softened(known.policy, 0.02 if spec.softened else 0.0))
        assert known.probability @ found.contributions == pytest.approx(truth, abs=1e-10)


@EVERY
def test_the_order_of_episodes_changes_nothing(spec: EstimatorSpec) -> None:
    for known in WORLDS:
        shuffled = known.data.take(np.random.default_rng(0).permutation(len(known.data)))
        assert value(ask(spec, known, shuffled)) == pytest.approx(value(ask(spec, known)), abs=1e-9)


@EVERY
def test_doubling_the_log_changes_nothing(spec: EstimatorSpec) -> None:
    """But for blends: a log twice as long tells them that weights vary less."""
    for known in WORLDS:
        if spec.role is not Role.BLEND:
            doubled = joined(known.data, known.data)
            assert value(ask(spec, known, doubled)) == pytest.approx(value(ask(spec, known)), abs=1e-10)


@EVERY
@pytest.mark.parametrize("factor", [-1.0, 1e6])
def test_reward_sign_and_scale(spec: EstimatorSpec, factor: float) -> None:
    """Rewards, and what the critic says of them, times a number: so is the answer."""
    for known in WORLDS:
        scaled = with_rewards(known.data, factor * known.data.rewards)
        expected = factor * value(ask(spec, known))
        assert value(ask(spec, known, scaled, factor)) == pytest.approx(expected, rel=1e-8)


@EVERY
def test_absorbing_steps_without_reward_change_nothing(spec: EstimatorSpec) -> None:
    """Finished episodes continued by zero-reward steps on which policy and behavior agree; not for softened policies,
    which do not agree there. Blends see more steps to blend."""
    for known in WORLDS:
        if spec.softened or spec.role is Role.BLEND:
            return
        longer = continued(known.data, known.world.horizon + 2)
        beyond = replace(known, policy=np.vstack([known.policy, np.eye(known.policy.shape[1])[:1]]))
        assert value(ask(spec, beyond, longer)) == pytest.approx(value(ask(spec, known)), abs=1e-10)


@EVERY
def test_policy_equal_to_behavior_and_a_critic_of_nothing_give_the_plain_mean(spec: EstimatorSpec) -> None:
    for known in WORLDS:
        if spec.softened or spec.role is Role.MODEL:
            return
        same = Case.of(known.data, TabularPolicy(known.behavior), 0.9)
        found = spec.estimator(ZeroCritic())(same)
        if spec.role is Role.BLEND:
            # One of its parts is the critic alone, which says 0.
            assert abs(value(found)) <= abs(same.returns.mean()) + 1e-12
        else:
            assert value(found) == pytest.approx(same.returns.mean(), abs=1e-12)


def collected(known: Enumerated, factor: float = 1.0) -> Trajectories:
    data = known.world.collect(known.behavior, 200, np.random.default_rng(3))
    return with_rewards(data, factor * data.rewards)


def fitted_values(kind: CriticKind, known: Enumerated, data: Trajectories) -> np.ndarray:
    """V of a critic for the logged individuals."""
    behavior = known.behavior[data.observations[:, 0].astype(int)]
    asked = Case.of(data, TabularPolicy(known.policy), 0.9, known.world.horizon, behavior)
    return fit_critic(asked, CriticSpec(kind)).critic.initial(asked).values


@KINDS
def test_critics_do_not_see_the_order_of_episodes(kind: CriticKind) -> None:
    for known in WORLDS:
        data, order = collected(known), np.random.default_rng(0).permutation(200)
        found = fitted_values(kind, known, data)
        if kind.name.startswith("mrdr") or kind.in_folds:
            # Degrees, or critics, are chosen on folds, which are drawn by place.
            return
        np.testing.assert_allclose(fitted_values(kind, known, data.take(order)), found[order], atol=1e-9)


@KINDS
@pytest.mark.parametrize("factor", [-1.0, 100.0])
def test_critics_scale_with_rewards(kind: CriticKind, factor: float) -> None:
    for known in WORLDS:
        found, scaled = (fitted_values(kind, known, collected(known, each)) for each in (1.0, factor))
        np.testing.assert_allclose(scaled, factor * found, rtol=1e-6, atol=1e-6 * abs(factor))


@KINDS
def test_with_the_behavior_as_policy_every_model_is_the_behavior_model(kind: CriticKind) -> None:
    """A law of the paper's objective: with the same policy both risks are the same. Stochastic policies."""
    for known in WORLDS:
        if not kind.uses_model:
            return
        same = replace(known, policy=known.behavior)
        data = collected(same)
        expected = fitted_values(CRITICS["am"], same, data)
        np.testing.assert_allclose(fitted_values(kind, same, data), expected, atol=1e-9)
