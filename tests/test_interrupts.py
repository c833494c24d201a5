"""Ctrl-C, as on a terminal, in every engine: everything stops, one line says so, and nothing that is stored is lost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.commands import EVALUATE, RAY_AGENTS, REPRODUCE, ended, files, hidden, prepare, running
from tests.test_bad_input import tree

pytestmark = pytest.mark.slow

_ENGINES = {
    "process": (),
    "processes": ("--workers", "2"),
    "ray": ("--workers", "2", "--engine", "ray"),
}
_SLOW = """
import time
from pathlib import Path

def act(x):
    for k in range(len(x)):
        Path("acting").touch()
        time.sleep(600)
    return [0] * len(x)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped")
    prepare(folder)
    (folder / "slow.py").write_text(_SLOW)
    return folder


def test_an_evaluation_is_stopped(folder: Path) -> None:
    before = tree(folder)
    words = ("evaluate", "first.csv", "--policy", "slow.py:act", "--estimator", "wis", "--out", "new")
    with running(folder, *words) as command:
        assert command.until((folder / "acting").exists)
        command.interrupt()
        assert command.end() == (130, "", "repbm: stopped; nothing is half-written\n")
        assert command.gone()
    (folder / "acting").unlink()
    assert [path for path in tree(folder) if "__pycache__" not in path.parts] == before


@pytest.mark.parametrize("engine", _ENGINES)
def test_an_experiment_is_stopped_and_resumed(folder: Path, tmp_path: Path, engine: str) -> None:
    """After the first stored run. In the end all is as if nobody had stopped it."""
    if engine == "ray":
        pytest.importorskip("ray")
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert ended(folder, *REPRODUCE, "--out", whole)[0] == 0
    words = (*REPRODUCE, "--runs", "30", "--out", out, *_ENGINES[engine])
    environment = {"TMPDIR": str(tmp_path / "temporary")}
    (tmp_path / "temporary").mkdir()
    if engine == "ray":
        environment = {}  # its sockets need a short path
    with running(folder, *words, environment=environment) as command:
        assert command.until((out / "runs.parquet").exists)
        command.interrupt()
        stopped = "repbm: stopped; finished runs are kept, and the same command resumes\n"
        assert command.end() == (130, "", stopped)
        assert command.gone(RAY_AGENTS if engine == "ray" else 60)
    stored = _rows(out)
    assert 0 < stored["run"].n_unique() < 30
    assert not hidden(out)
    assert not list((tmp_path / "temporary").iterdir())
    assert stored.filter(pl.col("run") < 6).equals(
        _rows(whole).filter(pl.col("run").is_in(stored["run"].unique().to_list()))
    )
    code, _, error = ended(folder, *words, environment=environment)
    assert (code, error) == (0, "")
    assert _rows(out).filter(pl.col("run") < 6).equals(_rows(whole))
    assert _rows(out)["run"].n_unique() == 30


@pytest.mark.parametrize("engine", ["processes", "ray"])
def test_fits_side_by_side_are_stopped(folder: Path, tmp_path: Path, engine: str) -> None:
    """What stands in the folder stays."""
    if engine == "ray":
        pytest.importorskip("ray")
    assert ended(folder, "evaluate", "first.csv", *EVALUATE, "--out", tmp_path / "out")[0] == 0
    before = files(tmp_path / "out")
    words = ("evaluate", "second.csv", "--policy", "p.py:act", "--estimator", "am", "--refits", "500")
    with running(folder, *words, "--out", tmp_path / "out", *_ENGINES[engine]) as command:
        assert command.until(lambda: len(command.alive()) > 2)
        assert not command.until(lambda: False, 3)
        command.interrupt()
        assert command.end() == (130, "", "repbm: stopped; nothing is half-written\n")
        assert command.gone(RAY_AGENTS if engine == "ray" else 60)
    assert files(tmp_path / "out") == before
    assert not hidden(tmp_path / "out")


def _rows(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "runs.parquet").drop("seconds")
