"""An evaluation gives the same numbers, bit for bit, wherever its critics are fitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repbm import evaluate
from repbm.cli import main
from repbm.core import InputError
from repbm.engines import Engine, Processes
from repbm.evaluation import Evaluation, Fitting, repeat
from repbm.models import KINDS, NETWORK, AutoFit

FILES = ("estimates", "individuals", "diagnostics", "ranking")


def logged(episodes: int = 60, steps: int = 4, table: bool = False) -> dict[str, np.ndarray]:
    """A log of a line that is walked with noise, or of a few whole states."""
    drawn = np.random.default_rng(0)
    count = episodes * steps
    states = drawn.integers(0, 4, (count, 1)).astype(float) if table else drawn.normal(size=(count, 2))
    actions = drawn.integers(0, 2, count)
    last = np.tile(np.arange(steps) == steps - 1, episodes)
    return {
        "episode": np.repeat(np.arange(episodes), steps),
        "obs": states,
        "action": actions,
        "reward": states[:, 0] * (actions - 0.3) + 0.1 * drawn.normal(size=count),
        "terminated": last,
        "behavior_prob": np.full(count, 0.5),
    }


def policies() -> dict:
    # Neither of them has a name in a module: they travel as they are.
    return {
        "up": lambda states: (states[:, 0] > 0).astype(int),
        "soft": lambda states: np.stack([0.3 + 0 * states[:, 0], 0.7 + 0 * states[:, 0]], axis=1),
    }


def same(one: Evaluation, other: Evaluation) -> None:
    for name in FILES:
        assert getattr(one, name).equals(getattr(other, name), null_equal=True), name
    for name in ("examination", "policies", "backtest", "dynamics"):
        # As words, in which all digits stand, since what is no number equals nothing.
        assert repr(getattr(one, name)) == repr(getattr(other, name)), name
    options = [{**each.run["arguments"], "engine": None, "workers": None} for each in (one, other)]
    assert options[0] == options[1]


@pytest.fixture(scope="module")
def two():
    with Processes(2) as engine:
        yield engine


@pytest.mark.parametrize("table", [pytest.param(False, marks=pytest.mark.slow), True])
def test_critics_in_processes_are_the_same(two: Engine, table: bool) -> None:
    log = logged(table=table)
    options: dict[str, Any] = {"estimators": ["corrected", "repbm", "fqe", "wdr(am)", "soft-dr(am-pi)", "wis"]}
    here = evaluate(log, policies(), **options)
    there = evaluate(log, policies(), **options, engine=two)
    same(here, there)
    assert (there.run["arguments"]["engine"], there.run["arguments"]["workers"]) == ("processes", 2)


@pytest.mark.slow
def test_folds_and_refits_in_processes_are_the_same(two: Engine) -> None:
    fitting = Fitting("auto", folds=2, refits=3)
    options: dict[str, Any] = {"estimators": ["repbm", "dr(fqe)"], "fitting": fitting, "details": False}
    same(evaluate(logged(), policies(), **options), evaluate(logged(), policies(), **options, engine=two))


@pytest.mark.slow
def test_what_is_wrong_is_said_as_it_is(two: Engine) -> None:
    def fails(states: np.ndarray) -> np.ndarray:
        if len(states) < 30:
            raise ValueError("too few")
        return (states[:, 0] > 0).astype(int)

    said = []
    for engine in (None, two):
        with pytest.raises(InputError) as fault:
            evaluate(logged(8), {"fails": fails, **policies()}, estimators=["corrected"], engine=engine)
        said.append(str(fault.value))
    assert said[0] == said[1]
    assert "fails with ValueError: too few" in said[0]


@pytest.mark.slow
def test_the_command_line_takes_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.csv").write_text("x,action\n> 0,1\n*,0\n")
    log = logged(40)
    rows = zip(log["episode"], log["obs"][:, 0], log["action"], log["reward"], log["terminated"], strict=True)
    lines = [f"{e},{x},{a},{r},{str(bool(t)).lower()},0.5" for e, x, a, r, t in rows]
    (tmp_path / "log.csv").write_text("\n".join(["episode,x,action,reward,terminated,behavior_prob", *lines]))
    words = [
        "repbm",
        "evaluate",
        "log.csv",
        "--policy",
        "rules.csv",
        "--column",
        "obs=x",
        "--estimator",
        "corrected",
        "--quiet",
    ]
    for more in (["--out", "one"], ["--out", "two", "--engine", "processes", "--workers", "2"]):
        monkeypatch.setattr("sys.argv", [*words, *more])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None)
    for file in (tmp_path / "one").iterdir():
        if file.suffix == ".csv" or file.name == "details.json":
            assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name
    stored = json.loads((tmp_path / "two" / "run.json").read_text())["arguments"]
    assert (stored["engine"], stored["workers"]) == ("processes", 2)
    same(repeat("two"), repeat("two", engine="process"))


@pytest.mark.slow
@pytest.mark.parametrize("fit", ["paper", AutoFit(kinds=(*KINDS, NETWORK))], ids=["paper", "network"])
def test_networks_in_processes_are_the_same(two: Engine, fit: Any) -> None:
    options: dict[str, Any] = {"estimators": ["repbm", "am"], "fitting": Fitting(fit), "details": False}
    same(evaluate(logged(), policies(), **options), evaluate(logged(), policies(), **options, engine=two))
