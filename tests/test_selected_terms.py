"""Polynomials of few terms of many: found, and no worse than exact where the world is exact."""

from __future__ import annotations

import numpy as np

from repbm.data import Categorical, Trajectories
from repbm.models import AM, fit_closed_form
from repbm.models.regression._selected import FOLDS, fit_selected
from repbm.policies import CallablePolicy

MATRIX = np.array([[0.8, 0.2], [-0.2, 0.8]])
PUSH = np.array([[0.4, 0.0], [-0.3, 0.2]])


def problem(rows: int = 1500, columns: int = 20, noise: float = 0.1):
    """y_0 = 3 z_1 - 2 z_4 z_5 for action 0, and its half for action 1; y_1 is noise."""
    generator = np.random.default_rng(1)
    z, actions = generator.uniform(-1, 1, (rows, columns)), generator.integers(0, 2, rows)
    exact = np.where(actions == 0, 1.0, 0.5) * (3 * z[:, 1] - 2 * z[:, 4] * z[:, 5])
    targets = np.column_stack([exact, np.zeros(rows)]) + noise * generator.normal(size=(rows, 2))
    return z, actions, targets, exact


def test_the_terms_that_matter_are_found() -> None:
    """Of 231 terms: the exact function to five standard errors of two coefficients, and nothing of what is noise."""
    z, actions, targets, exact = problem()
    found = fit_selected(z, actions, targets, np.ones(len(z)), np.arange(len(z)) % FOLDS, 2, simpler=1.0)
    fitted = found.polynomial.of_actions(z, actions)
    assert np.abs(fitted[:, 0] - exact).max() < 5 * 0.1 * np.sqrt(2 * 9 / 750)
    assert np.abs(fitted[:, 1]).max() < 0.03
    # What is missed on rows of other episodes has the size of the noise, not less.
    np.testing.assert_allclose(found.missed.std(axis=0), 0.1, rtol=0.1)


def test_an_exact_function_is_found_exactly() -> None:
    z, actions, targets, exact = problem(noise=0.0)
    found = fit_selected(z, actions, targets, np.ones(len(z)), np.arange(len(z)) % FOLDS, 2, simpler=1.0)
    np.testing.assert_allclose(found.polynomial.of_actions(z, actions)[:, 0], exact, atol=1e-8)


def noisy_columns(episodes: int, seed: int, own: bool, length: int = 8, columns: int = 20) -> Trajectories:
    generator = np.random.default_rng(seed)
    states, seen, acted, paid = generator.normal(size=(episodes, 2 + columns)), [], [], []
    for _ in range(length):
        actions = (states[:, 0] > 0).astype(np.int32) if own else generator.integers(0, 2, episodes, dtype=np.int32)
        seen.append(states)
        acted.append(actions)
        paid.append((states[:, :2] ** 2).sum(axis=1))
        moved = states[:, :2] @ MATRIX.T + PUSH[actions] + 0.4 * generator.normal(size=(episodes, 2))
        states = np.hstack([moved, generator.normal(size=(episodes, columns))])
    return Trajectories(
        observations=np.stack(seen, axis=1).reshape(-1, 2 + columns),
        actions=Categorical(np.stack(acted, axis=1).reshape(-1), (0, 1)),
        rewards=np.stack(paid, axis=1).reshape(-1),
        offsets=np.arange(episodes + 1) * length,
        terminated=np.zeros(episodes, dtype=bool),
        final_observations=states,
    )


def test_columns_of_noise_do_not_ruin_a_value() -> None:
    """A reward that only a polynomial of degree 2 tells, for which 22 columns have too many terms. Within four standard
    errors of the mean return."""
    data = noisy_columns(150, 0, False)
    truth = np.add.reduceat(noisy_columns(20_000, 1, True).rewards, np.arange(20_000) * 8)
    policy = CallablePolicy(lambda x: (x[:, 0] > 0).astype(int))
    value = fit_closed_form(data, None, AM, 8).values(policy, data.initial_observations, rollouts=8).values.mean()
    assert abs(value - truth.mean()) < 4 * truth.std() / np.sqrt(150)
