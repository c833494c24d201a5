"""What polynomials miss of action values is told by forests, and only that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from repbm.core import FittedQRules, work_alone
from repbm.critics import ActionValues, _fqe_forest, fit_fqe
from repbm.critics._action_values import StepwiseValues
from repbm.critics._bellman_sums import Problem
from repbm.critics._fqe_forest import CompletedValues
from repbm.data import Categorical, Trajectories
from repbm.policies import CallablePolicy

TREAT = CallablePolicy(lambda states: np.tile([0.0, 1.0], (len(states), 1)), actions=(0, 1))
DISCOUNT, HORIZON = 0.9, 6

Shape = Callable[[np.ndarray], np.ndarray]


def wave(x: np.ndarray) -> np.ndarray:
    return 2 * np.sin(4 * x)


def step(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x - 0.3) < 0.5, 2.0, -1.0)


def line(x: np.ndarray) -> np.ndarray:
    return 1.5 * x


def noise(x: np.ndarray) -> np.ndarray:
    return 0.0 * x


def one_step(shape: Shape, episodes: int = 800, seed: int = 0, scale: float = 1.0) -> Trajectories:
    """Three columns, of which the first tells of what is earned, the second of what the treatment adds."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(-2, 2, (episodes, 3))
    codes = (generator.random(episodes) < 0.5).astype(np.int32)
    return Trajectories(
        observations=scale * x,
        actions=Categorical(codes, (0, 1)),
        rewards=shape(x[:, 0]) + codes * x[:, 1] + generator.normal(0, 0.5, episodes),
        offsets=np.arange(episodes + 1),
        terminated=np.ones(episodes, dtype=bool),
        final_observations=scale * x,
    )


def walks(shape: Shape, episodes: int = 300, seed: int = 0) -> Trajectories:
    """A walk that the treatment pushes to the right, and that turns at the borders; what it pays depends on where."""
    generator = np.random.default_rng(seed)
    states, rewards, codes = (np.zeros((episodes, HORIZON + 1)) for _ in range(3))
    states[:, 0] = generator.uniform(-2, 2, episodes)
    for t in range(HORIZON):
        codes[:, t] = generator.random(episodes) < 0.5
        rewards[:, t] = shape(states[:, t]) + generator.normal(0, 0.3, episodes)
        states[:, t + 1] = moved(states[:, t], codes[:, t], generator)
    return Trajectories(
        observations=states[:, :HORIZON].reshape(-1, 1),
        actions=Categorical(codes[:, :HORIZON].ravel().astype(np.int32), (0, 1)),
        rewards=rewards[:, :HORIZON].ravel(),
        offsets=np.arange(episodes + 1) * HORIZON,
        terminated=np.zeros(episodes, dtype=bool),
        final_observations=states[:, HORIZON:],
    )


def moved(x: np.ndarray, treated: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    return np.clip(x + 0.3 * treated - 0.15 + generator.normal(0, 0.1, len(x)), -2, 2)


def worth(shape: Shape, starts: np.ndarray) -> np.ndarray:
    """By 2,000 walks from every start."""
    generator, x = np.random.default_rng(9), np.repeat(starts, 2000)
    total = np.zeros(len(x))
    for t in range(HORIZON):
        total += DISCOUNT**t * shape(x)
        x = moved(x, np.ones(len(x)), generator)
    return total.reshape(len(starts), -1).mean(axis=1)


def fitted(data: Trajectories, horizon: int, forests: bool = True) -> ActionValues:
    return fit_fqe(data, TREAT, DISCOUNT, horizon, forests=forests)


@pytest.mark.parametrize("shape", [wave, step])
def test_forests_tell_waves_and_steps(shape: Shape) -> None:
    data = one_step(shape)
    x = np.random.default_rng(5).uniform(-2, 2, (500, 3))
    true = shape(x[:, 0]) + x[:, 1]
    with_, without = (fitted(data, 1, forests)(x, np.ones(500, dtype=int))[:, 1] for forests in (True, False))
    assert ((with_ - true) ** 2).mean() < 0.5 * ((without - true) ** 2).mean()


def test_what_follows_is_told_too() -> None:
    """Values with many steps left are made of those with fewer, forests and all."""
    starts = np.linspace(-1.8, 1.8, 40)
    true, data = worth(step, starts), walks(step)
    errors = {}
    for forests in (True, False):
        found = fitted(data, HORIZON, forests)(starts[:, None], np.full(40, HORIZON))[:, 1]
        errors[forests] = ((found - true) ** 2).mean()
    assert errors[True] < 0.7 * errors[False]


@pytest.mark.parametrize("shape", [line, noise])
def test_nothing_is_added_where_polynomials_tell_all(shape: Shape) -> None:
    """Noise is not told: of ten logs one at most is taken for more, and then by next to nothing."""
    added = 0
    for seed in range(10):
        data = one_step(shape, seed=seed)
        found, plain = fitted(data, 1), fitted(data, 1, forests=False)
        left = np.ones(len(data), dtype=int)
        if isinstance(found.function, StepwiseValues):
            np.testing.assert_array_equal(found(data.observations, left), plain(data.observations, left))
            continue
        added += 1
        assert np.abs(found(data.observations, left) - plain(data.observations, left)).std() < 0.2
    assert added <= 1


def test_values_do_not_depend_on_units() -> None:
    left = np.ones(800, dtype=int)
    values = [fitted(data, 1)(data.observations, left) for data in (one_step(wave), one_step(wave, scale=1024.0))]
    np.testing.assert_allclose(*values, rtol=1e-6)


def test_values_do_not_depend_on_threads() -> None:
    data = walks(step)
    left = np.repeat([[1, 3, HORIZON]], 600, axis=0).ravel()
    alone = ThreadPoolExecutor(1, initializer=work_alone)
    with alone:
        one = alone.submit(lambda: fitted(data, HORIZON)(data.observations, left)).result()
    several = fitted(data, HORIZON)
    assert isinstance(several.function, CompletedValues)
    np.testing.assert_array_equal(several(data.observations, left), one)


def test_an_action_that_was_hardly_taken_is_left_to_polynomials() -> None:
    data = one_step(wave)
    codes = np.zeros(800, dtype=np.int32)
    codes[:6] = 1
    seldom = Trajectories(
        observations=data.observations,
        actions=Categorical(codes, (0, 1)),
        rewards=data.rewards,
        offsets=data.offsets,
        terminated=data.terminated,
        final_observations=data.final_observations,
    )
    found = fitted(seldom, 1).function
    assert isinstance(found, CompletedValues)
    assert list(found.leaves) == [0]


def test_many_actions_and_steps_leave_room_for_trees_of_one_leaf() -> None:
    """A year of hours and a dozen actions are more means than are kept, even with a leaf a tree."""
    found = fit_fqe(one_step(wave), TREAT, DISCOUNT, 1, rules=FittedQRules(most_means=1), forests=True)
    assert np.isfinite(found(np.zeros((1, 3)), np.ones(1, dtype=int))).all()


def test_of_long_episodes_a_few_numbers_of_steps_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once would be as many numbers as steps of the log times steps of the longest episode."""
    data, together, work = walks(step), [], _fqe_forest._missed_together
    left = np.repeat([[1, 3, HORIZON]], 600, axis=0).ravel()
    expected = fitted(data, HORIZON)(data.observations, left)

    def watched(problem: Problem, values: StepwiseValues, asked: Sequence[int]) -> np.ndarray:
        together.append(len(asked))
        return work(problem, values, asked)

    monkeypatch.setattr(_fqe_forest, "_CELLS", 2 * len(data.rewards))
    monkeypatch.setattr(_fqe_forest, "_missed_together", watched)
    np.testing.assert_array_equal(fitted(data, HORIZON)(data.observations, left), expected)
    assert max(together) == 2
