"""An evaluation is data: stored, loaded, rendered and run again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm import Evaluation, evaluate
from repbm.cli import main
from repbm.core import InputError, Thresholds
from repbm.domains import TabularWorld
from repbm.evaluation import repeat
from repbm.logs import log_frame
from repbm.report import report

TABLES = ("estimates", "individuals", "diagnostics", "ranking", "episodes")
POLICY = "def act(x):\n    return (x[:, 0] > 2).astype(int)\n"


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    """A folder with a log, a policy, and the result of the command."""
    folder = tmp_path_factory.mktemp("stored")
    world = TabularWorld.random(5, 2, 6, np.random.default_rng(3))
    data = world.collect(np.full((5, 2), 0.5), 200, np.random.default_rng(4))
    log_frame(data).write_csv(folder / "log.csv")
    (folder / "p.py").write_text(POLICY)
    (folder / "people.csv").write_text("individual,obs_state\nx,1\ny,3\n")
    words = (
        f"evaluate {folder}/log.csv --policy now={folder}/p.py:act --refits 3 --seed 4 --discount 0.9 --level 0.9 "
        f"--individuals {folder}/people.csv --rule support.largest_precision=3 --rule subgroups.fewest_individuals=50 "
        f"--estimator repbm --estimator wdr(repbm) --estimator wis --out {folder}/result --plots --quiet"
    )
    with pytest.MonkeyPatch.context() as patch:
        assert run(patch, *words.split()) == 0
    return folder


def run(monkeypatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["repbm", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_what_is_loaded_is_what_was_stored(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    log = {
        "episode": np.repeat(np.arange(150), 2),
        "obs": generator.integers(0, 3, size=(300, 2)).astype(float),
        "action": generator.choice(["wait", "treat"], 300),
        "reward": generator.normal(size=300),
        "terminated": np.tile([False, True], 150),
    }
    found = evaluate(log, lambda x: np.where(x[:, 0] > 0, "treat", "wait"))
    found.write(tmp_path / "result")
    again = Evaluation.load(tmp_path / "result")
    for name in TABLES:
        assert getattr(again, name).equals(getattr(found, name)), name
        assert getattr(again, name).schema == getattr(found, name).schema
    assert again.run == found.run
    assert again.policies == found.policies
    assert again.behavior == found.behavior
    assert again.examination.to_dict() == found.examination.to_dict()
    assert again.backtest is not None
    assert found.backtest is not None
    np.testing.assert_array_equal(again.backtest.predicted, found.backtest.predicted)
    assert report(again).html() == report(found).html()
    with pytest.raises(InputError, match="Python object"):
        repeat(tmp_path / "result")


def test_everything_that_decides_is_in_the_record(stored: Path) -> None:
    arguments = json.loads((stored / "result" / "run.json").read_text())["arguments"]
    assert arguments["fit"] == "auto"
    assert (arguments["folds"], arguments["refits"], arguments["seed"]) == (1, 3, 4)
    usual = Thresholds().to_dict()
    assert arguments["thresholds"].keys() == usual.keys()
    assert arguments["thresholds"]["support"]["largest_precision"] == 3
    assert arguments["thresholds"]["headline"] == usual["headline"]
    assert arguments["policies"]["now"].endswith("p.py:act")


def test_running_again_gives_the_same_files(stored: Path, monkeypatch, capsys) -> None:
    assert run(monkeypatch, "rerun", str(stored / "result"), "--out", str(stored / "again"), "--quiet") == 0
    one, two = (
        {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        for folder in (stored / "result", stored / "again")
    )
    assert one.keys() == two.keys()
    assert {path for path in one if one[path] != two[path]} == set()


def test_the_page_is_made_again_without_the_log(stored: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    before = (stored / "result" / "report.html").read_bytes()
    (stored / "log.csv").rename(stored / "gone.csv")
    try:
        assert run(monkeypatch, "report", str(stored / "result"), "--out", str(tmp_path / "page.html")) == 0
    finally:
        (stored / "gone.csv").rename(stored / "log.csv")
    assert (tmp_path / "page.html").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("report", "nowhere"), "run.json"),
        (("rerun", "nowhere", "--out", "out"), "run.json"),
        (("report", "{stored}/result", "--out", "page.txt"), "end in .html"),
        (
            ("evaluate", "{stored}/log.csv", "--policy", "{stored}/p.py:act", "--rule", "suport.x=1"),
            "did you mean 'support'",
        ),
        (
            ("evaluate", "{stored}/log.csv", "--policy", "{stored}/p.py:act", "--rule", "support.far=1"),
            "no threshold in",
        ),
        (
            ("evaluate", "{stored}/log.csv", "--policy", "{stored}/p.py:act", "--rule", "novelty.neighbor=x"),
            "whole number",
        ),
        (("doctor", "{stored}/log.csv", "--rule", "support"), "PURPOSE.NAME=VALUE"),
    ],
)
def test_mistakes_are_one_line(stored: Path, words, fault: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *(word.replace("{stored}", str(stored)) for word in words)) == 2
    err = capsys.readouterr().err
    assert fault in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_changed_log_is_not_run_again(stored: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    text = (stored / "log.csv").read_text()
    (stored / "log.csv").write_text(text + "\n")
    try:
        assert run(monkeypatch, "rerun", str(stored / "result"), "--out", str(tmp_path / "again")) == 2
    finally:
        (stored / "log.csv").write_text(text)
    assert "has changed" in capsys.readouterr().err


def test_another_threshold_changes_the_verdict() -> None:
    world = TabularWorld.random(5, 2, 6, np.random.default_rng(3))
    data = world.collect(np.full((5, 2), 0.5), 40, np.random.default_rng(4))
    given = {"estimators": ["am"], "details": False}
    shy = evaluate(data, lambda x: (x[:, 0] > 2).astype(int), **given)
    bold = evaluate(
        data,
        lambda x: (x[:, 0] > 2).astype(int),
        thresholds=Thresholds.of({"support": {"largest_precision": 0.01}}),
        **given,
    )
    (one,), (two,) = (list(found.examination.verdicts.values()) for found in (shy, bold))
    assert one.supported
    assert two.word == "the log cannot tell"


def test_damaged_results_are_refused(stored: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(stored / "result", tmp_path / "copy")
    pl.read_csv(tmp_path / "copy" / "ranking.csv").drop("value").write_csv(tmp_path / "copy" / "ranking.csv")
    with pytest.raises(InputError, match="other columns"):
        Evaluation.load(tmp_path / "copy")
    (tmp_path / "copy" / "details.json").write_text("{")
    with pytest.raises(InputError, match=r"details\.json cannot be read"):
        Evaluation.load(tmp_path / "copy")
