"""The laws that every estimator keeps, exact on worlds small enough to enumerate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.data import Trajectories
from repbm.estimators import (
    Case,
    DirectMethod,
    DoublyRobust,
    Estimator,
    FunctionCritic,
    ImportanceSampling,
    PerDecisionImportanceSampling,
    ZeroCritic,
)
from repbm.policies import TabularPolicy
from tests.laws.worlds import Enumerated, enumerated, joined, with_rewards

WORLDS = [
    enumerated(1),
    enumerated(2, actions=3, horizon=3),
    enumerated(3, deterministic=True),
    enumerated(4, states=2, actions=4, horizon=1),
    enumerated(5, states=4, actions=2, horizon=3, deterministic=True),
]
DISCOUNTS = [1.0, 0.9]
SOFTENINGS = [0.0, 0.02, 0.3]


def arbitrary_critic(seed: int, actions: int) -> FunctionCritic:
    table = np.random.default_rng(seed).normal(size=(8, 8, actions)) * 5
    return FunctionCritic(lambda observations, steps: table[steps, observations[:, 0].astype(int)], "arbitrary")


def exact_critic(known: Enumerated, discount: float, softening: float = 0.0) -> FunctionCritic:
    values = known.world.action_values(softened(known.policy, softening), discount)
    return FunctionCritic(lambda observations, steps: values[steps, observations[:, 0].astype(int)], "exact")


def softened(policy: np.ndarray, epsilon: float) -> np.ndarray:
    return (1 - epsilon) * policy + epsilon / policy.shape[1]


def case(known: Enumerated, discount: float = 1.0, data: Trajectories | None = None) -> Case:
    return Case.of(known.data if data is None else data, TabularPolicy(known.policy), discount)


def estimators(softening: float = 0.0, actions: int = 2) -> list[Estimator]:
    """Every estimator form; doubly robust ones with a critic that knows nothing of the world."""
    return [
        *(ImportanceSampling(normalized, softening) for normalized in (False, True)),
        *(PerDecisionImportanceSampling(normalized, softening) for normalized in (False, True)),
        *(DoublyRobust(arbitrary_critic(7, actions), normalized, softening) for normalized in (False, True)),
    ]


def value(estimator: Estimator, asked: Case) -> float:
    found = estimator(asked).value
    assert found is not None
    return found


def worlds() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("known", WORLDS, ids=lambda known: f"world{WORLDS.index(known)}")


@worlds()
@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("softening", SOFTENINGS)
def test_unbiased_over_all_episodes(known: Enumerated, discount: float, softening: float) -> None:
    """IS, PDIS and DR with any critic: the mean over all episodes, by their probability, is the truth."""
    assert known.probability.sum() == pytest.approx(1, abs=1e-12)
    truth = known.truth(discount, softened(known.policy, softening))
    actions = known.policy.shape[1]
    for estimator in estimators(softening, actions):
        estimate = estimator(case(known, discount))
        assert estimate.contributions is not None
        if estimate.independent:
            assert known.probability @ estimate.contributions == pytest.approx(truth, abs=1e-10), estimator.name


@worlds()
@pytest.mark.parametrize("discount", DISCOUNTS)
def test_policy_equal_to_behavior_gives_the_plain_mean(known: Enumerated, discount: float) -> None:
    same = Case.of(known.data, TabularPolicy(known.behavior), discount)
    np.testing.assert_allclose(same.weights.scaled, 1.0, rtol=1e-12)
    mean = known.data.returns(discount).mean()
    for kind in (ImportanceSampling, PerDecisionImportanceSampling):
        for normalized in (False, True):
            assert value(kind(normalized), same) == pytest.approx(mean, abs=1e-12)


@worlds()
@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("softening", SOFTENINGS)
@pytest.mark.parametrize("normalized", [False, True])
def test_zero_critic_is_per_decision(known: Enumerated, discount: float, softening: float, normalized: bool) -> None:
    asked = case(known, discount)
    doubly = DoublyRobust(ZeroCritic(), normalized, softening)(asked)
    plain = PerDecisionImportanceSampling(normalized, softening)(asked)
    assert doubly.contributions is not None
    assert plain.contributions is not None
    np.testing.assert_allclose(doubly.contributions, plain.contributions, atol=1e-12)


@pytest.mark.parametrize("softening", SOFTENINGS)
@pytest.mark.parametrize("discount", DISCOUNTS)
def test_exact_critic_makes_every_contribution_exact(softening: float, discount: float) -> None:
    """In a deterministic world, DR with the exact critic gives V(s_0) for every single episode."""
    known = deterministic_world(11)
    critic = exact_critic(known, discount, softening)
    values = known.world.values(softened(known.policy, softening), discount)
    expected = values[known.data.initial_observations[:, 0].astype(int)]
    asked = case(known, discount)
    contributions = DoublyRobust(critic, softening=softening)(asked).contributions
    assert contributions is not None
    np.testing.assert_allclose(contributions, expected, atol=1e-10)


@worlds()
@pytest.mark.parametrize("discount", DISCOUNTS)
def test_direct_method_with_the_exact_critic_is_the_truth_for_everyone(known: Enumerated, discount: float) -> None:
    estimate = DirectMethod(exact_critic(known, discount))(case(known, discount))
    expected = known.world.values(known.policy, discount)[known.data.initial_observations[:, 0].astype(int)]
    assert estimate.individual is not None
    np.testing.assert_allclose(estimate.individual, expected, atol=1e-12)
    assert known.probability @ estimate.individual == pytest.approx(known.truth(discount), abs=1e-12)


@worlds()
def test_order_and_duplication_of_episodes_change_nothing(known: Enumerated) -> None:
    data = known.data
    shuffled = data.take(np.random.default_rng(0).permutation(len(data)))
    doubled = joined(data, data)
    for estimator in estimators(0.02, known.policy.shape[1]):
        expected = value(estimator, case(known, 0.9))
        for other in (shuffled, doubled):
            assert value(estimator, case(known, 0.9, other)) == pytest.approx(expected, abs=1e-10), estimator.name


@worlds()
def test_absorbing_steps_without_reward_change_nothing(known: Enumerated) -> None:
    """Finished episodes continued by zero-reward steps on which policy and behavior agree."""
    longer = continued(known.data, known.world.horizon + 2)
    policy = np.vstack([known.policy, np.eye(known.policy.shape[1])[:1]])
    for kind in (ImportanceSampling, PerDecisionImportanceSampling):
        for normalized in (False, True):
            estimator = kind(normalized)
            expected = value(estimator, case(known, 0.9))
            found = value(estimator, Case.of(longer, TabularPolicy(policy), 0.9))
            assert found == pytest.approx(expected, abs=1e-10), estimator.name


@worlds()
@pytest.mark.parametrize("factor", [-1.0, 1e6, -1e-3])
def test_reward_sign_and_scale(known: Enumerated, factor: float) -> None:
    scaled = with_rewards(known.data, factor * known.data.rewards)
    for softening in SOFTENINGS:
        for kind in (ImportanceSampling, PerDecisionImportanceSampling):
            for normalized in (False, True):
                estimator = kind(normalized, softening)
                expected = factor * value(estimator, case(known, 0.9))
                assert value(estimator, case(known, 0.9, scaled)) == pytest.approx(expected, rel=1e-10)


@worlds()
def test_normalized_weights_stay_within_the_returns(known: Enumerated) -> None:
    returns = known.data.returns()
    estimate = value(ImportanceSampling(normalized=True), case(known))
    assert returns.min() <= estimate <= returns.max()


def test_constant_reward_a_step_counts_the_length_under_wpdis() -> None:
    """Finished episodes stay in the normaliser: with reward 1 a step, WPDIS and WIS may differ, but neither exceeds
    the horizon, and for equal policies both are the mean length."""
    known = WORLDS[0]
    ones = with_rewards(known.data, np.ones_like(known.data.rewards))
    same = Case.of(ones, TabularPolicy(known.behavior))
    assert value(PerDecisionImportanceSampling(True), same) == pytest.approx(known.data.lengths.mean())
    assert value(PerDecisionImportanceSampling(True), case(known, data=ones)) <= known.world.horizon


def test_zero_weight_is_said_and_never_nan() -> None:
    """A deterministic policy that no logged episode follows past step 0."""
    known = enumerated(3, deterministic=True)
    follows = known.policy[known.data.observations[:, 0].astype(int), known.data.actions.codes] == 1
    strays = [
        k
        for k, (start, stop) in enumerate(zip(known.data.offsets[:-1], known.data.offsets[1:], strict=True))
        if stop - start == 3 and follows[start] and not follows[start + 1]
    ]
    asked = case(known, data=known.data.take(np.array(strays)))
    for estimator in (ImportanceSampling(True), PerDecisionImportanceSampling(True)):
        estimate = estimator(asked)
        assert estimate.value is None
        assert estimate.note == "not defined: no episode follows the policy past step 0"
    plain = ImportanceSampling()(asked)
    assert plain.value == 0
    assert "no episode follows the policy past step 0" in plain.note


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_past_the_last_episode_that_follows_the_critic_answers(discount: float) -> None:
    """A log whose every episode strays at step 1, or at step 0, of a world without chance; the critic is exact."""
    known = deterministic_world(11)
    greedy = np.eye(known.policy.shape[1])[known.policy.argmax(axis=1)]
    known = replace(known, policy=greedy)
    data = known.data
    follows = greedy[data.observations[:, 0].astype(int), data.actions.codes] == 1
    second = np.minimum(data.starts + 1, data.lasts)
    for strays, where in (
        ((data.lengths > 1) & follows[data.starts] & ~follows[second], "past step 0"),
        (~follows[data.starts], "even at its first step"),
    ):
        assert strays.any()
        asked = case(known, discount, data=data.take(np.flatnonzero(strays)))
        initial = asked.data.initial_observations[:, 0].astype(int)
        truth = known.world.values(greedy, discount)[initial].mean()
        for normalized in (False, True):
            found = DoublyRobust(exact_critic(known, discount), normalized)(asked)
            assert found.value == pytest.approx(truth, abs=1e-10)
            assert found.note == f"no episode follows the policy {where}: the critic alone from there on"
        assert found.pool is not None
        n = len(asked.data)
        again = found.pool(np.arange(n), n).values(np.random.default_rng(0).multinomial(n, [1 / n] * n, 5) * 1.0)
        assert np.isfinite(again).all()
        assert found.model_only == (where == "even at its first step")


def test_huge_weights_do_not_overflow_normalized_estimates() -> None:
    """1,000 steps with ratio 10 each: the weight 10^1000 is beyond floating point, the normalised value is not."""
    steps, n = 1000, 4
    known = WORLDS[0]
    data = replace(
        known.data,
        observations=np.zeros((n * steps, 1)),
        actions=replace_codes(known.data, np.zeros(n * steps, dtype=np.int32)),
        rewards=np.ones(n * steps),
        offsets=np.arange(n + 1) * steps,
        terminated=np.ones(n, dtype=bool),
        final_observations=np.zeros((n, 1)),
        behavior=np.full(n * steps, 0.1),
    )
    asked = Case.of(data, TabularPolicy(np.array([[1.0, 0.0]])))
    for estimator in (ImportanceSampling(True), PerDecisionImportanceSampling(True)):
        assert value(estimator, asked) == pytest.approx(steps)
    overflown = ImportanceSampling()(asked)
    assert overflown.value is None
    assert "exceed floating point" in overflown.note


def deterministic_world(seed: int) -> Enumerated:
    """Every action leads to one state for sure."""
    known = enumerated(seed, states=4, actions=2, horizon=3)
    generator = np.random.default_rng(seed)
    moves = np.eye(4)[generator.integers(0, 4, size=(4, 2))]
    world = replace(known.world, transitions=moves)
    from tests.laws.worlds import every_path, log_of

    paths = every_path(world, known.behavior)
    probability = np.array([path.probability for path in paths])
    return replace(known, world=world, data=log_of(world, known.behavior, paths), probability=probability)


def replace_codes(data: Trajectories, codes: np.ndarray):
    return replace(data.actions, codes=codes)


def continued(data: Trajectories, horizon: int) -> Trajectories:
    """Every episode drawn out to `horizon` steps in a new last state, where both policies take action 0 for sure."""
    assert data.behavior is not None
    n, extra = len(data), horizon - data.lengths
    new = np.repeat(data.offsets[1:], extra)
    absorbing = float(data.observations.max() + 1)
    absorbing = max(absorbing, float(data.final_observations.max() + 1))
    return replace(
        data,
        observations=np.insert(data.observations, new, absorbing, axis=0),
        actions=replace_codes(data, np.insert(data.actions.codes, new, 0)),
        rewards=np.insert(data.rewards, new, 0.0),
        offsets=np.arange(n + 1) * horizon,
        final_observations=np.full((n, 1), absorbing),
        behavior=np.insert(data.behavior, new, 1.0),
    )
