"""MAGIC: between the critic alone and WDR."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import InputError
from repbm.data import Trajectories
from repbm.estimators import Case, DirectMethod, DoublyRobust, FunctionCritic, Magic
from repbm.estimators._magic import best_blend, blended, chosen_steps, step_returns
from repbm.estimators._normalized import NormalizedTerms
from repbm.policies import TabularPolicy
from tests.laws.test_estimator_laws import (
    WORLDS,
    arbitrary_critic,
    case,
    deterministic_world,
    exact_critic,
    value,
    worlds,
)
from tests.laws.worlds import Enumerated, enumerated, joined, with_rewards


def arbitrary(known: Enumerated) -> FunctionCritic:
    return arbitrary_critic(7, known.policy.shape[1])


@worlds()
@pytest.mark.parametrize("softening", [0.0, 0.02])
def test_its_ends_are_the_direct_method_and_wdr(known: Enumerated, softening: float) -> None:
    asked, critic = case(known, 0.9), arbitrary(known)
    last = known.data.longest - 1
    alone = Magic(critic, softening, (-1,))(asked)
    assert alone.value == pytest.approx(value(DirectMethod(critic), asked.softened(softening)), abs=1e-12)
    assert alone.model_only
    assert alone.note == "100% on the critic alone"
    full = Magic(critic, softening, (last,))(asked)
    wdr = DoublyRobust(critic, normalized=True, softening=softening)(asked)
    assert full.contributions is not None
    assert wdr.contributions is not None
    np.testing.assert_allclose(full.contributions, wdr.contributions, atol=1e-12)
    assert not full.model_only


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_exact_critic_in_a_deterministic_world_gives_the_truth(discount: float) -> None:
    known = deterministic_world(11)
    asked = case(known, discount)
    found = Magic(exact_critic(known, discount))(asked)
    initial = known.data.initial_observations[:, 0].astype(int)
    assert found.value == pytest.approx(known.world.values(known.policy, discount)[initial].mean(), abs=1e-10)


def sampled(seed: int, episodes: int = 120) -> tuple[Enumerated, Trajectories]:
    known = enumerated(seed, states=4, actions=2, horizon=3)
    world = replace(known.world, horizon=9)
    return known, world.collect(known.behavior, episodes, np.random.default_rng(seed))


def rough_critic(known: Enumerated, error: float) -> FunctionCritic:
    exact = replace(known.world, horizon=9).action_values(known.policy)
    return FunctionCritic(lambda observations, steps: exact[steps, observations[:, 0].astype(int)] + error, "rough")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_order_and_reward_scale(seed: int) -> None:
    known, data = sampled(seed)
    policy = TabularPolicy(known.policy)
    exact = replace(known.world, horizon=9).action_values(known.policy)

    def magic(scale: float) -> Magic:
        return Magic(
            FunctionCritic(
                lambda observations, steps: scale * (exact[steps, observations[:, 0].astype(int)] + 0.3), "rough"
            )
        )

    expected = value(magic(1), Case.of(data, policy))
    shuffled = data.take(np.random.default_rng(0).permutation(len(data)))
    assert value(magic(1), Case.of(shuffled, policy)) == pytest.approx(expected, abs=1e-9)
    for factor in (-1.0, 1e6, 1e-3):
        scaled = with_rewards(data, factor * data.rewards)
        assert value(magic(factor), Case.of(scaled, policy)) == pytest.approx(factor * expected, rel=1e-6)


@worlds()
def test_duplicating_the_log_changes_no_single_return(known: Enumerated) -> None:
    """The blend itself may change: with twice the episodes the variance of the returns counts half."""
    doubled = joined(known.data, known.data)
    for j in range(-1, known.data.longest):
        magic = Magic(arbitrary(known), 0.02, (j,))
        assert value(magic, case(known, 0.9, doubled)) == pytest.approx(value(magic, case(known, 0.9)), abs=1e-10)


def terms(asked: Case, critic: FunctionCritic) -> NormalizedTerms:
    data = asked.data
    logged, expected = critic(asked)
    return NormalizedTerms(
        asked.weights,
        data.discounted(lambda at: data.rewards[at] - logged[at], asked.discount),
        data.discounted(lambda at: expected[at], asked.discount),
    )


def test_step_returns_are_the_formula() -> None:
    """g^(j) = sum_{t<=j} gamma^t [W_t r_t - (W_t Q_t - W_{t-1} V_t)] + gamma^(j+1) W_j V_{j+1}, by plain loops."""
    known, data = sampled(4, 30)
    gamma, critic = 0.9, rough_critic(known, 0.5)
    asked = Case.of(data, TabularPolicy(known.policy), gamma)
    q, v = critic(asked)
    rho = np.asarray(asked.decisions.logged(slice(None))) / data.behavior
    episodes = [np.arange(a, b) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    w = [np.cumprod(rho[episode]) for episode in episodes]
    sums = [sum(each[min(t, len(each) - 1)] for each in w) for t in range(data.longest)]
    steps = np.arange(-1, data.longest)
    expected = np.zeros((len(data), len(steps)))
    for i, episode in enumerate(episodes):
        W = [1.0] + [len(data) * w[i][t] / sums[t] for t in range(len(episode))]
        for k, j in enumerate(steps.tolist()):
            for t in range(min(j, len(episode) - 1) + 1):
                at = episode[t]
                expected[i, k] += gamma**t * (W[t + 1] * data.rewards[at] - (W[t + 1] * q[at] - W[t] * v[at]))
            if j + 1 < len(episode):
                expected[i, k] += gamma ** (j + 1) * W[j + 1] * v[episode[j + 1]]
    doubly = terms(asked, critic)
    np.testing.assert_allclose(step_returns(doubly, steps), expected, atol=1e-10)
    few = np.array([-1, 2, 5])
    np.testing.assert_allclose(step_returns(doubly, few), expected[:, few + 1], atol=1e-10)
    blend = np.array([0.2, 0.5, 0.3])
    mixed = blended(doubly, few, blend).estimate()
    assert mixed.contributions is not None
    np.testing.assert_allclose(mixed.contributions, expected[:, few + 1] @ blend, atol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_blend_is_the_minimum(seed: int) -> None:
    """The conditions of Karush, Kuhn and Tucker: no weight could be moved to advantage."""
    generator = np.random.default_rng(seed)
    n, m = 200, 12
    scales = 10 ** generator.uniform(-3, 3, size=m)
    returns = np.cumsum(generator.normal(size=(n, m)) * scales, axis=1)[:, generator.permutation(m)]
    bias = np.where(generator.random(m) < 0.5, 0.0, generator.normal(size=m) * scales * 0.1)
    blend = best_blend(returns, bias)
    assert blend.sum() == pytest.approx(1, abs=1e-12)
    assert (blend >= 0).all()
    matrix = np.cov(returns.T) / n + np.outer(bias, bias)
    pull = matrix @ blend / (blend @ matrix @ blend)
    assert pull.min() > 1 - 1e-6
    np.testing.assert_allclose(pull[blend > 1e-6], 1, atol=1e-6)


def test_good_critics_are_believed_and_bad_ones_are_not() -> None:
    known, data = sampled(5, 400)
    asked = Case.of(data, TabularPolicy(known.policy))
    truth = replace(known.world, horizon=9).truth(known.policy)
    assert value(Magic(rough_critic(known, 0.0)), asked) == pytest.approx(truth, abs=0.15)
    bad = Magic(rough_critic(known, 50.0))(asked)
    assert bad.value == pytest.approx(truth, abs=5)
    assert "critic alone" not in bad.note


def test_it_can_be_resampled() -> None:
    known, data = sampled(6)
    found = Magic(rough_critic(known, 0.5))(Case.of(data, TabularPolicy(known.policy)))
    assert found.pool is not None
    again = found.pool(np.arange(len(data)), len(data)).values(np.ones((1, len(data))))
    assert again[0] == pytest.approx(found.value, abs=1e-10)
    shares = [float(part.split("%")[0]) for part in found.note.split(", ")]
    assert 0 < sum(shares) <= 101


def test_where_no_episode_follows_the_policy_the_critic_answers() -> None:
    """No return looks past step 0, and the note says so."""
    known = enumerated(3, deterministic=True)
    data = known.data
    follows = known.policy[data.observations[:, 0].astype(int), data.actions.codes] == 1
    strays = np.flatnonzero(
        (data.lengths == 3) & follows[data.starts] & ~follows[np.minimum(data.starts + 1, data.lasts)]
    )
    asked = case(known, data=data.take(strays))
    wdr = value(DoublyRobust(arbitrary(known), normalized=True), asked)
    ends = sorted([wdr, value(DirectMethod(arbitrary(known)), asked)])
    assert ends[0] - 1e-12 <= value(Magic(arbitrary(known)), asked) <= ends[1] + 1e-12
    assert value(Magic(arbitrary(known), steps=(2,)), asked) == pytest.approx(wdr, abs=1e-12)
    for j, name in ((-1, "the critic alone"), (0, "WDR")):
        rough = Magic(arbitrary(known), steps=(j, 2) if j == 0 else (j,))(asked)
        assert rough.note == f"100% on {name}; no episode follows the policy past step 0"
        assert rough.model_only == (j == -1)


def test_steps() -> None:
    assert chosen_steps(0).tolist() == [-1, 0]
    assert chosen_steps(5).tolist() == [-1, 0, 1, 2, 3, 4, 5]
    many = chosen_steps(199)
    assert len(many) <= 20
    assert many[0] == -1
    assert many[-1] == 199
    with pytest.raises(InputError, match="from -1 on"):
        Magic(arbitrary(WORLDS[0]), steps=(-2, 3))
    assert Magic(arbitrary(WORLDS[0]), 0.02).name == "soft-magic(arbitrary)"
