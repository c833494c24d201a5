"""Fitted Q evaluation: exact where the world can be enumerated, or its values are polynomials."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import InputError
from repbm.critics import ActionValueCritic, FQENetwork, fit_fqe
from repbm.data import Categorical, Trajectories
from repbm.estimators import Case, DirectMethod
from repbm.policies import ActionColumn, CallablePolicy, TabularPolicy
from tests.laws.test_critic_laws import HORIZON, in_proportion
from tests.laws.test_estimator_laws import WORLDS, case
from tests.laws.worlds import enumerated


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_tabular_fitted_q_is_dynamic_programming(seed: int, discount: float) -> None:
    known = in_proportion(seed, deterministic=False)
    values = fit_fqe(known.data, TabularPolicy(known.policy), discount, HORIZON)
    exact = known.world.action_values(known.policy, discount)
    states = np.unique(known.data.observations)
    for t in range(HORIZON):
        found = values(states[:, None], np.full(len(states), HORIZON - t))
        np.testing.assert_allclose(found, exact[t, states.astype(int)], atol=1e-10)


def test_fitted_q_leaves_out_a_last_step_of_unknown_end() -> None:
    known = in_proportion(1, deterministic=False)
    policy = TabularPolicy(known.policy)
    # The horizon is longer than the log: every truncated episode would have gone on.
    blind = replace(known.data, final_observations=np.full_like(known.data.final_observations, np.nan))
    kept = np.ones(len(blind.rewards), dtype=bool)
    kept[blind.lasts] = blind.terminated
    values = fit_fqe(blind, policy, 1.0, 5)
    seen = fit_fqe(known.data, policy, 1.0, 5)
    exact = replace(known.world, horizon=5).action_values(known.policy)
    at = known.data.observations[:8], np.full(8, 5)
    np.testing.assert_allclose(seen(*at), exact[0, at[0][:, 0].astype(int)], atol=1e-10)
    assert np.isfinite(values(*at)).all()
    cells = blind.observations[kept, 0].astype(int) * 2 + blind.actions.codes[kept]
    means = np.bincount(cells, blind.rewards[kept], 8) / np.maximum(np.bincount(cells, minlength=8), 1)
    last = values(np.arange(3.0)[:, None], np.ones(3, dtype=int))
    seen_there = np.bincount(cells, minlength=8).reshape(4, 2)[:3] > 0
    np.testing.assert_allclose(last[seen_there], means.reshape(4, 2)[:3][seen_there], atol=1e-12)


def drifting(episodes: int = 300, horizon: int = 8) -> Trajectories:
    """s' = s + 0.1 (2a - 1), r = s + a, actions by a fair coin: Q is a polynomial of state and steps left."""
    generator = np.random.default_rng(5)
    actions = generator.integers(0, 2, size=(episodes, horizon))
    moves = np.cumsum(0.1 * (2 * actions - 1), axis=1)
    start = generator.uniform(-2, 2, size=(episodes, 1))
    states = np.concatenate([start, start + moves], axis=1)
    return Trajectories(
        observations=states[:, :-1].reshape(-1, 1),
        actions=Categorical(actions.reshape(-1).astype(np.int32), (0, 1)),
        rewards=(states[:, :-1] + actions).reshape(-1),
        offsets=np.arange(episodes + 1) * horizon,
        terminated=np.zeros(episodes, dtype=bool),
        final_observations=states[:, -1:],
        behavior=np.full(episodes * horizon, 0.5),
    )


UPWARD = CallablePolicy(lambda observations: np.ones(len(observations), dtype=int))


def drift_value(states: np.ndarray, horizon: int = 8) -> np.ndarray:
    return horizon * (states + 1) + 0.1 * horizon * (horizon - 1) / 2


def test_polynomial_fitted_q_is_exact_where_values_are_polynomials() -> None:
    data = drifting()
    critic, asked = ActionValueCritic(fit_fqe(data, UPWARD, 1.0, 8), "fqe"), Case.of(data, UPWARD)
    found = DirectMethod(critic)(asked).individual
    assert found is not None
    np.testing.assert_array_equal(critic.values_of(asked, data.initial_observations).values, found)
    start = data.initial_observations[:, 0]
    inner = np.abs(start) < 1
    np.testing.assert_allclose(found[inner], drift_value(start[inner]), atol=1e-5)


@pytest.mark.slow
def test_network_fitted_q_comes_near() -> None:
    data = drifting()
    values = fit_fqe(data, UPWARD, 1.0, 8, network=FQENetwork(width=32, updates=4000))
    start = np.linspace(-1, 1, 9)
    found = values(start[:, None], np.full(9, 8))[:, 1]
    assert np.abs(found - drift_value(start)).max() < 0.5


def test_fitted_q_needs_a_policy_that_acts() -> None:
    with pytest.raises(InputError, match="act in any state"):
        fit_fqe(drifting(), ActionColumn("a"), 1.0, 8)


def test_a_critic_names_the_action_it_does_not_know() -> None:
    known = enumerated(2, actions=3)
    fitted = fit_fqe(WORLDS[0].data, TabularPolicy(WORLDS[0].policy), 1.0, 3)
    with pytest.raises(InputError, match="knows no value of the action 2"):
        ActionValueCritic(fitted, "fqe")(case(known))
