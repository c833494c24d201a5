"""Real commands on a machine in trouble: a full disk, a folder that is read-only, little memory, two at a time.

Each ends in a valid result, or in one line with what was stored before still there.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest

from tests.commands import EVALUATE, REPRODUCE, ended, files, hidden, prepare, running

pytestmark = pytest.mark.slow

_FIRST = ("evaluate", "first.csv", *EVALUATE)
_SECOND = ("evaluate", "second.csv", *EVALUATE)

_MOUNTED = 'mount -t tmpfs -o size="$1" tmpfs disk && cp -r stored/. disk && "$2" && shift 2 || exit 99'
"""A small disk that this command alone sees, with what is in `stored`."""
_KEPT = '"$@"; code=$?; cp -r disk/. kept; exit $code'


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs, an experiment, and results of commands that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole")
    prepare(folder)
    for name, words in (("first", _FIRST), ("second", _SECOND), ("runs", REPRODUCE)):
        assert ended(folder, *words, "--out", name)[0] == 0
    return folder


@pytest.fixture
def place(whole: Path, tmp_path: Path) -> Path:
    """A folder with the same logs; needs to be allowed to mount."""
    tried = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", tmp_path], capture_output=True)
    if tried.returncode:
        pytest.skip("no file system may be mounted here; test_no_room.py limits the size of files instead")
    prepare(tmp_path)
    for name in ("disk", "stored", "kept"):
        (tmp_path / name).mkdir()
    return tmp_path


def on_disk(place: Path, size: str, option: str, *words: str | Path) -> tuple[int, str, str]:
    """A command with a small disk at `disk`; what is on it in the end is in `kept`."""
    script = f"{_MOUNTED}; {_KEPT}"
    remount = {"": "true", "ro": str(place / "readonly")}[option]
    (place / "readonly").write_text("#!/bin/sh\nmount -o remount,ro disk\n")
    (place / "readonly").chmod(0o755)
    with running(place, *words, front=("unshare", "-rm", "sh", "-c", script, "sh", size, remount)) as command:
        return command.end()


def stored(place: Path, whole: Path, name: str) -> None:
    subprocess.run(["cp", "-r", whole / name, place / "stored" / "out"], check=True)


def told(code: int, printed: str, error: str, words: str) -> None:
    assert (code, printed) == (2, "")
    assert error.startswith("repbm: ")
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("kilobytes", [0, 16, 60, 100])
def test_a_disk_that_gets_full_while_a_result_is_replaced(whole: Path, place: Path, kilobytes: int) -> None:
    stored(place, whole, "first")
    used = sum(-(-len(content) // 4096) * 4 for content in files(whole / "first").values())
    outcome = on_disk(place, f"{used + kilobytes}k", "", *_SECOND, "--out", "disk/out")
    if outcome[0] == 0:
        assert files(place / "kept" / "out") == files(whole / "second")
    else:
        told(*outcome, "No space left on device")
        assert files(place / "kept" / "out") == files(whole / "first")
    assert not hidden(place / "kept" / "out")


@pytest.mark.parametrize("kilobytes", [4, 12, 20, 28])
def test_a_disk_that_gets_full_while_runs_are_stored(whole: Path, place: Path, kilobytes: int) -> None:
    """What was stored stays, and where there is room again the same command goes on."""
    code, _, error = on_disk(place, f"{kilobytes}k", "", *REPRODUCE, "--out", "disk/out")
    assert code in (0, 2)
    if code:
        assert error.startswith("repbm: ")
        assert error.count("\n") == 1
        assert "No space left on device" in error
    subprocess.run(["cp", "-r", place / "kept" / "out", place / "out"], check=False)
    if (place / "out" / "runs.parquet").exists():
        found = _rows(place / "out")
        assert found.equals(_rows(whole / "runs").filter(pl.col("run").is_in(found["run"].unique().to_list())))
    assert ended(place, *REPRODUCE, "--out", "out")[0] == 0
    assert _rows(place / "out").equals(_rows(whole / "runs"))


def test_processes_without_room_for_what_they_share(place: Path) -> None:
    """A page is left: enough to take the folder for one that can be written, as Python's `tempfile` does."""
    words = ("--policy", "p.py:act", "--estimator", "am", "--refits", "3", "--workers", "2", "--quiet")
    (place / "busy").write_text('#!/bin/sh\nexport TMPDIR=$PWD/disk\nexec "$@"\n')
    (place / "busy").chmod(0o755)
    script = f'{_MOUNTED}; head -c 12k /dev/zero > disk/filled; ./busy "$@"'
    front = ("unshare", "-rm", "sh", "-c", script, "sh", "16k", "true")
    with running(place, "evaluate", "first.csv", *words, "--out", "out", front=front) as command:
        told(*command.end(), "disk: cannot be written (No space left on device)")
    assert not (place / "out").exists()


def test_a_folder_that_is_read_only(whole: Path, place: Path) -> None:
    stored(place, whole, "first")
    for words in ((*_SECOND, "--out", "disk/out"), (*_SECOND, "--out", "disk/new"), ("report", "disk/out")):
        told(*on_disk(place, "4M", "ro", *words), "Read-only file system")
        assert files(place / "kept" / "out") == files(whole / "first")
    code, _, error = on_disk(place, "4M", "ro", "report", "disk/out", "--out", "page.html")
    assert (code, error) == (0, "")  # to read, nothing need be written
    told(*on_disk(place, "4M", "ro", *REPRODUCE, "--out", "disk/runs"), "Read-only file system")


def test_output_for_which_there_is_no_room(whole: Path) -> None:
    front = ("sh", "-c", '"$@" > /dev/full', "sh")
    with running(whole, *_FIRST[:-1], front=front) as command:
        code, _, error = command.end()
    assert code == 2
    assert error.splitlines()[-1] == "repbm: standard output: cannot be written (No space left on device)"
    assert "Traceback" not in error
    assert "Exception" not in error


@pytest.mark.parametrize("megabytes", [400, 700, 1500, 2200, 6000])
def test_little_memory(whole: Path, tmp_path: Path, megabytes: int) -> None:
    """A result, or one line. Libraries that end the process themselves when they get no memory say so themselves.

    Not tried: 800 to 1,200 megabytes of addresses, with which polars 2.1 may wait for threads that it could not start.
    """
    prepare(tmp_path)
    subprocess.run(["cp", "-r", whole / "first", tmp_path / "out"], check=True)
    front = ("sh", "-c", f'ulimit -v {megabytes * 1000}; exec "$@"', "sh")
    with running(tmp_path, *_SECOND, "--out", "out", front=front) as command:
        code, printed, error = command.end()
    if code == 0:
        assert files(tmp_path / "out") == files(whole / "second")
        return
    assert files(tmp_path / "out") == files(whole / "first")
    assert printed == ""
    # Extensions that get no memory may fail without saying why.
    assert "Traceback" not in error or "SystemError" in error
    if code == 1 and "repbm: " in error:
        assert "repbm: memory is used up" in error


def test_two_evaluations_into_one_folder(whole: Path) -> None:
    """The last one stays, whole."""
    for _ in range(3):
        with (
            running(whole, *_FIRST, "--out", "both") as one,
            running(whole, *_SECOND, "--out", "both") as other,
        ):
            assert one.end() == (0, "", "")
            assert other.end() == (0, "", "")
        assert files(whole / "both") in (files(whole / "first"), files(whole / "second"))
        assert not hidden(whole / "both")


def test_two_experiments_into_one_folder(whole: Path) -> None:
    """One is told, unless the other was done by then; rows are all there."""
    with running(whole, *REPRODUCE, "--out", "shared") as one, running(whole, *REPRODUCE, "--out", "shared") as other:
        ends = [one.end(), other.end()]
    assert 0 in [code for code, *_ in ends]
    for code, printed, error in ends:
        if code:
            told(code, printed, error, "shared: another command is writing to it; wait until it has ended")
    assert _rows(whole / "shared").equals(_rows(whole / "runs"))


def _rows(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "runs.parquet").drop("seconds")
