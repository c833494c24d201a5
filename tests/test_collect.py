"""repbm collect: logs of simulated worlds, read back unchanged, and its refusals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from repbm.cli import main
from repbm.core import stream
from repbm.domains import benchmark_policy, benchmark_world, collect
from repbm.logs import read_log


def run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["repbm", "collect", *map(str, words)])
    with pytest.raises(SystemExit) as done:
        main()
    return done.value.code if isinstance(done.value.code, int) else 0


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("domain", ["cartpole-short", "mountaincar", "map2d", "tree"])
def test_round_trip(domain: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / f"log.{suffix}"
    assert run(monkeypatch, domain, "--episodes", "7", "--out", out, "--seed", "3") == 0
    log = read_log(out)
    same = collect(benchmark_world(domain), benchmark_policy(domain), 7, stream(3, "collect", domain), 0.2)
    np.testing.assert_array_equal(log.observations, same.observations)
    np.testing.assert_array_equal(log.rewards, same.rewards)
    np.testing.assert_array_equal(log.terminated, same.terminated)
    np.testing.assert_array_equal(log.final_observations, same.final_observations)
    assert log.behavior is not None
    assert same.behavior is not None
    np.testing.assert_array_equal(log.behavior, same.behavior)
    taken = [[data.actions.labels[code] for code in data.actions.codes] for data in (log, same)]
    assert taken[0] == taken[1]
    assert [file.name for file in tmp_path.iterdir()] == [out.name]


def test_a_log_of_patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "log.parquet"
    assert run(monkeypatch, "hiv", "--episodes", "2", "--out", out, "--epsilon", "0.05") == 0
    log = read_log(out)
    assert len(log) == 2
    assert log.truncated.all()
    assert log.lengths.tolist() == [200, 200]


def test_patients_need_a_solver(tmp_path: Path) -> None:
    """One line where diffrax is missing, and no file."""
    words = ["repbm", "collect", "hiv", "--episodes", "2", "--out", str(tmp_path / "log.csv")]
    code = f"import sys; sys.modules['diffrax'] = None; sys.argv = {words!r}\nfrom repbm.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "repbm: this needs diffrax; pip install 'repbm[hiv]'\n"
    assert list(tmp_path.iterdir()) == []


def test_policy_epsilon_and_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("import numpy as np\n\n\ndef right(x):\n    return np.full(len(x), 2)\n")
    out = tmp_path / "log.csv"
    words = ("map2d", "--episodes", "3", "--out", out, "--epsilon", "0", "--noise", "0")
    assert run(monkeypatch, *words, "--policy", f"{tmp_path / 'mine.py'}:right") == 0
    log = read_log(out)
    assert log.actions.labels == (2,)
    np.testing.assert_array_equal(np.diff(log.observations[:3, 0]), [1.0, 1.0])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("cartpol-long --out log.csv", "no domain 'cartpol-long'; did you mean 'cartpole-long'?"),
        ("chess --out log.csv", "use one of cartpole-long"),
        ("tree --out log.txt", "let it end in .csv or .parquet"),
        ("tree --out missing/log.csv", "there is no such folder"),
        ("tree --out folder.csv", "this is a folder"),
        (f"tree --out {'x' * 300}.csv", "File name too long"),
        ("tree --out log.csv --episodes 0", "0 episodes"),
        ("tree --out log.csv --epsilon 1.5", "epsilon 1.5"),
        ("tree --out log.csv --noise 0.1", "the tree takes no noise"),
        ("map2d --out log.csv --noise -1", "noise"),
        ("map2d --out log.csv --noise nan", "noise"),
        ("tree --out log.csv --policy none.npz", "no such file"),
        ("tree --out log.csv --policy column:x", "logged steps only"),
        ("tree --out log.csv --policy wide.npz", "takes 4 inputs"),
    ],
)
def test_refusals(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    benchmark_policy("cartpole-long").save(tmp_path / "wide.npz")
    assert run(monkeypatch, *words.split()) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("repbm: ")
    assert told in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.csv", "wide.npz"]
