"""A disk that is full, memory that is used up: one line, and what was stored stays."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repbm import Evaluation, evaluate
from repbm.cli import main
from repbm.cli._machine import machine_fault
from repbm.core import InputError
from repbm.engines import LostWorker
from repbm.experiments import load_spec, reproduce
from tests.test_bad_input import GOOD, POLICY, put, tree
from tests.test_engines import SPEC
from tests.test_result_folder import PLOTS, contents


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """As if the disk had room for so many bytes of each file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_result_for_which_there_is_no_room_leaves_the_earlier_one(tmp_path: Path) -> None:
    first = evaluate(GOOD, POLICY, details=False)
    second = evaluate(put("reward", 5.0, 1.0, 5.0, 2.0), POLICY, details=False)
    first.write(tmp_path, PLOTS)
    before, page = contents(tmp_path), {"report.html": bytes(100_000)}
    for size in (*range(0, 3000, 150), 50_000):
        with largest_file(size), pytest.raises(InputError, match=r"cannot be written .*File too large"):
            second.write(tmp_path, page)
        assert contents(tmp_path) == before
        with largest_file(size), pytest.raises(InputError, match=r"cannot be written .*File too large"):
            second.write(tmp_path / "new", page)
        assert not (tmp_path / "new").exists()
    second.write(tmp_path, page)
    assert Evaluation.load(tmp_path).run == second.run


def test_runs_for_which_there_is_no_room_leave_the_earlier_ones(tmp_path: Path) -> None:
    spec = replace(load_spec("cartpole-short"), **SPEC)
    reproduce(spec, 1, tmp_path)
    before = contents(tmp_path)
    for size in (0, 1, 1000, len(before["runs.parquet"]) - 1):
        with largest_file(size), pytest.raises(InputError, match=r"cannot be written .*File too large"):
            reproduce(spec, 2, tmp_path)
        assert contents(tmp_path) == before
    assert reproduce(spec, 2, tmp_path).rows()["run"].n_unique() == 2


class PanicException(BaseException):
    pass


@pytest.mark.parametrize(
    ("fault", "line", "code"),
    [
        (MemoryError(), "memory is used up", 1),
        (OSError(12, "Cannot allocate memory"), "memory is used up", 1),
        (ImportError("libx.so: failed to map segment from shared object"), "memory is used up", 1),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes."), "memory is used up", 1),
        (PanicException("could not spawn threads: ThreadPoolBuildError"), "memory is used up", 1),
        (LostWorker("its process ended (signal 9)"), "its process ended (signal 9), every time; memory may be", 1),
        (OSError(28, "No space left on device"), "standard output: cannot be written (No space left on device)", 2),
        (OSError(28, "No space left on device", "x.csv"), "x.csv: cannot be written (No space left on device)", 2),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_faults_of_the_machine_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: BaseException, line: str, code: int
) -> None:
    def fail() -> None:
        raise fault

    monkeypatch.setattr("repbm.cli._main.app", fail)
    monkeypatch.setattr("repbm.cli._main.end_output", lambda: None)
    monkeypatch.setattr(sys, "argv", ["repbm", "evaluate"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == code
    assert said.startswith("repbm: ")
    assert line in said
    assert said.count("\n") == 1


def test_other_faults_keep_their_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are mistakes of ours."""
    for fault in (KeyError("x"), OSError(2, "No such file"), RuntimeError("x"), ImportError("x")):
        assert machine_fault(fault) is None
    wrapped = InputError("the policy fails")
    wrapped.__cause__ = MemoryError()
    assert machine_fault(wrapped) is not None


def test_memory_that_is_used_up_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A policy wants more than there is."""
    GOOD.write_parquet(tmp_path / "log.parquet")
    (tmp_path / "p.py").write_text("import numpy\n\ndef act(x):\n    return numpy.ones((len(x), 1 << 50))\n")
    before = tree(tmp_path)
    words = ["evaluate", tmp_path / "log.parquet", "--policy", f"{tmp_path}/p.py:act", "--out", tmp_path / "out"]
    monkeypatch.setattr(sys, "argv", ["repbm", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "memory is used up" in said.err
    assert [path for path in tree(tmp_path) if "__pycache__" not in path.parts] == before
