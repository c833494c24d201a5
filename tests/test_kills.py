"""Commands that are killed, 100 of them in all, at moments that seeds choose: nothing half-written, nothing mixed.

Half of the kills come at any moment, half of them while files are being written. The command is really killed, and
with it nothing else: processes that it has started must notice. Which change of the file system a kill comes after is
tried one by one in `test_result_folder.py`; here it comes at any point, also inside of one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm import Evaluation
from tests.commands import EVALUATE, RAY_AGENTS, REPRODUCE, Command, ended, files, hidden, prepare, running

pytestmark = pytest.mark.slow

_KILLS = 5
"""A round: so often killed, then left to end."""
_WRITING = 0.05
"""Seconds that the files of a result take, about."""


@dataclass(frozen=True)
class Whole:
    """What commands leave that nobody kills, and the seconds that they take."""

    folder: Path
    seconds: dict[str, float]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    prepare(folder)
    seconds = {}
    for name, words in _COMMANDS.items():
        began = time.monotonic()
        code, _, error = ended(folder, *words, "--out", name)
        seconds[name] = time.monotonic() - began
        assert code == 0, error
    return Whole(folder, seconds)


_COMMANDS = {
    "first": ("evaluate", "first.csv", *EVALUATE),
    "second": ("evaluate", "second.csv", *EVALUATE),
    "runs": REPRODUCE,
}


def killed(command: Command, generator: np.random.Generator, seconds: float, written: Callable[[], bool]) -> None:
    """At any moment of so many seconds, or soon after the command is seen to write."""
    if generator.random() < 0.5:
        command.until(lambda: False, generator.uniform(0, seconds))
    else:
        command.until(written)
        command.until(lambda: False, generator.uniform(0, _WRITING) * generator.integers(2))
    command.kill()


@pytest.mark.parametrize("number", range(10))
def test_an_evaluation(whole: Whole, number: int) -> None:
    generator, out = np.random.default_rng(number), whole.folder / f"out{number}"
    held, others = None, set(whole.folder.iterdir()) | {out}
    for kill in range(_KILLS):
        wanted = ("first", "second")[kill % 2]
        words = (*_COMMANDS[wanted], "--out", out.name)
        with running(whole.folder, *words) as command:
            killed(command, generator, whole.seconds[wanted], lambda: any(map(_is_result, hidden(out))))
        if _stored(out):
            Evaluation.load(out)
            held = next(name for name in ("first", "second") if files(out) == files(whole.folder / name))
            assert held == wanted or kill > 0
        else:
            assert held is None
            assert not files(out)
    for wanted in ("first", "second"):
        assert ended(whole.folder, *_COMMANDS[wanted], "--out", out.name) == (0, "", "")
        assert files(out) == files(whole.folder / wanted)
        assert not hidden(out)
    assert set(whole.folder.iterdir()) <= others


def _is_result(name: str) -> bool:
    return name.startswith(".repbm")


def _stored(out: Path) -> bool:
    return (out / "run.json").exists() or (out / ".repbm.complete").exists()


@pytest.mark.parametrize("number", range(5))
def test_an_experiment(whole: Whole, number: int) -> None:
    _kill_and_resume(whole, number, whole.seconds["runs"])


@pytest.mark.parametrize("number", range(5, 7))
def test_an_experiment_in_processes(whole: Whole, number: int, tmp_path: Path) -> None:
    _kill_and_resume(whole, number, 1.5 * whole.seconds["runs"], "--workers", "2", temporary=tmp_path)


@pytest.mark.parametrize("number", range(7, 10))
def test_an_experiment_on_ray(whole: Whole, number: int) -> None:
    pytest.importorskip("ray")
    _kill_and_resume(
        whole, number, 2.5 * whole.seconds["runs"], "--workers", "2", "--engine", "ray", patience=RAY_AGENTS
    )


def _kill_and_resume(
    whole: Whole, number: int, seconds: float, *engine: str, temporary: Path | None = None, patience: float = 60
) -> None:
    generator, out = np.random.default_rng(number), whole.folder / f"out{number}-runs"
    environment = {} if temporary is None else {"TMPDIR": str(temporary)}
    words = (*REPRODUCE, "--out", out.name, *engine)
    reference = _rows(whole.folder / "runs")
    stored = 0
    for _ in range(_KILLS):
        with running(whole.folder, *words, environment=environment) as command:
            killed(command, generator, seconds, lambda: any(name.startswith(".runs") for name in hidden(out)))
            assert command.gone(patience)
        if (out / "runs.parquet").exists():
            found = _rows(out)
            assert found.equals(reference.filter(pl.col("run").is_in(found["run"].unique().to_list())))
            assert len(found) >= stored
            stored = len(found)
        else:
            assert not stored
    with running(whole.folder, *words, environment=environment) as command:
        code, _, error = command.end()
        assert (code, error) == (0, "")
        assert command.gone(patience)
    assert _rows(out).equals(reference)
    assert _others(out) == _others(whole.folder / "runs")
    assert not hidden(out)
    if temporary is not None:
        assert not list(temporary.iterdir())


def _rows(folder: Path) -> pl.DataFrame:
    """What is stored of runs, without the time that it took."""
    return pl.read_parquet(folder / "runs.parquet").drop("seconds")


def _others(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in files(folder).items() if name != "runs.parquet"}
