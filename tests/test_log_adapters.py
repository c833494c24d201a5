"""Logs of other libraries, and lists of episodes: the same Trajectories as from a table."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from repbm.core import InputError
from repbm.data import Categorical, Trajectories
from repbm.evaluation import evaluate
from repbm.logs import log_frame, read_log
from tests.adapters import Absent
from tests.test_bad_input import Program

LENGTHS = (3, 2, 4)
FEW = "warning: there are 3 episodes: intervals rest on very little\n"


def episodes(closed: bool = True, **more: Any) -> list[dict[str, Any]]:
    """Three episodes with two observations; the second was cut off."""
    generator = np.random.default_rng(0)
    return [
        {
            "observations": generator.normal(size=(steps + closed, 2)).astype(np.float32),
            "actions": generator.integers(0, 2, size=steps),
            "rewards": generator.normal(size=steps),
            "terminated": k != 1,
            "truncated": k == 1,
            "behavior_prob": np.full(steps, 0.5),
            **more,
        }
        for k, steps in enumerate(LENGTHS)
    ]


def same(one: Trajectories, other: Trajectories) -> None:
    for name in ("observations", "rewards", "offsets", "terminated", "final_observations"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.actions.decoded() == other.actions.decoded()
    assert one.names == other.names


def matches(data: Trajectories, given: list[dict[str, Any]]) -> None:
    """The log holds just these episodes."""
    assert data.lengths.tolist() == [len(one["actions"]) for one in given]
    assert data.actions.decoded() == np.concatenate([one["actions"] for one in given]).tolist()
    steps = [one["observations"][: len(one["actions"])] for one in given]
    np.testing.assert_array_equal(data.observations, np.concatenate(steps))
    np.testing.assert_allclose(data.rewards, np.concatenate([one["rewards"] for one in given]))
    assert data.terminated.tolist() == [one["terminated"] for one in given]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


# Lists of episodes


@pytest.mark.parametrize("closed", [True, False])
def test_lists_of_episodes(closed: bool) -> None:
    given = episodes(closed)
    data = read_log(given)
    matches(data, given)
    assert data.observations.dtype == np.float32
    assert data.names == ("0", "1")
    assert data.behavior is not None
    if closed:
        np.testing.assert_array_equal(data.final_observations, [one["observations"][-1] for one in given])
    else:
        assert np.isnan(data.final_observations).all()
    same(data, read_log(log_frame(data)))


def test_flags_of_every_step_text_actions_and_further_columns() -> None:
    given = [
        {
            "observations": [1.0, 2.0],
            "actions": ["go", "stay"],
            "rewards": [[0.0], [1.0]],
            "terminated": [False, True],
            "pi": ["go", "go"],
        }
    ]
    data = read_log(given, keep=["pi"])
    assert data.actions.decoded() == ["go", "stay"]
    assert data.terminated.tolist() == [True]
    kept = data.columns["pi"]
    assert isinstance(kept, Categorical)
    assert kept.decoded() == ["go", "go"]


def test_evaluate_on_a_list() -> None:
    found = evaluate(episodes() * 5, lambda x: np.zeros(len(x), int), estimators=["wis"], details=False)
    assert found.run["arguments"]["log"] == {"own": "list"}
    assert found.estimates["episodes"].to_list() == [15]


def without(name: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in one.items() if key != name} for one in episodes()]


LISTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "empty": ([], ("the log is empty",)),
    "no mapping": ([3], ("a log of type list", "a list of episodes")),
    "not all mappings": ([*episodes(), 3], ("episode 3 is a int",)),
    "no actions": (without("actions"), ("episode 0 has no array 'actions'",)),
    "near": ([{"observation": [1], "actions": [0], "rewards": [1]}], ("'observations'", "is it 'observation'?")),
    "no step": (episodes(observations=[], actions=[], rewards=[]), ("episode 0 has no step",)),
    "observations": (episodes(observations=np.zeros((9, 2))), ("episode 0 has 9 observations for 3 actions",)),
    "rewards": (episodes(rewards=[1.0, 2.0]), ("episode 0 has 2 rewards for 3 actions",)),
    "columns": (episodes(behavior_prob=[0.5]), ("episode 0 has 1 behavior_prob for 3 actions",)),
    "images": (episodes(observations=np.zeros((3, 2, 2))), ("observations of episode 0", "(3, 2, 2)")),
    "continuous": (episodes(actions=np.zeros((3, 2))), ("actions of episode 0", "(3, 2)", "only discrete")),
    "halves": ([{**episodes()[0], "actions": [0.5, 1.0, 0.0]}], ("0.5", "no label of an action")),
    "widths": ([episodes()[0], {**episodes()[1], "observations": np.zeros((2, 3))}], ("episode 0", "episode 1", "3")),
    "early end": (episodes(terminated=[True, False, False]), ("episode 0 goes on after 'terminated' (step 0)",)),
    "odd flag": (episodes(terminated="yes"), ("'terminated' of episode 0 is neither true nor false",)),
    "some ends": ([episodes()[0], without("terminated")[1]], ("episode 1 has no 'terminated', which others have",)),
    "no ends": (without("terminated"), ("no column 'terminated'",)),
    "some columns": ([episodes()[0], without("behavior_prob")[1]], ("episode 1 has no 'behavior_prob'",)),
    "mixed": ([episodes()[0], {**episodes()[1], "actions": ["go", "go"]}], ("numbers in some episodes and text",)),
    "ragged": (episodes(observations=[[1.0], [1.0, 2.0]]), ("observations of episode 0 are no array",)),
}


@pytest.mark.parametrize(("given", "words"), LISTS.values(), ids=LISTS.keys())
def test_faulty_lists_are_one_line(given: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        read_log(given)
    assert "\n" not in str(caught.value)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


# pandas


def test_pandas_frames() -> None:
    data = read_log(episodes())
    frame = log_frame(data)
    same(read_log(frame.to_pandas()), data)
    text = frame.with_columns(pl.col("action").replace_strict({0: "go", 1: "stay"}, return_dtype=pl.String))
    for kind in ("object", "category"):
        given = text.to_pandas()
        given["action"] = given["action"].astype(kind)
        assert read_log(given).actions.decoded() == read_log(text).actions.decoded()
    indexed = frame.to_pandas().sample(frac=1, random_state=0)
    assert isinstance(indexed, pd.DataFrame)
    same(read_log(indexed), data)


# Minari


def test_minari(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari")
    pytest.importorskip("h5py")
    spaces = pytest.importorskip("gymnasium.spaces")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(program.folder / "datasets"))
    given = episodes()
    stored(minari, "clinic/small-v0", given, spaces.Box(-np.inf, np.inf, (2,), np.float32), spaces.Discrete(2))
    data = read_log("minari:clinic/small-v0")
    matches(data, given)
    np.testing.assert_array_equal(data.final_observations, [one["observations"][-1] for one in given])
    same(read_log(minari.load_dataset("clinic/small-v0")), data)

    named = spaces.Dict({"age": spaces.Box(0, 9, (1,), np.float32), "blood": spaces.Box(0, 9, (2,), np.float32)})
    parts = [
        {**one, "observations": {"age": one["observations"][:, :1], "blood": one["observations"]}} for one in given
    ]
    stored(minari, "clinic/named-v0", parts, named, spaces.Discrete(2))
    both = read_log("minari:clinic/named-v0")
    assert both.names == ("age", "blood_0", "blood_1")
    np.testing.assert_array_equal(both.observations[:, 1:], data.observations)

    rules = program.write("rules.csv", "age,action\n<0,1\n*,0\n")
    words = ("--estimator", "am", "--out", program.out)
    code, printed, error = program.run("minari:clinic/named-v0", "--policy", rules, *words)
    assert (code, error) == (0, FEW)
    assert "am" in printed
    assert '"log": "minari:clinic/named-v0"' in (program.out / "run.json").read_text()

    other = program.folder / "other"
    line = program.refuses("minari:clinic/none-v0", out=other)
    assert (
        line
        == "minari:clinic/none-v0: there is no such dataset on this machine; fetch it: minari download clinic/none-v0"
    )
    continuous = [{**one, "actions": one["observations"][:-1]} for one in given]
    box = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    stored(minari, "clinic/dose-v0", continuous, box, box)
    assert "only discrete actions" in program.refuses("minari:clinic/dose-v0", out=other)


def stored(minari: Any, name: str, given: list[dict[str, Any]], observed: Any, acted: Any) -> None:
    """A dataset on disk that holds these episodes."""
    buffers = [
        minari.data_collector.EpisodeBuffer(
            id=k,
            observations=one["observations"],
            actions=one["actions"],
            rewards=one["rewards"].tolist(),
            terminations=[False] * (len(one["rewards"]) - 1) + [one["terminated"]],
            truncations=[False] * (len(one["rewards"]) - 1) + [one["truncated"]],
        )
        for k, one in enumerate(given)
    ]
    with warnings.catch_warnings(action="ignore"):
        minari.create_dataset_from_buffers(name, buffers, observation_space=observed, action_space=acted)


# d3rlpy


@pytest.mark.filterwarnings("default")
def test_d3rlpy(program: Program) -> None:
    library = pytest.importorskip("d3rlpy")
    given = episodes(closed=False)
    ends = np.cumsum(LENGTHS) - 1
    terminals, timeouts = np.zeros(sum(LENGTHS)), np.zeros(sum(LENGTHS))
    terminals[ends], timeouts[ends] = [1, 0, 1], [0, 1, 0]
    joined = {name: np.concatenate([one[name] for one in given]) for name in ("observations", "actions", "rewards")}
    dataset = library.dataset.MDPDataset(**joined, terminals=terminals, timeouts=timeouts)
    data = read_log(dataset)
    matches(data, given)
    assert np.isnan(data.final_observations).all()
    path = program.folder / "log.h5"
    with path.open("w+b") as file:
        dataset.dump(file)
    same(read_log(path), data)
    rules = program.write("rules.csv", "0,action\n<0,1\n*,0\n")
    code, printed, error = program.run(path, "--policy", rules, "--estimator", "am", "--out", program.out)
    assert (code, error) == (0, FEW)
    assert printed.startswith("policy\testimator")

    other = program.folder / "other"
    joined["actions"] = np.random.default_rng(0).normal(size=(sum(LENGTHS), 2))
    dose = library.dataset.MDPDataset(**joined, terminals=terminals, timeouts=timeouts)
    with path.open("w+b") as file:
        dose.dump(file)
    assert "only discrete actions" in program.refuses(path, out=other)
    assert "no dataset of d3rlpy" in program.refuses(program.write("x.h5", b"nothing"), out=other)


@pytest.mark.parametrize(("log", "module"), [("minari:x-v0", "minari"), ("x.h5", "d3rlpy")])
def test_a_missing_library_says_what_to_install(
    program: Program, monkeypatch: pytest.MonkeyPatch, log: str, module: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(module), *sys.meta_path])
    source = log if ":" in log else program.write(log, b"nothing")
    assert program.refuses(source).endswith(f"this needs {module}; pip install 'repbm[{module}]'")
