"""Tasks in several processes: the same rows, whoever does them; a failure reaches the caller."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from repbm.core import InputError
from repbm.engines import in_processes


def _squares() -> Callable[[int], int]:
    def square(number: int) -> int:
        if number < 0:
            raise InputError("a negative number")
        return number**2 * int(os.environ["OMP_NUM_THREADS"])

    return square


def test_every_task_is_done_once_and_the_environment_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert sorted(in_processes(_squares, range(5), 2)) == [(k, k**2) for k in range(5)]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert list(in_processes(_squares, [], 2)) == []


def test_an_error_of_a_task_is_that_of_all() -> None:
    with pytest.raises(InputError, match="a negative number"):
        list(in_processes(_squares, [1, -1], 2))


def test_an_experiment_gives_the_same_rows_in_processes(tmp_path: Path) -> None:
    # Here, not above: the processes of the other tests, which load this file too, need none of it.
    from repbm.experiments import load_spec, reproduce

    spec = replace(load_spec("cartpole-short"), episodes=30, horizon=40, rows=("is", "wis", "soft-pdis"))
    alone = reproduce(spec, 3, tmp_path / "alone")
    together = reproduce(spec, 3, tmp_path / "together", workers=2)
    assert together.rows().drop("seconds").equals(alone.rows().drop("seconds"))
