"""Folders of results: nothing foreign is touched, and no kill loses a result."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from repbm import Evaluation, evaluate
from repbm.cli import main
from repbm.core import InputError, locked
from repbm.evaluation import check_target
from tests.test_bad_input import GOOD, POLICY, Program, put, says, tree

PLOTS = {"plots/a.svg": b"<svg/>", "plots/b.svg": b"<svg/>"}


@pytest.fixture(scope="module")
def first() -> Evaluation:
    return evaluate(GOOD, POLICY, details=False)


@pytest.fixture(scope="module")
def second() -> Evaluation:
    return evaluate(put("reward", 5.0, 1.0, 5.0, 2.0), POLICY, details=False)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in tree(folder) if path.is_file()}


@pytest.mark.parametrize("name", ["estimates.csv", "plots/mine.png", "run.json", "report.html"])
def test_files_that_are_only_named_like_ours_stay(program: Program, name: str) -> None:
    program.out.mkdir()
    program.write(f"out/{name}", "{}")
    before = contents(program.folder)
    log = program.store(GOOD)
    says(program.refuses(log), "out", "other files", "new or an empty one")
    log.unlink()
    assert contents(program.folder) == before


def test_a_file_among_our_plots_stays(first: Evaluation, tmp_path: Path) -> None:
    first.write(tmp_path / "out", PLOTS)
    (tmp_path / "out" / "plots" / "mine.svg").write_text("mine")
    with pytest.raises(InputError, match=r"'plots/mine\.svg'"):
        first.write(tmp_path / "out", PLOTS)
    assert (tmp_path / "out" / "plots" / "mine.svg").read_text() == "mine"


def test_files_of_the_earlier_result_go(first: Evaluation, second: Evaluation, tmp_path: Path) -> None:
    first.write(tmp_path / "out", PLOTS | {"report.html": b"page"})
    (tmp_path / "out" / ".hidden").write_text("mine")
    second.write(tmp_path / "out", {"plots/b.svg": b"new"})
    found = contents(tmp_path / "out")
    assert found[".hidden"] == b"mine"
    assert found["plots/b.svg"] == b"new"
    assert not {"plots/a.svg", "report.html"} & set(found)
    second.write(tmp_path / "out")
    assert not (tmp_path / "out" / "plots").exists()
    (tmp_path / "out" / "report.html").write_text("made by repbm report")
    check_target(tmp_path / "out")


def test_names_in_a_record_lead_nowhere_else(first: Evaluation, tmp_path: Path) -> None:
    first.write(tmp_path / "out")
    (tmp_path / "mine").write_text("mine")
    record = tmp_path / "out" / "run.json"
    run = json.loads(record.read_text())
    run["files"] += ["../mine", str(tmp_path / "mine"), "a/../../mine", 5, None]
    record.write_text(json.dumps(run))
    first.write(tmp_path / "out")
    assert (tmp_path / "mine").read_text() == "mine"


def test_the_working_folder_stays(first: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    for _ in range(2):
        first.write(".")
    assert (tmp_path.stat().st_ino, Path.cwd()) == (before, tmp_path)
    assert (tmp_path / "run.json").exists()


def test_a_link_to_a_folder_stays(first: Evaluation, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to("disk")
    (tmp_path / "later").symlink_to("not-yet")
    for _ in range(2):
        first.write(tmp_path / "out")
        first.write(tmp_path / "later")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "disk" / "run.json").exists()
    assert (tmp_path / "not-yet" / "run.json").exists()
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(InputError, match="round"):
        first.write(tmp_path / "round")


def test_a_folder_that_cannot_be_renamed_is_written(
    first: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a mount point cannot: no name beside it is needed either."""
    out = tmp_path / "volume"
    (out / "lost+found").mkdir(parents=True)
    rename = os.rename

    def within(old: Any, new: Any, **given: Any) -> None:
        assert Path(old).is_relative_to(out)
        assert out not in (Path(old), Path(new))
        rename(old, new, **given)

    monkeypatch.setattr(os, "rename", within)
    tmp_path.chmod(0o555)
    try:
        first.write(out)
        first.write(out)
    finally:
        tmp_path.chmod(0o755)
    assert Evaluation.load(out).estimates.equals(first.estimates)


def test_a_target_is_tried_before_the_log_is_read(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    program.out.mkdir()

    def refused(*given: Any, **named: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "touch", refused)
    says(program.refuses("nowhere.csv"), "out", "Read-only file system")
    says(program.refuses("nowhere.csv", out=program.folder / "new"), str(program.folder), "Read-only file system")


def test_a_name_that_is_too_long_is_refused_first(program: Program) -> None:
    says(program.refuses("nowhere.csv", out=program.folder / ("x" * 300)), "too long")


class Killed(BaseException):
    """Nothing that comes after is done any more."""


def killed_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the file system take so many changes and no more."""
    left = [count]

    def limited(change: Callable[..., Any]) -> Callable[..., Any]:
        def one(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return change(*given, **named)

        return one

    for name in ("rename", "replace", "unlink", "rmdir", "mkdir"):
        monkeypatch.setattr(os, name, limited(getattr(os, name)))


@pytest.mark.parametrize("looked_at", [True, False], ids=["loaded", "run again"])
def test_no_kill_loses_a_result(first: Evaluation, second: Evaluation, tmp_path: Path, looked_at: bool) -> None:
    """Whenever it comes: the old result or the new one can be loaded, and the next run leaves nothing hidden."""
    seen, ended = set(), False
    for count in range(100):
        out = tmp_path / str(count)
        first.write(out, PLOTS)
        with pytest.MonkeyPatch.context() as patch:
            killed_after(count, patch)
            try:
                second.write(out, {"report.html": b"new"})
                ended = True
            except Killed:
                pass
        if looked_at:
            found = Evaluation.load(out)
            new = found.run == second.run
            seen.add(new)
            assert found.estimates.equals((second if new else first).estimates)
            assert (out / "report.html").exists() == new
        first.write(out, PLOTS)
        assert not [path for path in tree(tmp_path) if path.name.startswith(".")]
        if ended:
            break
    assert ended
    assert seen == ({False, True} if looked_at else set())


def test_what_is_killed_in_a_new_folder_can_be_run_again(first: Evaluation, tmp_path: Path) -> None:
    for count in range(20):
        with pytest.MonkeyPatch.context() as patch:
            killed_after(count, patch)
            with pytest.raises(Killed):
                first.write(tmp_path / str(count))
        first.write(tmp_path / str(count))
        assert not [path for path in tree(tmp_path) if path.name.startswith(".")]


def test_two_writers_and_a_reader_of_one_folder(first: Evaluation, second: Evaluation, tmp_path: Path) -> None:
    """What is there is always the one result or the other, whoever comes in between."""
    further = PLOTS, {"report.html": b"new"}
    first.write(tmp_path, further[0])

    def write_often(evaluation: Evaluation, more: dict[str, bytes]) -> None:
        for _ in range(8):
            evaluation.write(tmp_path, more)

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write_often, *each) for each in zip((first, second), further, strict=True)]
        while not all(writer.done() for writer in writers):
            found = Evaluation.load(tmp_path)
            assert found.estimates.equals((second if found.run == second.run else first).estimates)
        for writer in writers:
            writer.result()
    assert not [path for path in tree(tmp_path) if path.name.startswith(".")]
    assert (tmp_path / "plots").exists() != (tmp_path / "report.html").exists()


def test_a_folder_that_another_holds_is_waited_for_or_told(first: Evaluation, tmp_path: Path) -> None:
    first.write(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        with locked(tmp_path):
            assert Evaluation.load(tmp_path).run == first.run  # it does not wait for itself
            waiting = pool.submit(first.write, tmp_path, PLOTS)
            with pytest.raises(InputError, match="another command is writing to it"):
                pool.submit(_take, tmp_path).result()
            with pytest.raises(TimeoutError):
                waiting.result(0.1)
            assert not (tmp_path / "plots").exists()
        waiting.result()
    assert (tmp_path / "plots").exists()


def _take(folder: Path) -> None:
    with locked(folder, wait=False):
        pass


def test_a_failure_leaves_no_folder(first: Evaluation, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        first.write(tmp_path / "a" / "out", {"x" * 300: b""})
    assert tree(tmp_path) == []


def test_permissions_are_those_of_the_user(first: Evaluation, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        first.write(tmp_path / "out", PLOTS)
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in tree(tmp_path) if path.is_file()}
    folders = {path.stat().st_mode & 0o777 for path in tree(tmp_path) if path.is_dir()}
    assert (modes, folders) == ({0o640}, {0o750})


def test_the_demo_keeps_a_log_of_another(program: Program, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    log = program.store(GOOD, "log.parquet")
    before = log.read_bytes()
    monkeypatch.setattr(sys, "argv", ["repbm", "demo", "--out", str(program.folder)])
    with pytest.raises(SystemExit):
        main()
    says(capfd.readouterr().err.strip(), "another log", "new folder")
    assert log.read_bytes() == before


@pytest.mark.parametrize("content", ["[]", "{}", '{"policies": 5}', "[" * 5000, '{"doctor": []}'])
def test_damaged_details_are_one_line(first: Evaluation, tmp_path: Path, content: str) -> None:
    first.write(tmp_path)
    (tmp_path / "details.json").write_text(content)
    with pytest.raises(InputError) as caught:
        Evaluation.load(tmp_path)
    says(str(caught.value), str(tmp_path), "details.json", "evaluate again")
