"""The laws that fitted models keep, and the paper's theory by enumeration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from repbm.data import Trajectories
from repbm.domains import TabularWorld
from repbm.models import AM, BOTH_RISKS, ContinuousModel, NetworkSettings, fit_closed_form, fit_network, fit_tabular
from repbm.policies import CallablePolicy
from tests.laws.worlds import Enumerated, enumerated
from tests.systems import System, curved_step, linear_step, logged, rescaled, reward

WORLDS = [enumerated(11), enumerated(12, actions=3), enumerated(13, deterministic=True), enumerated(14, states=4)]
QUICK = NetworkSettings(hidden=16, batch=64, epochs=8, batches=25, learning_rate=0.01)


def wrong(known: Enumerated, seed: int) -> TabularWorld:
    """Another world with the same states, actions and start: a model that is off."""
    states, actions = known.world.rewards.shape
    other = TabularWorld.random(states, actions, known.world.horizon, np.random.default_rng(seed))
    blend = 0.7 * known.world.transitions + 0.3 * other.transitions
    return replace(known.world, transitions=blend, rewards=known.world.rewards + 0.2 * other.rewards)


def state_values(world: TabularWorld, policy: np.ndarray) -> np.ndarray:
    """V_t(s) for t = 0 ... H, 0 in terminal states and at the horizon."""
    values = np.einsum("sa,tsa->ts", policy, world.action_values(policy))
    return np.append(np.where(world.terminal, 0.0, values), np.zeros((1, len(world.initial))), axis=0)


def visits(world: TabularWorld, policy: np.ndarray) -> np.ndarray:
    """The probability to be in state s at step t, still going, for every start."""
    size = len(world.initial)
    result = np.zeros((world.horizon, size, size))
    result[0] = np.diag(np.where(world.terminal, 0.0, 1.0))
    moves = np.einsum("sa,sab->sb", policy, world.transitions) * ~world.terminal
    for t in range(1, world.horizon):
        result[t] = result[t - 1] @ moves
    return result


def one_step_errors(known: Enumerated, model: TabularWorld) -> tuple[np.ndarray, np.ndarray]:
    """Reward error, and the error of the transition weighed with the model's values, for every t, s, a."""
    following = state_values(model, known.policy)[1:]
    moved = np.einsum("sab,tb->tsa", model.transitions - known.world.transitions, following)
    paid = np.broadcast_to(model.rewards - known.world.rewards, moved.shape)
    return paid, moved


@pytest.mark.parametrize("known", WORLDS)
def test_simulation_lemma(known: Enumerated) -> None:
    """V^(s) - V(s) = E_pi sum_t [r^ - r + sum_s' (T^ - T) V^_{t+1}(s')], with states visited in the true world."""
    model = wrong(known, 1)
    paid, moved = one_step_errors(known, model)
    expected = np.einsum("tis,sa,tsa->i", visits(known.world, known.policy), known.policy, paid + moved)
    difference = (state_values(model, known.policy) - state_values(known.world, known.policy))[0]
    assert np.allclose(difference, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("known", WORLDS)
def test_the_value_error_is_bounded_by_one_step_losses(known: Enumerated) -> None:
    """E (V^ - V)^2 <= 2H sum_t E_pi [l_r + l_T], equation 2 of the paper."""
    model = wrong(known, 2)
    paid, moved = one_step_errors(known, model)
    start = known.world.initial
    losses = np.einsum("i,tis,sa,tsa->", start, visits(known.world, known.policy), known.policy, paid**2 + moved**2)
    difference = (state_values(model, known.policy) - state_values(known.world, known.policy))[0]
    assert start @ difference**2 <= 2 * known.world.horizon * losses * (1 + 1e-12)
    assert losses > 0


@pytest.mark.parametrize("known", [enumerated(seed, actions=3, deterministic=True) for seed in (13, 15, 16)])
@pytest.mark.parametrize("off", [3, 4])
def test_theorem_1(known: Enumerated, off: int) -> None:
    """E (V^ - V)^2 <= 2H sum_t [ B_t IPM_t + E_factual(l_r + l_T) ] for a deterministic policy.

    With the states themselves as representation and all functions up to 1 as G, the IPM is the L1 distance of the
    factual and counterfactual state distributions, and B_t the largest loss that the lemma asks to lie in B_t G.
    """
    world, horizon = known.world, known.world.horizon
    model = wrong(known, off)
    rows, chosen = np.arange(len(world.initial)), known.policy.argmax(axis=1)
    follows = known.behavior[rows, chosen]
    moves = np.where(world.terminal[:, None], np.eye(len(rows)), world.transitions[rows, chosen])
    paid, moved = one_step_errors(known, model)
    losses = np.where(world.terminal, 0.0, (paid**2 + moved**2)[:, rows, chosen])
    value_losses = (state_values(model, known.policy) - state_values(world, known.policy)) ** 2
    reached, bound, distances = world.initial, 0.0, []
    for t in range(horizon):
        factual, counterfactual = reached * follows, reached * (1 - follows)
        factual, counterfactual = factual / factual.sum(), counterfactual / counterfactual.sum()
        distances.append(np.abs(factual - counterfactual).sum())
        later = moves @ value_losses[t + 1] / (2 * (horizon - t - 1)) if t < horizon - 1 else 0.0
        bound += (losses[t] + later).max() * distances[-1] + factual @ losses[t]
        reached = (reached * follows) @ moves
    error = world.initial @ value_losses[0]
    assert 0 < error <= 2 * horizon * bound
    assert min(distances) > 0


@pytest.mark.parametrize("known", WORLDS)
def test_importance_weights_vary_more_than_marginal_ratios(known: Enumerated) -> None:
    """Theorem 3: Var prod pi/mu >= Var p_pi(actions) / p_mu(actions), both over all episodes of the behavior."""
    data, p = known.data, known.probability
    states = data.observations[:, 0].astype(int)
    ratio = known.policy[states, data.actions.codes] / known.behavior[states, data.actions.codes]
    weights = np.multiply.reduceat(ratio, data.starts)
    under_behavior, under_policy = defaultdict(float), defaultdict(float)
    actions = [tuple(data.actions.codes[a:b].tolist()) for a, b in zip(data.starts, data.offsets[1:], strict=True)]
    for key, chance, weight in zip(actions, p, weights, strict=True):
        under_behavior[key] += chance
        under_policy[key] += chance * weight
    marginal = np.array([under_policy[key] / under_behavior[key] for key in actions])
    assert np.isclose(p @ weights, 1)
    assert np.isclose(p @ marginal, 1)
    assert p @ (weights - 1) ** 2 >= p @ (marginal - 1) ** 2 - 1e-12
    if known.policy.max() < 1:
        assert p @ (weights - 1) ** 2 > p @ (marginal - 1) ** 2


def predicted(model: ContinuousModel, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with jax.enable_x64(True):
        at = jnp.asarray(states)
        following = model.dynamics(at)
        rewards = jnp.stack([model.reward(at, following[:, a])[:, a] for a in range(2)], axis=1)
        return np.asarray(following), np.asarray(rewards)


CLOSED_FORM = pytest.param(lambda one: fit_closed_form(one.data, one.support, BOTH_RISKS, 8), 1e-6, id="closed form")
NETWORK = pytest.param(
    lambda one: fit_network(one.data, one.support, BOTH_RISKS, 8, 0, QUICK),
    1e-3,
    id="network",
    marks=pytest.mark.slow,
)


@pytest.mark.parametrize(("fit", "tolerance"), [CLOSED_FORM, NETWORK])
def test_units_of_states_change_no_prediction(fit: Callable[[System], ContinuousModel], tolerance: float) -> None:
    """To 1e-6 of the spread in closed form; to 1e-3 for a network, whose float32 training sees other roundings."""
    scale, shift = np.array([25.0, 0.003]), np.array([-3.0, 0.7])
    system = logged(1, noise=0.05, step=curved_step)
    other = rescaled(system, scale, shift)
    points = np.random.default_rng(2).normal(size=(50, 2)) * 0.7
    following, rewards = predicted(fit(system), points)
    following_other, rewards_other = predicted(fit(other), points * scale + shift)
    assert np.allclose((following_other - shift) / scale, following, atol=tolerance * following.std())
    assert np.allclose(rewards_other, rewards, atol=tolerance * rewards.std())


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_linear_world_is_recovered(noise: float) -> None:
    """Noise 0: to 1e-5. Noise 0.1 on 960 transitions: standard error about 0.1 sqrt(20 features / 480) = 0.02, and five
    of those are allowed at a point (false alarm below 1e-4 over all of them)."""
    system = logged(3, episodes=120, noise=noise)
    points = np.random.default_rng(4).normal(size=(40, 2)) * 0.6
    actions = np.repeat([0, 1], 40)
    twice = np.concatenate([points, points])
    exact = linear_step(twice, actions).reshape(2, 40, 2).swapaxes(0, 1)
    exact_rewards = reward(twice, actions).reshape(2, 40).T
    for model in (
        fit_closed_form(system.data, system.support, AM, 8),
        fit_network(system.data, system.support, AM, 8, 0, QUICK),
    ):
        following, rewards = predicted(model, points)
        assert np.abs(following - exact).max() < (1e-5 if noise == 0 else 0.1)
        assert np.abs(rewards - exact_rewards).max() < 1e-5
        assert model.stochastic == (noise > 0)


@pytest.mark.parametrize("table", [True, False])
def test_ends_that_time_explains_change_no_value(table: bool) -> None:
    """Episodes of one length: whether their last step is called an end or a cut, a model says the same."""
    if table:
        world = TabularWorld.random(states=4, actions=2, horizon=5, generator=np.random.default_rng(3))
        cut = world.collect(np.full((4, 2), 0.5), 400, np.random.default_rng(4))
        cut = cut.take(np.flatnonzero(cut.lengths == cut.longest))
    else:
        cut = logged(0).data
    cut = replace(cut, terminated=np.zeros(len(cut), dtype=bool))
    ended = replace(cut, terminated=np.ones(len(cut), dtype=bool))
    policy = CallablePolicy(lambda x: (x[:, 0] > 0).astype(int))
    horizon = cut.longest

    def values(data: Trajectories) -> np.ndarray:
        fit = fit_tabular(data, None, AM, horizon) if table else fit_closed_form(data, None, AM, horizon)
        return fit.values(policy, data.initial_observations).values

    np.testing.assert_allclose(values(ended), values(cut), rtol=1e-9)
