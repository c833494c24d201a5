"""A known function, a log, and what every test of foreign policies asks about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm.core import InputError
from repbm.policies import Policy
from repbm.policies.adapters import EnginePolicy
from tests.test_bad_input import Program

GENERATOR = np.random.default_rng(0)
WEIGHTS = GENERATOR.normal(size=(3, 4)).astype(np.float32)
OBSERVATIONS = GENERATOR.normal(size=(200, 3))
LABELS = (0, 1, 2, 3)


def scores(observations: np.ndarray) -> np.ndarray:
    return observations.astype(np.float32) @ WEIGHTS


def softmax(values: np.ndarray) -> np.ndarray:
    odds = np.exp(values - values.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


EXPECTED = scores(OBSERVATIONS).argmax(axis=1)


def small_log(labels: tuple[Any, ...] = LABELS) -> pl.DataFrame:
    """60 episodes of 3 steps with observations a, b, c, and random actions."""
    generator = np.random.default_rng(1)
    n, steps = 60, 3
    observations = generator.normal(size=(n * steps, 3))
    return pl.DataFrame(
        {
            "episode": np.repeat(np.arange(n), steps),
            **{f"obs_{name}": observations[:, k] for k, name in enumerate("abc")},
            "action": [labels[k] for k in np.tile(np.arange(len(labels)), n * steps)[: n * steps]],
            "reward": generator.normal(size=n * steps),
            "terminated": np.tile([False, False, True], n),
            "behavior_prob": np.full(n * steps, 1 / len(labels)),
        }
    )


def acts(policy: Policy, observations: np.ndarray = OBSERVATIONS, labels: tuple[Any, ...] = LABELS) -> np.ndarray:
    """The actions that a deterministic policy takes."""
    assert isinstance(policy, EnginePolicy)
    choices = policy.choices(observations, labels)
    assert choices.deterministic
    return np.asarray(choices.labels)[choices.what]


def refused(build: Callable[[], Any], *words: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    message = str(caught.value)
    assert "\n" not in message
    assert not [word for word in words if word not in message], message


def evaluated(program: Program, policy: str, *options: str, log: pl.DataFrame | None = None) -> pl.DataFrame:
    """The estimates that the command line writes for a policy."""
    path = program.store(small_log() if log is None else log)
    code, _, error = program.run(path, "--policy", policy, "--out", program.out, "--estimator", "wpdis", *options)
    assert (code, [line for line in error.splitlines() if not line.startswith("note: ")]) == (0, [])
    return pl.read_csv(program.out / "estimates.csv")


class Bomb:
    """Leaves a trace if anybody unpickles it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.trace,))


class Absent:
    """An importer that does not find one package."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
