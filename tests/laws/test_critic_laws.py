"""The laws of the MRDR critic, exact where the world can be enumerated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import InputError
from repbm.critics import ActionValueCritic, fit_mrdr
from repbm.critics._action_values import PolynomialValues
from repbm.critics._variance import variance_problem
from repbm.data import Categorical, Trajectories
from repbm.domains import TabularWorld
from repbm.estimators import (
    Case,
    DirectMethod,
    DoublyRobust,
    Estimator,
    FunctionCritic,
    PerDecisionImportanceSampling,
)
from repbm.policies import TabularPolicy
from tests.laws.test_estimator_laws import WORLDS, case, softened, worlds
from tests.laws.worlds import Enumerated, enumerated, every_path, log_of

HORIZON = 2


def in_proportion(seed: int, deterministic: bool) -> Enumerated:
    """A world of probabilities in quarters, and a log that holds every episode as often as it is probable."""
    generator = np.random.default_rng(seed)
    known = enumerated(seed, states=4, actions=2, horizon=HORIZON, deterministic=deterministic)
    transitions = generator.multinomial(3, np.full(4, 0.25), size=(4, 2)) / 4
    transitions[..., 3] += 0.25
    world = replace(known.world, initial=np.array([0.25, 0.5, 0.25, 0]), transitions=transitions)
    behavior = np.array([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25], [0.5, 0.5]])
    paths = every_path(world, behavior)
    counts = np.round([path.probability * 4**5 for path in paths]).astype(int)
    data = log_of(world, behavior, paths).take(np.repeat(np.arange(len(paths)), counts))
    return replace(known, world=world, behavior=behavior, data=data, probability=np.full(len(data), 1 / len(data)))


def behavior_of(known: Enumerated) -> np.ndarray:
    return known.behavior[known.data.observations[:, 0].astype(int)]


def mrdr(known: Enumerated, asked: Case, normalized: bool = False, degree: int | None = None) -> ActionValueCritic:
    values = fit_mrdr(
        asked.data,
        asked.decisions,
        asked.discount,
        asked.data.longest,
        normalized=normalized,
        behavior=behavior_of(known),
        degree=degree,
    )
    return ActionValueCritic(values, "mrdr")


def variance(estimator: Estimator, asked: Case) -> float:
    contributions = estimator(asked).contributions
    assert contributions is not None
    return float(contributions.var())


@worlds()
@pytest.mark.parametrize("softening", [0.0, 0.3])
@pytest.mark.parametrize("normalized", [False, True])
def test_doubly_robust_with_mrdr_is_unbiased(known: Enumerated, softening: float, normalized: bool) -> None:
    asked = case(known, 0.9)
    critic = mrdr(known, asked.softened(softening), normalized, degree=2)
    contributions = DoublyRobust(critic, softening=softening)(asked).contributions
    assert contributions is not None
    truth = known.truth(0.9, softened(known.policy, softening))
    assert known.probability @ contributions == pytest.approx(truth, abs=1e-10)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("deterministic", [False, True])
def test_mrdr_varies_least(seed: int, deterministic: bool) -> None:
    """With features for every state and step: no more than with any other critic, and as the true values."""
    known = in_proportion(seed, deterministic)
    asked = case(known, 0.9)
    least = variance(DoublyRobust(mrdr(known, asked, degree=4)), asked)
    assert least <= variance(PerDecisionImportanceSampling(), asked) * (1 + 1e-9)
    exact = known.world.action_values(known.policy, 0.9)
    true = FunctionCritic(lambda observations, steps: exact[steps, observations[:, 0].astype(int)])
    assert least == pytest.approx(variance(DoublyRobust(true), asked), rel=1e-4)
    individual = DirectMethod(mrdr(known, asked, degree=4))(asked).individual
    assert individual is not None
    expected = known.world.values(known.policy, 0.9)[known.data.initial_observations[:, 0].astype(int)]
    np.testing.assert_allclose(individual, expected, atol=1e-4)


def slow_objective(known: Enumerated, discount: float, normalized: bool, q: np.ndarray) -> float:
    """sum gamma^(2t) w_{t-1}^2 rho_t q' Omega q as it is written, with Q given for every logged step and action."""
    data, total = known.data, 0.0
    states = data.observations[:, 0].astype(int)
    rho = (known.policy / known.behavior)[states, data.actions.codes]
    episodes = [range(a, b) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    w = np.concatenate([np.cumprod(rho[episode]) for episode in episodes])
    sums = [sum(w[episode[min(t, len(episode) - 1)]] for episode in episodes) for t in range(data.longest)]
    for episode in episodes:
        later = 0.0
        for t in reversed(range(len(episode))):
            k = episode[t]
            later = data.rewards[k] + later
            pi, mu = known.policy[states[k]], known.behavior[states[k]]
            gap = pi * q[k] - np.eye(len(pi))[data.actions.codes[k]] * later
            before = w[k - 1] if t else 1.0
            total += discount ** (2 * t) * before**2 * rho[k] * (gap @ np.diag(1 / mu) @ gap - gap.sum() ** 2)
            later *= discount * rho[k] * (sums[t - 1] / sums[t] if normalized and t and sums[t] else 1.0)
    return total


@pytest.mark.parametrize("known", [WORLDS[1], WORLDS[4]], ids=["stochastic", "deterministic"])
@pytest.mark.parametrize("normalized", [False, True])
def test_mrdr_is_where_the_objective_is_flat(known: Enumerated, normalized: bool) -> None:
    """Its derivatives vanish, by central differences, which are exact for a quadratic function."""
    data = known.data.take(np.arange(0, len(known.data), 3))
    known = replace(known, data=data)
    function = mrdr(known, case(known, 0.9), normalized, degree=1).values.function
    assert isinstance(function, PolynomialValues)
    left = data.longest - data.steps

    def slope(coefficients: np.ndarray, k: int) -> float:
        ends = []
        for sign in (1, -1):
            moved = coefficients.copy()
            moved.flat[k] += sign
            q = replace(function, coefficients=moved)(data.observations, left)
            ends.append(slow_objective(known, 0.9, normalized, q))
        return (ends[0] - ends[1]) / 2

    found = function.coefficients
    slopes = [abs(slope(found, k)) for k in range(found.size)]
    elsewhere = max(abs(slope(np.zeros_like(found), k)) for k in range(found.size))
    assert max(slopes) < 1e-4 * elsewhere


def test_mrdr_says_what_it_needs() -> None:
    known = WORLDS[1]
    with pytest.raises(InputError, match="behavior probability of every action"):
        fit_mrdr(known.data, case(known).decisions, 1.0, 3)
    with pytest.raises(InputError, match="give shape"):
        fit_mrdr(known.data, case(known).decisions, 1.0, 3, behavior=np.ones((2, 2)))
    with pytest.raises(InputError, match="behavior_prob"):
        fit_mrdr(replace(known.data, behavior=None), case(known).decisions, 1.0, 3)
    hard = WORLDS[2]
    apart = hard.data.take(hard.policy[hard.data.initial_observations[:, 0].astype(int), first_actions(hard.data)] == 0)
    with pytest.raises(InputError, match="no episode follows the policy"):
        fit_mrdr(apart, case(hard, data=apart).decisions, 1.0, 3)


def first_actions(data: Trajectories) -> np.ndarray:
    return data.actions.codes[data.starts]


def test_two_actions_tell_the_other_probability() -> None:
    known = WORLDS[0]
    asked = case(known, 0.9)
    told = mrdr(known, asked, degree=2)
    alone = fit_mrdr(known.data, asked.decisions, 0.9, 3, degree=2)
    np.testing.assert_allclose(
        alone(known.data.observations, asked.steps_left),
        told.values(known.data.observations, asked.steps_left),
        rtol=1e-6,
    )


def test_mrdr_of_huge_weights_stays_finite() -> None:
    steps, n = 1000, 4
    data = Trajectories(
        observations=np.zeros((n * steps, 1)),
        actions=Categorical(np.zeros(n * steps, dtype=np.int32), (0, 1)),
        rewards=np.ones(n * steps),
        offsets=np.arange(n + 1) * steps,
        terminated=np.ones(n, dtype=bool),
        final_observations=np.zeros((n, 1)),
        behavior=np.full(n * steps, 0.1),
    )
    asked = Case.of(data, TabularPolicy(np.array([[1.0, 0.0]])))
    for normalized in (False, True):
        assert np.isfinite(variance_problem(data, asked.decisions, 1.0, normalized).returns).all()
        values = fit_mrdr(data, asked.decisions, 1.0, steps, normalized=normalized)
        assert np.isfinite(values(data.observations, asked.steps_left)).all()


def test_values_keep_within_possible_returns() -> None:
    world = TabularWorld.random(3, 2, 4, np.random.default_rng(0))
    data = world.collect(np.full((3, 2), 0.5), 20, np.random.default_rng(1))
    values = fit_mrdr(data, Case.of(data, TabularPolicy(np.full((3, 2), 0.5))).decisions, 1.0, 4, degree=6)
    found = values(data.observations, 4 - data.steps)
    left = 4 - data.steps
    assert (found <= np.maximum(data.rewards.max(), data.rewards.max() * left)[:, None] + 1e-12).all()
    assert (found >= np.minimum(data.rewards.min(), data.rewards.min() * left)[:, None] - 1e-12).all()
