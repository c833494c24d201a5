"""Rewards and ends of the last step, whose next state is often not logged."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from repbm.core import FitRules
from repbm.data import Categorical, Trajectories
from repbm.models import AM, fit_closed_form, load_model
from repbm.models.parts._termination import ActionLogistic
from repbm.models.parts._termination_fit import fit_ends
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable
from repbm.policies import CallablePolicy

HORIZON = 8


def discharge(states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The probability to be discharged: by state and action."""
    return 1 / (1 + np.exp(3.5 - states[:, 0] - 1.5 * actions))


def clinic(episodes: int, generator: np.random.Generator, action: int | None = None) -> Trajectories:
    """Discharge pays 1, in the last row; the state after it is not logged."""
    states = generator.normal(size=(episodes, 2))
    going, rows = np.arange(episodes), []
    terminated = np.zeros(episodes, dtype=bool)
    for _ in range(HORIZON):
        actions = generator.integers(0, 2, len(going)) if action is None else np.full(len(going), action)
        out = generator.random(len(going)) < discharge(states, actions)
        rows.append((going, states, actions, out))
        terminated[going[out]] = True
        states = 0.8 * states + 0.2 * actions[:, None] + 0.3 * generator.normal(size=states.shape)
        going, states = going[~out], states[~out]
    episode, observations, actions, out = (np.concatenate(each) for each in zip(*rows, strict=True))
    order = np.argsort(episode, kind="stable")
    return Trajectories(
        observations=observations[order],
        actions=Categorical(actions[order].astype(np.int32), (0, 1)),
        rewards=out[order].astype(np.float64),
        offsets=np.append(0, np.cumsum(np.bincount(episode, minlength=episodes))),
        terminated=terminated,
        final_observations=np.full((episodes, 2), np.nan),
    )


def returns(data: Trajectories) -> np.ndarray:
    return np.add.reduceat(data.rewards, data.starts)


@pytest.mark.parametrize("action", [0, 1])
def test_a_reward_in_the_last_row_is_not_lost(action: int) -> None:
    """Its next state is not logged, and the value was 0.0. Within four standard errors of the mean of 1,000 returns."""
    data = clinic(1000, np.random.default_rng(0))
    truth = returns(clinic(40_000, np.random.default_rng(1), action))
    always = CallablePolicy(lambda x: np.full(len(x), action))
    model = fit_closed_form(data, None, AM, HORIZON)
    value = model.values(always, data.initial_observations, rollouts=4).values.mean()
    assert abs(value - truth.mean()) < 4 * truth.std() / np.sqrt(1000)


def test_ends_look_at_the_action(tmp_path) -> None:
    """Standard errors of the fitted rates are below 0.03 here; 4 of them. The form is the same after a round trip."""
    data = clinic(1000, np.random.default_rng(2))
    model = fit_closed_form(data, None, AM, HORIZON)
    assert isinstance(model.termination, ActionLogistic)
    states = np.random.default_rng(3).normal(size=(20, 2)) * 0.5
    model.save(tmp_path / "model.npz")
    for fitted in (model, load_model(tmp_path / "model.npz")):
        with jax.enable_x64(True):
            for action in (0, 1):
                actions = np.full(20, action)
                found = fitted.termination.ending(jnp.asarray(states), jnp.asarray(actions))  # type: ignore[attr-defined]
                np.testing.assert_allclose(np.asarray(found), discharge(states, actions), atol=0.12)


def test_ends_are_those_of_the_better_told_side() -> None:
    """The log shows all states: ends by the one after a step are told by it, those by the one before by that."""
    generator = np.random.default_rng(4)
    states = generator.uniform(-1, 1, (4000, 1))
    following = states + generator.normal(size=states.shape)
    reached = ends(states, following, following[:, 0] > 1)
    left = ends(states, following, generator.random(4000) < 1 / (1 + np.exp(2 - 4 * states[:, 0])))
    assert fit_ends(reached, Range.of(reached), FitRules())[1]
    assert not fit_ends(left, Range.of(left), FitRules())[1]


def ends(states: np.ndarray, following: np.ndarray, ended: np.ndarray) -> TransitionTable:
    count = len(states)
    data = Trajectories(
        observations=states,
        actions=Categorical(np.zeros(count, np.int32), (0,)),
        rewards=np.zeros(count),
        offsets=np.arange(count + 1),
        terminated=ended,
        final_observations=following,
    )
    return replace(TransitionTable.of(data, None), judged=np.ones(count, dtype=bool))


def test_rewards_of_the_state_after_are_kept_where_the_last_steps_pay_alike() -> None:
    """Cut logs lack their last state, too, but nothing is paid there that other steps do not pay."""
    generator = np.random.default_rng(5)
    states = generator.normal(size=(300, 6, 1))
    rewards = np.append(states[:, 1:, 0], generator.normal(size=(300, 1)), axis=1)
    data = Trajectories(
        observations=states.reshape(-1, 1),
        actions=Categorical(np.zeros(1800, np.int32), (0,)),
        rewards=rewards.reshape(-1),
        offsets=np.arange(301) * 6,
        terminated=np.zeros(300, dtype=bool),
        final_observations=np.full((300, 1), np.nan),
    )
    assert fit_closed_form(data, None, AM, 6).reward.after  # type: ignore[attr-defined]
    paid_last = replace(data, rewards=np.where(np.arange(1800) % 6 == 5, 5.0, data.rewards))
    model = fit_closed_form(paid_last, None, AM, 6)
    assert not model.reward.after  # type: ignore[attr-defined]
    still = CallablePolicy(lambda x: np.zeros(len(x), dtype=int))
    assert model.values(still, data.initial_observations, rollouts=8).values.mean() == pytest.approx(5.0, abs=0.5)
