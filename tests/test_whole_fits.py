"""Models whose form a sample has chosen, fitted to all steps by sums of parts: the same as a fit in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from repbm.core import stream
from repbm.data import Trajectories
from repbm.models import (
    AM,
    BOTH_RISKS,
    KERNEL,
    ContinuousModel,
    Objective,
    TabularModel,
    WholeFit,
    fit_closed_form,
    fit_tabular,
    whole_fit,
)
from repbm.models._tabular import Counts
from repbm.models.dynamics._functions import PolynomialDynamics
from repbm.models.parts._reward import PolynomialReward
from repbm.models.regression._features import features
from repbm.models.regression._polynomial import Polynomial
from repbm.models.transitions._table import TransitionTable
from repbm.policies import CallablePolicy
from tests.systems import curved_step, linear_step, logged

_CUTS = ([300], [7, 8, 250, 399], [1, 100, 101])


def _summed(fit: WholeFit[Any], data: Trajectories, cuts: Sequence[int], marginal: np.ndarray | None = None) -> Any:
    found = None
    for low, high in pairwise([0, *cuts, len(data)]):
        own = np.arange(low, high)
        weights = None if marginal is None else marginal[data.positions(own)]
        sums = fit.sums(data.take(own), weights)
        found = sums if found is None else found + sums
    return found


def _same(polynomial: Polynomial, z: np.ndarray, actions: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
    """Coefficients of plain weighted least squares with the same terms."""
    terms, own = polynomial.terms_of_outputs
    for action in range(len(polynomial.coefficients)):
        rows = actions == action
        x, root = features(z[rows], terms, np), np.sqrt(weights[rows, None])
        for output, used in enumerate(own):
            expected = np.linalg.lstsq(root * x[:, used], root[:, 0] * y[rows, output], rcond=None)[0]
            found = polynomial.of_actions(z[rows], np.full(rows.sum(), action))[:, output]
            np.testing.assert_allclose(found, x[:, used] @ expected, atol=1e-9 * np.abs(y).max())


def _log(episodes: int = 400) -> Trajectories:
    return logged(1, episodes, noise=0.05, step=curved_step).data


@pytest.mark.parametrize("cuts", _CUTS, ids=str)
@pytest.mark.parametrize("objective", [AM, BOTH_RISKS.with_strength(3.0)], ids=["am", "repbm"])
def test_coefficients_are_those_of_a_fit_to_the_whole_log(cuts: list[int], objective: Objective) -> None:
    data = _log()
    few = data.take(np.arange(0, 400, 4))
    base = fit_closed_form(few, None, AM, 8)
    fit = whole_fit(base, few, objective)
    assert fit is not None
    marginal = stream(0, "weights").exponential(size=len(data.rewards)) if objective.target else None
    sums = _summed(fit, data, cuts, marginal)
    assert sums.steps == len(data.rewards) == 3200
    found = fit.model(sums)
    assert isinstance(found, ContinuousModel)
    assert isinstance(base.dynamics, PolynomialDynamics)
    assert isinstance(found.dynamics, PolynomialDynamics)
    assert isinstance(found.reward, PolynomialReward)
    table = TransitionTable.of(data, None)
    weights = np.ones(3200) if marginal is None else 1 + 3 * marginal
    z = (table.states - base.dynamics.center) / base.dynamics.half_width
    y = (table.next_states - table.states) / base.dynamics.half_width
    missed = np.abs(y - base.dynamics.change.of_actions(z, table.actions))
    rows = (missed <= 20 * np.median(missed[np.isin(table.episodes, np.arange(0, 400, 4))], axis=0)).all(axis=1)
    # What lies beyond the sample's box by far is no smooth change: two or three steps.
    assert 3190 < rows.sum() < 3200
    _same(found.dynamics.change, z[rows], table.actions[rows], y[rows], weights[rows])
    looked_at = table.next_states if found.reward.after else table.states
    z = (looked_at - found.reward.center) / found.reward.half_width
    _same(found.reward.polynomial, z, table.actions, table.rewards[:, None], weights)
    np.testing.assert_array_equal(found.dynamics.change.terms, base.dynamics.change.terms)
    assert found.noise is base.noise
    assert found.termination is base.termination


def test_more_steps_leave_less_error() -> None:
    """Of 64 times as many steps an eighth."""
    data = logged(1, 6400, noise=0.05).data
    few = data.take(np.arange(100))
    base = fit_closed_form(few, None, AM, 8)
    fit = whole_fit(base, few, AM)
    assert fit is not None
    found = fit.model(fit.sums(data, None))
    assert isinstance(found, ContinuousModel)
    states, actions = few.observations, few.actions.codes
    truth = linear_step(states, actions)
    errors = [np.sqrt(((model.dynamics.taken(states, actions) - truth) ** 2).mean()) for model in (base, found)]
    assert errors[1] < errors[0] / 4


@pytest.mark.parametrize("cuts", _CUTS, ids=str)
def test_rare_jumps_are_left_out_as_in_the_sample(cuts: list[int]) -> None:
    """As if it were not known what followed."""
    data, odd = _log(), np.arange(400)[::97]
    few = data.take(np.arange(2, 400, 4))
    fit = whole_fit(fit_closed_form(few, None, AM, 8), few, AM)
    assert fit is not None
    models = []
    for value in (50.0, np.nan):
        finals = data.final_observations.copy()
        finals[odd] = value
        models.append(fit.model(_summed(fit, replace(data, final_observations=finals), cuts)))
    jumping, rest = models
    states = data.observations[:50]
    np.testing.assert_allclose(jumping.dynamics(states), rest.dynamics(states), rtol=1e-9)
    assert np.abs(fit.model(fit.sums(data, None)).dynamics(states) - rest.dynamics(states)).max() > 1e-6  # pyright: ignore


def test_kernels_have_no_sums() -> None:
    data = _log(60)
    assert whole_fit(fit_closed_form(data, None, AM, 8, kind=KERNEL), data, AM) is None


def _table(episodes: int, horizon: int = 6) -> Trajectories:
    """A walk on twelve states, the last of which hardly anybody reaches, with rewards of many values."""
    generator = np.random.default_rng(3)
    table = logged(2, episodes, horizon).data
    drift = np.where(table.actions.codes == 1, 0.6, -0.3) + generator.integers(-1, 2, len(table.rewards))
    places = np.clip(np.round(np.cumsum(drift) % 12), 0, 11)
    return replace(
        table,
        observations=places[:, None],
        final_observations=np.where(np.arange(episodes) % 3 == 0, np.nan, 3.0)[:, None],
        terminated=np.arange(episodes) % 3 == 0,
        rewards=places * 0.1 + generator.normal(size=len(places)),
        observation_names=("x",),
    )


@pytest.mark.parametrize("cuts", _CUTS, ids=str)
@pytest.mark.parametrize("weighed", [False, True], ids=["am", "repbm"])
def test_a_table_is_that_of_the_whole_log(cuts: list[int], weighed: bool) -> None:
    data = _table(400)
    few = data.take(np.flatnonzero(~(data.observations[data.starts, 0] == 7))[:60])
    few = few.take(np.arange(len(few)))
    objective = BOTH_RISKS.with_strength(2.0) if weighed else AM
    base = fit_tabular(few, None, AM, 6)
    fit = whole_fit(base, few, objective)
    assert fit is not None
    marginal = stream(1, "weights").exponential(size=len(data.rewards)) if weighed else None
    found, expected = fit.model(_summed(fit, data, cuts, marginal)), fit_tabular(data, None, AM, 6)
    if marginal is not None:
        counts = Counts.of(data, TransitionTable.of(data, None, horizon=6), 6)
        expected = counts.model(1 + 2 * marginal)
    assert isinstance(found, TabularModel)
    np.testing.assert_array_equal(found.states, expected.states)
    np.testing.assert_allclose(found.visits, expected.visits, rtol=1e-12)
    np.testing.assert_allclose(found.rewards, expected.rewards, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.moves.toarray(), expected.moves.toarray(), rtol=1e-9, atol=1e-15)
    policy = CallablePolicy(lambda states: (states[:, 0] > 5).astype(np.int64), actions=(0, 1))
    policy = policy.bind(data.names, None)
    own, other = (
        model.values(policy, expected.states, horizon=6).values  # pyright: ignore[reportArgumentType]
        for model in (found, expected)
    )
    np.testing.assert_allclose(own, other, rtol=1e-9)
    # Single returns are drawn among the sample's rewards, in the right places.
    means = [
        model.returns(policy, expected.states, horizon=6, rollouts=2000).mean(axis=0)  # pyright: ignore[reportArgumentType]
        for model in (found, expected)
    ]
    spread = np.abs(means[0] - means[1]).max()
    assert spread < 1.0
