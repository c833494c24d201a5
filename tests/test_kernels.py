"""Sums of kernels: their arithmetic, their centers and lengths, and when a fit takes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from repbm.data import Trajectories
from repbm.models import (
    AM,
    BOTH_RISKS,
    CLOSED_FORM,
    KERNEL,
    POLYNOMIAL,
    ContinuousModel,
    compare,
    fit_closed_form,
    load_model,
    save_model,
)
from repbm.models.dynamics._functions import KernelDynamics, PolynomialDynamics
from repbm.models.regression._kernel import KernelSum, matern
from repbm.models.regression._kernel_fit import COARSE, FINE, KernelProblem
from repbm.models.regression._kernel_scales import _unlikelihood, likely_scales
from repbm.models.regression._pivoted_cholesky import pivoted_cholesky
from tests.systems import linear_step, logged, rescaled


def wavy_step(states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """A bend that polynomials need very many terms for."""
    wave = np.column_stack([np.tanh(8 * states[:, 1]), np.sin(5 * states[:, 0])])
    return linear_step(states, actions) + 0.3 * wave


def drawn(count: int, dimensions: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (count, dimensions))


def matern_by_hand(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    s = np.sqrt(5) * np.linalg.norm(x[:, None] - y[None], axis=2)
    return (1 + s + s**2 / 3) * np.exp(-s)


def problem(positions: np.ndarray, actions: np.ndarray, targets: np.ndarray) -> KernelProblem:
    return KernelProblem(positions, actions, targets, np.ones(len(positions)), 2, 0)


def test_compiled_and_plain_sums_are_the_formula() -> None:
    lengths = np.array([0.5, 2.0])
    generator = np.random.default_rng(1)
    centers, coefficients, trend = (generator.normal(size=shape) for shape in ((2, 5, 2), (2, 5, 3), (2, 3, 3)))
    function = KernelSum(lengths, centers, coefficients, trend)
    positions, actions = drawn(20, 2) * 1.5, generator.integers(0, 2, 20)
    inside = np.clip(positions, -1, 1)
    terms = np.column_stack([np.ones(20), inside])
    expected = np.stack(
        [matern_by_hand(inside / lengths, centers[a]) @ coefficients[a] + terms @ trend[a] for a in range(2)], axis=1
    )
    with jax.enable_x64(True):
        np.testing.assert_allclose(function(jnp.asarray(positions)), expected, rtol=1e-10, atol=1e-12)
    own = expected[np.arange(20), actions]
    np.testing.assert_allclose(function.of_actions(positions, actions), own, rtol=1e-10, atol=1e-12)


def test_pivots_factor_the_kernel_matrix() -> None:
    x = drawn(300, 2)
    chosen, factor = pivoted_cholesky(x, 300, 1e-6, np.random.default_rng(0))
    assert 30 < len(chosen) < 300
    assert len(np.unique(chosen)) == len(chosen)
    lower = factor[chosen]
    np.testing.assert_allclose(lower, np.tril(lower), atol=1e-9)
    np.testing.assert_allclose(lower @ lower.T, matern(x[chosen], x[chosen]), atol=1e-9)
    left = np.diag(matern(x, x) - factor @ factor.T)
    assert left.min() > -1e-9
    assert left.max() <= 1e-6 + 1e-9
    few, _ = pivoted_cholesky(x, 20, 1e-6, np.random.default_rng(0))
    assert len(few) == 20
    # Copies of three points have three points to choose.
    assert len(pivoted_cholesky(np.repeat(x[:3], 50, axis=0), 100, 1e-9, np.random.default_rng(0))[0]) == 3


def test_the_slope_of_the_likelihood() -> None:
    positions = drawn(40, 3)
    outputs = np.column_stack([np.sin(3 * positions[:, 0]), positions[:, 1] ** 2 + positions[:, 2]])
    at = np.log([0.7, 1.5, 2.0, 1e-3])
    slope = _unlikelihood(at, positions, outputs)[1]
    h = 1e-5
    finite = [
        (_unlikelihood(at + h * e, positions, outputs)[0] - _unlikelihood(at - h * e, positions, outputs)[0]) / (2 * h)
        for e in np.eye(4)
    ]
    np.testing.assert_allclose(slope, finite, rtol=1e-5)


def likelihood_by_jax(parameters: jax.Array, positions: jax.Array, outputs: jax.Array) -> jax.Array:
    """The formula of `likely_scales` alone, to be differentiated automatically."""
    count, several = outputs.shape
    x = positions / jnp.exp(parameters[:-1])
    squares = ((x[:, None] - x) ** 2).sum(axis=2)
    s = jnp.sqrt(5 * jnp.where(squares > 0, squares, 1.0))
    covariance = jnp.where(squares > 0, (1 + s + s**2 / 3) * jnp.exp(-s), 1.0) + jnp.exp(parameters[-1]) * jnp.eye(
        count
    )
    factor = jnp.linalg.cholesky(covariance)
    variances = (jax.scipy.linalg.solve_triangular(factor, outputs, lower=True) ** 2).sum(axis=0) / count
    return several * jnp.log(jnp.diag(factor)).sum() + count / 2 * jnp.log(variances).sum()


def test_likelihood_and_slope_are_those_of_automatic_differentiation() -> None:
    """In well-conditioned places: both lose digits as the noise gets small, to 1e-6 at 1e-11."""
    positions = drawn(60, 3)
    positions[7] = positions[3]
    outputs = np.column_stack([np.sin(3 * positions[:, 0]), positions[:, 1] ** 2 + positions[:, 2]])
    for at in np.log([[0.7, 1.5, 2.0, 1e-3], [3.0, 3.0, 3.0, 1e-2], [0.1, 0.5, 20.0, 0.5]]):
        value, slope, _ = _unlikelihood(at, positions, outputs)
        with jax.enable_x64(True):
            expected = jax.value_and_grad(likelihood_by_jax)(*map(jnp.asarray, (at, positions, outputs)))
        assert value == pytest.approx(float(expected[0]), rel=1e-12)
        np.testing.assert_allclose(slope, expected[1], rtol=1e-10, atol=1e-10 * np.abs(expected[1]).max())


def test_rounding_does_not_make_a_likelihood_fail() -> None:
    """Far from 0 differences of positions lose the digits that so little noise would need."""
    positions = drawn(120, 2) + 1e5
    value, slope, _ = _unlikelihood(np.log([3.0, 3.0, 1e-11]), positions, np.sin(positions[:, :1]))
    assert np.isfinite([value, *slope]).all()


def test_lengths_and_noise_are_those_of_the_data() -> None:
    """A fast, a slow and an idle dimension; noise of a tenth, with a margin of a third on 200 rows (over 5 errors)."""
    positions = drawn(200, 3)
    clean = np.sin(6 * positions[:, :1]) + 0.5 * positions[:, 1:2] ** 2
    reach = likely_scales([(positions, clean)])
    assert reach.lengths[0] < reach.lengths[1] < reach.lengths[2]
    assert reach.noise_deviation < 1e-3
    noisy = likely_scales([(positions, clean + 0.1 * np.random.default_rng(3).normal(size=clean.shape))])
    assert 0.066 < noisy.noise_deviation < 0.133


def test_kernels_beat_noise_and_use_all_rows() -> None:
    """Between the rows the error is far below the noise on them; more rows than candidates for centers help too."""
    positions, actions = drawn(6000, 2), np.random.default_rng(1).integers(0, 2, 6000)
    truth = np.sin(4 * positions[:, :1] + actions[:, None]) * positions[:, 1:]
    targets = truth + 0.2 * np.random.default_rng(2).normal(size=truth.shape)
    given, every = problem(positions, actions, targets), np.ones(6000, dtype=bool)
    scales = given.scales(every)
    test, test_actions = drawn(500, 2, seed=9) * 0.95, np.random.default_rng(10).integers(0, 2, 500)
    expected = np.sin(4 * test[:, :1] + test_actions[:, None]) * test[:, 1:]
    errors = []
    for size in (replace(COARSE, rows=1 << 8), replace(FINE, candidates=1 << 10)):
        missed = given.fitted(every, scales, size).of_actions(test, test_actions) - expected
        errors.append(float(np.sqrt((missed**2).mean())))
    assert errors[1] < 0.03
    assert errors[1] < 0.5 * errors[0]


def test_an_action_without_rows_and_weights_of_zero() -> None:
    positions, targets = drawn(50, 2), drawn(50, 1, seed=4)
    given = problem(positions, np.zeros(50, dtype=int), targets)
    every, spoiled = np.ones(50, dtype=bool), np.arange(50) == 7
    one, other = np.zeros(50, dtype=int), np.ones(50, dtype=int)
    scales = given.scales(~spoiled)
    assert np.all(given.fitted(every, scales, FINE).of_actions(positions, other) == 0)
    # A row of weight 0 is as good as absent.
    light = replace(given, targets=targets + 99.0 * spoiled[:, None], weights=1.0 - spoiled)
    with_it, without = light.fitted(every, scales, FINE), given.fitted(~spoiled, scales, FINE)
    np.testing.assert_allclose(with_it.of_actions(positions, one), without.of_actions(positions, one))


def next_states(model: ContinuousModel, data: Trajectories) -> np.ndarray:
    with jax.enable_x64(True):
        following = np.asarray(model.dynamics(jnp.asarray(data.observations)))
    return following[np.arange(len(following)), data.actions.codes]


def test_a_fit_takes_kernels_where_polynomials_miss_and_only_there() -> None:
    """From the log alone; a fresh log of the same world confirms the choice."""
    log, fresh = logged(1, episodes=300, step=wavy_step), logged(2, episodes=50, step=wavy_step)
    expected = wavy_step(fresh.data.observations, fresh.data.actions.codes)
    chosen = fit_closed_form(log.data, log.support, BOTH_RISKS, 8)
    forced = fit_closed_form(log.data, log.support, BOTH_RISKS, 8, kind=POLYNOMIAL)
    assert isinstance(chosen.dynamics, KernelDynamics)
    assert isinstance(forced.dynamics, PolynomialDynamics)
    assert chosen.noise is None
    one, other = (np.sqrt(((next_states(m, fresh.data) - expected) ** 2).mean()) for m in (chosen, forced))
    assert one < 0.2 * other
    simple = logged(1, episodes=300)
    assert isinstance(fit_closed_form(simple.data, simple.support, BOTH_RISKS, 8).dynamics, PolynomialDynamics)
    # Where nothing but noise is left, kernels have nothing to add.
    noisy = logged(1, episodes=300, noise=0.3)
    assert isinstance(fit_closed_form(noisy.data, noisy.support, BOTH_RISKS, 8).dynamics, PolynomialDynamics)


def test_kernels_notice_noise() -> None:
    log = logged(3, episodes=300, step=wavy_step, noise=0.1)
    model = fit_closed_form(log.data, log.support, AM, 8, kind=KERNEL)
    assert model.noise is not None
    assert np.asarray(model.noise.residuals).std(axis=(0, 1)) == pytest.approx([0.1, 0.1], rel=0.25)


def test_units_of_states_change_no_kernel() -> None:
    scale, shift = np.array([25.0, 0.003]), np.array([-3.0, 0.7])
    log = logged(1, step=wavy_step)
    other = rescaled(log, scale, shift)
    one, two = (fit_closed_form(each.data, each.support, BOTH_RISKS, 8, kind=KERNEL) for each in (log, other))
    back = (next_states(two, other.data) - shift) / scale
    np.testing.assert_allclose(back, next_states(one, log.data), atol=1e-5)


def test_a_kernel_model_survives_the_disk(tmp_path: Path) -> None:
    log = logged(4, step=wavy_step)
    model = fit_closed_form(log.data, log.support, AM, 8, kind=KERNEL)
    save_model(model, tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert isinstance(again, ContinuousModel)
    np.testing.assert_array_equal(next_states(again, log.data), next_states(model, log.data))


def test_a_comparison_names_kernels() -> None:
    assert compare(logged(1, episodes=300, step=wavy_step).data, 8, (CLOSED_FORM,)).chosen == "kernel"
    assert compare(logged(1, episodes=300).data, 8, (CLOSED_FORM,)).chosen == "polynomial"
