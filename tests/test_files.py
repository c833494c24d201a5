"""Files that are written whole, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from repbm.core import InputError, is_partial, locked, partial_file, partial_folder, write_whole, writing
from repbm.logs import read_log


def names(folder: Path) -> list[str]:
    return sorted(child.name for child in folder.iterdir())


def test_a_file_is_replaced_when_it_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    out.write_text("old")

    def write(path: Path) -> None:
        assert path.parent == out.parent
        assert path.suffix == ".csv"
        assert is_partial(path)
        path.write_text("new")
        assert out.read_text() == "old"

    write_whole(str(out), write)
    assert out.read_text() == "new"
    assert names(tmp_path) == ["table.csv"]
    assert not is_partial(out)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    out.write_text("old")

    def stop(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(out, stop)
    assert out.read_text() == "old"
    assert names(tmp_path) == ["table.csv"]


def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    write_whole(tmp_path / "ours", lambda path: path.write_text("x"))
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(("name", "why"), [("missing/x.csv", "No such file"), ("x" * 300, "File name too long")])
def test_what_cannot_be_written_is_one_line(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: cannot be written \({why}"):
        write_whole(tmp_path / name, lambda path: path.write_text("x"))
    assert names(tmp_path) == []
    with pytest.raises(InputError, match=r"^there: cannot be written \(because\)$"), writing("there"):
        raise OSError("because")


def test_a_place_is_kept_until_the_end_of_the_block(tmp_path: Path) -> None:
    with partial_file(tmp_path / "policy.npz") as place:
        assert names(tmp_path) == [place.name]
        with partial_file(tmp_path / "policy.npz") as other:
            assert other != place
    assert names(tmp_path) == []
    for left, partial in ((".runs.parquet.123.partial", True), ("a.partial.csv", False), (".hidden", False)):
        assert is_partial(tmp_path / left) is partial


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "disk" / "table.csv")
    write_whole(tmp_path / "link.csv", lambda path: path.write_text("x"))
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "disk" / "table.csv").read_text() == "x"
    assert names(tmp_path) == ["disk", "link.csv"]


@pytest.mark.skipif(os.name != "posix", reason="no such locks")
def test_what_a_killed_program_left_is_removed_by_the_next(tmp_path: Path) -> None:
    for left in (".table.0123abcd.partial.csv", ".other.0123abcd.partial.csv", ".table.partial.csv"):
        (tmp_path / left).write_text("half")
    (tmp_path / ".repbm.0123abcd.partial" / "plots").mkdir(parents=True)
    with partial_folder(tmp_path) as living, partial_folder(tmp_path):
        write_whole(tmp_path / "table.csv", lambda path: path.write_text("x"))
        assert living.is_dir()
    assert names(tmp_path) == [".other.0123abcd.partial.csv", ".table.partial.csv", "table.csv"]


def test_a_name_as_long_as_can_be_is_written(tmp_path: Path) -> None:
    write_whole(tmp_path / ("x" * 251 + ".csv"), lambda path: path.write_text("x"))
    assert len(names(tmp_path)) == 1


@pytest.mark.skipif(os.name != "posix", reason="no such locks")
@pytest.mark.parametrize("place", [partial_file, partial_folder])
def test_a_place_that_is_taken_for_a_left_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Callable[[Path], AbstractContextManager[Path]]
) -> None:
    """Another program may clean up before the new place is locked, or look at it just then."""
    import fcntl

    real, calls = fcntl.flock, []

    def late(opened: int, how: int) -> None:
        calls.append(how)
        if len(calls) == 1:
            for path in tmp_path.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if len(calls) == 2:
            raise BlockingIOError
        real(opened, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with place(tmp_path / "table.csv" if place is partial_file else tmp_path) as made:
        assert made.exists()
        assert len(calls) == 3


@pytest.mark.skipif(os.name != "posix", reason="no such locks")
def test_a_file_system_without_locks_is_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def unknown(opened: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unknown)
    with locked(tmp_path), locked(tmp_path / "missing", wait=False), partial_folder(tmp_path) as made:
        write_whole(made / "table.csv", lambda path: path.write_text("x"))


def test_a_result_is_no_log(tmp_path: Path) -> None:
    """It was read as five tables, each with faults of its own: a screen full."""
    for name in ("run.json", "estimates.csv", "individuals.csv"):
        (tmp_path / name).write_text("policy,value\n")
    with pytest.raises(InputError, match="this is a result, not a log; give the log that it is about"):
        read_log(tmp_path)
