"""Tasks here, in processes and on Ray: the same results, whoever does them; failures are told, and others go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repbm.core import InputError, in_threads
from repbm.engines import (
    Engine,
    InProcess,
    LostWorker,
    Note,
    Processes,
    Ray,
    TasksFailed,
    all_values,
    as_engine,
    in_order,
    opened,
)


def _sums(shared: np.ndarray) -> Callable[[int, Note], tuple[float, bool]]:
    factor = float(os.environ["OMP_NUM_THREADS"])

    def work(number: int, note: Note) -> tuple[float, bool]:
        if number < 0:
            raise InputError("a negative number")
        note(f"task {number}")
        return float((shared[number:] ** 2).sum()) * factor, shared.flags.writeable

    return work


def _failing(folder: Path) -> Callable[[str, Note], str]:
    def work(task: str, note: Note) -> str:
        tries = folder / task
        tries.write_text((tries.read_text() if tries.exists() else "") + "x")
        if task == "always":
            raise KeyError("always")
        if task == "once" and tries.read_text() == "x":
            raise OSError("only once")
        if task == "dies" and tries.read_text() == "x":
            os.kill(os.getpid(), signal.SIGKILL)
        if task == "wrong":
            raise InputError("wrong", where="here", fix="do not")
        return f"{task} {len(tries.read_text())}"

    return work


def _again_and_again(folder: Path) -> Callable[[int, Note], int]:
    def work(task: int, note: Note) -> int:
        if task == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    return work


@pytest.fixture
def two() -> Iterator[Engine]:
    with Processes(2) as engine:
        yield engine


def check_failures(engine: Engine, folder: Path) -> None:
    """A task that fails is tried again; the others go on."""
    tasks = ["good", "always", "once", "wrong", "fine"]
    done = list(in_order(engine.map(_failing, tasks, shared=folder)))
    assert [one.value for one in done] == ["good 1", None, "once 2", None, "fine 1"]
    assert repr(done[1].error) == "KeyError('always')"
    assert str(done[3].error) == "here: wrong; do not"
    assert (folder / "always").read_text() == "xx"
    assert (folder / "wrong").read_text() == "x"  # what is wrong stays wrong
    with pytest.raises(KeyError):
        all_values(engine.map(_failing, ["good", "always", "fine"], shared=folder))


def test_every_task_is_done_once_and_the_environment_stays(two: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    shared, said = np.arange(1000.0), []
    here = all_values(InProcess().map(_sums, range(5), shared=shared))
    done = list(two.map(_sums, range(5), shared=shared, note=said.append))
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert sorted(one.index for one in done) == list(range(5))
    assert [one.result()[0] * 7 for one in sorted(done, key=lambda one: one.index)] == [value for value, _ in here]
    # What is shared is mapped, not copied: nobody may write to it.
    assert not any(one.result()[1] for one in done)
    assert sorted(said) == [f"task {k}" for k in range(5)]
    assert list(two.map(_sums, [], shared=shared)) == []
    # The same processes serve the next tasks, with what these share.
    assert [value for value, _ in all_values(two.map(_sums, [0, 1], shared=np.ones(3)))] == [3.0, 2.0]


def test_a_failed_task_is_tried_again_and_others_go_on(two: Engine, tmp_path: Path) -> None:
    for name, engine in (("here", InProcess()), ("processes", two)):
        (tmp_path / name).mkdir()
        check_failures(engine, tmp_path / name)


def test_a_process_that_is_killed_is_replaced(two: Engine, tmp_path: Path) -> None:
    assert all_values(two.map(_failing, ["good", "dies", "fine"], shared=tmp_path)) == ["good 1", "dies 2", "fine 1"]
    found = list(in_order(two.map(_again_and_again, range(3), shared=tmp_path)))
    assert isinstance(found[0].error, LostWorker)
    assert "signal 9" in str(found[0].error)
    assert [one.value for one in found[1:]] == [1, 2]


def _own_thread(shared: None) -> Callable[[int, Note], bool]:
    return lambda task, note: set(in_threads(lambda _: threading.get_ident(), range(8))) == {threading.get_ident()}


def test_a_task_beside_others_takes_one_thread(two: Engine) -> None:
    assert all_values(two.map(_own_thread, range(2), shared=None)) == [True, True]


def test_to_stop_iterating_stops_all_tasks(two: Engine, tmp_path: Path) -> None:
    def begin(folder: Path) -> Callable[[int, Note], int]:
        def work(task: int, note: Note) -> int:
            time.sleep(0 if task == 0 else 600)
            return task

        return work

    tasks = two.map(begin, range(4), shared=tmp_path)
    assert next(tasks).value == 0
    tasks.close()
    assert all_values(two.map(_failing, ["good", "fine"], shared=tmp_path)) == ["good 1", "fine 1"]


def test_functions_of_files_travel(two: Engine, tmp_path: Path) -> None:
    """A policy in a Python file, and what lies beside it, cannot be imported by name elsewhere."""
    from repbm.policies.adapters import as_policy

    (tmp_path / "beside.py").write_text("def half(x):\n    return x / 2\n")
    (tmp_path / "rules.py").write_text(
        "from beside import half\n\n\ndef act(states):\n    return (half(states[:, 0]) > 1).astype(int)\n"
    )
    policy = as_policy(f"{tmp_path / 'rules.py'}:act")

    def begin(policy):
        return lambda task, note: policy.probabilities(np.array([[1.0], [4.0]]), (0, 1)).tolist()

    assert all_values(two.map(begin, [0, 1], shared=policy)) == [[[1.0, 0.0], [0.0, 1.0]]] * 2


def test_memory_mapped_arrays_are_shared_as_arrays(two: Engine, tmp_path: Path) -> None:
    from repbm.engines._packing import packed

    array = np.lib.format.open_memmap(tmp_path / "array.npy", "w+", np.float64, (1000,))
    array[:] = np.arange(1000.0)
    buffers: list = []
    assert len(packed(array, buffers)) < 1000
    assert len(buffers) == 1
    (one, _), _ = all_values(two.map(_sums, [0, 1], shared=array))
    assert one == (np.arange(1000.0) ** 2).sum()


def test_what_cannot_travel_is_said_in_one_line(two: Engine) -> None:
    with pytest.raises(InputError, match=r"cannot be sent to other processes \(cannot pickle .*lock.*use the engine"):
        all_values(two.map(_sums, [0, 1], shared=threading.Lock()))  # type: ignore[arg-type]

    def begin(shared: None) -> Callable[[int, Note], object]:
        return lambda task, note: threading.Lock() if task else task

    good, bad = in_order(two.map(begin, [0, 1], shared=None))
    assert good.value == 0
    assert "cannot pickle" in str(bad.error)


def test_shared_arrays_that_a_killed_program_left_are_removed(
    two: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / ".repbm.0123abcd.partial"
    left.mkdir()
    (left / "shared").write_bytes(b"the log of yesterday")
    tasks = two.map(_sums, range(2), shared=np.ones(10))
    next(tasks)
    (folder,) = tmp_path.iterdir()
    assert folder != left
    assert folder.stat().st_mode & 0o777 == 0o700
    list(tasks)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"missing: cannot be written \(No such file"):
        list(two.map(_sums, range(2), shared=np.ones(10)))


def test_a_script_without_a_guard_is_told(tmp_path: Path) -> None:
    """A new process loads the script, which starts processes again: no more than a few of them."""
    program = tmp_path / "program.py"
    program.write_text(
        "from repbm.engines import Processes\n"
        "def begin(shared):\n"
        "    return lambda task, note: task\n"
        "list(Processes(2).map(begin, range(3), shared=None))\n"
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "processes end before they begin; do the work of a script under `if __name__" in done.stderr


def test_names_of_engines() -> None:
    assert isinstance(as_engine(), InProcess)
    assert isinstance(as_engine(workers=2), Processes)
    assert as_engine("processes").workers == len(os.sched_getaffinity(0))
    assert isinstance(as_engine("ray"), Ray)
    assert isinstance(as_engine(ray_address="somewhere"), Ray)
    with pytest.raises(InputError, match="use one of process, processes, ray"):
        as_engine("dask")
    with pytest.raises(InputError, match="2 workers in one process"):
        as_engine("process", 2)
    with pytest.raises(InputError, match="use the engine 'ray'"):
        as_engine("processes", 2, "somewhere")
    given = InProcess()
    with opened(given) as engine:
        assert engine is given


SPEC: dict[str, Any] = {"episodes": 30, "horizon": 40, "rows": ("is", "wis", "soft-pdis")}


@pytest.mark.slow
def test_an_experiment_gives_the_same_rows_in_processes(two: Engine, tmp_path: Path) -> None:
    # Here, not above: the processes of the other tests, which load this file too, need none of it.
    from repbm.experiments import load_spec, reproduce

    spec = replace(load_spec("cartpole-short"), **SPEC)
    alone = reproduce(spec, 3, tmp_path / "alone")
    together = reproduce(spec, 3, tmp_path / "together", engine=two)
    assert together.rows().drop("seconds").equals(alone.rows().drop("seconds"))


def test_runs_that_fail_are_told_and_the_others_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from repbm.experiments import _spec, load_spec, reproduce

    spec, real = replace(load_spec("cartpole-short"), **SPEC), _spec.Spec.worker

    def sometimes(self):
        work = real(self)

        def rows(task, seed, announce):
            if task.run == 1:
                raise ZeroDivisionError("run 1")
            return work(task, seed, announce)

        return rows

    with monkeypatch.context() as patched:
        patched.setattr(_spec.Spec, "worker", sometimes)
        with pytest.raises(TasksFailed, match=r"1 of 3 failed; run 2 of 3: ZeroDivisionError: run 1"):
            reproduce(spec, 3, tmp_path / "runs")
    store = reproduce(spec, 3, tmp_path / "runs")
    assert store.rows()["run"].unique().to_list() == [0, 1, 2]


def test_ctrl_c_stops_everything_and_keeps_what_is_stored(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from repbm.engines import Processes\n"
        "def begin(folder):\n"
        "    def work(task, note):\n"
        "        if task:\n"
        "            (folder / f'pid{os.getpid()}').touch()\n"
        "            time.sleep(600)\n"
        "        return task\n"
        "    return work\n"
        "if __name__ == '__main__':\n"
        "    folder = Path(sys.argv[1])\n"
        "    with Processes(2) as engine:\n"
        "        for done in engine.map(begin, range(3), shared=folder):  # not closed: the end of the engine does\n"
        "            (folder / f'stored{done.result()}').touch()\n"
    )
    child = subprocess.Popen(
        [sys.executable, str(program), str(tmp_path)], start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + 60
        while len(list(tmp_path.glob("pid*"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        os.killpg(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=30)
    finally:
        child.kill()
    assert said.count("Traceback") == 1  # that of the program itself
    assert said.strip().endswith("KeyboardInterrupt")
    assert (tmp_path / "stored0").exists()
    for process in tmp_path.glob("pid*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(process.name[3:]), 0)
