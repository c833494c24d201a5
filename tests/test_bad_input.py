"""Bad input: one line that says what is wrong and where, exit code 2, and nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from repbm.cli import main
from repbm.core import InputError
from repbm.evaluation import evaluate
from repbm.logs import read_log
from repbm.policies import NetworkPolicy, TabularPolicy

GOOD = pl.DataFrame(
    {
        "episode": [1, 1, 2, 2],
        "step": [0, 1, 0, 1],
        "obs_age": [0.5, 0.6, 0.7, 0.8],
        "action": [0, 1, 1, 0],
        "reward": [0.0, 1.0, 0.0, 2.0],
        "terminated": [False, True, False, True],
        "behavior_prob": [0.5, 0.5, 0.25, 0.5],
    }
)
POLICY = "column:action"


def zeros(observations: np.ndarray) -> np.ndarray:
    return np.zeros(len(observations), dtype=np.int64)


def cell(column: str, row: int, value: Any, frame: pl.DataFrame = GOOD) -> pl.DataFrame:
    """The frame with one cell changed, rows from 1 as messages count them."""
    values = frame[column].to_list()
    values[row - 1] = value
    return put(column, *values, frame=frame)


def put(column: str, *values: Any, frame: pl.DataFrame = GOOD) -> pl.DataFrame:
    """The frame with these values in a column, old or new."""
    return frame.with_columns(pl.Series(column, values, strict=False))


def rows(*numbers: int) -> pl.DataFrame:
    """These rows of the good log, from 1, in this order."""
    return GOOD[[number - 1 for number in numbers]]


def says(message: str, *words: str) -> None:
    """The message is one line that holds all the words."""
    assert "\n" not in message
    assert not [word for word in words if word not in message], message


def refusal(log: Any, policy: Any = zeros, **arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        evaluate(log, policy, **arguments)
    return str(caught.value)


class Program:
    """Runs `repbm evaluate` in this process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder, self.out = folder, folder / "out"
        self._monkeypatch, self._capfd = monkeypatch, capfd

    def run(self, *arguments: str | Path) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["repbm", "evaluate", *map(str, arguments)])
        self._capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = self._capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    def refuses(self, log: str | Path, *options: str | Path, policy: str = POLICY, out: Path | None = None) -> str:
        """The one line; everything else that a refusal must be is checked here."""
        before = tree(self.folder)
        code, printed, error = self.run(log, "--policy", policy, "--out", out or self.out, *options)
        assert (code, printed) == (2, ""), error
        return self.one_line(error, before)

    def one_line(self, error: str, before: list[Path]) -> str:
        assert error.startswith("repbm: ")
        assert error.endswith("\n")
        assert error.count("\n") == 1, error
        assert tree(self.folder) == before
        return error.removeprefix("repbm: ").removesuffix("\n")

    def store(self, frame: pl.DataFrame, name: str = "log.parquet") -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(path)
        return path

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


def tree(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


@pytest.fixture
def zeros_file(program: Program) -> str:
    """The policy `zeros` as the command line takes it."""
    path = program.write("policy.py", "def zeros(x):\n    return [0] * len(x)\n")
    return f"{path}:zeros"


def test_the_good_log_is_good(program: Program) -> None:
    code, printed, error = program.run(program.store(GOOD), "--policy", POLICY, "--out", program.out, "--all")
    assert (code, error) == (0, "warning: there are 2 episodes: intervals rest on very little\n")
    assert "wis" in printed
    tables = ["diagnostics.csv", "episodes.csv", "estimates.csv", "individuals.csv", "ranking.csv"]
    names = sorted([*tables, "details.json", "report.html", "run.json"])
    assert sorted(path.name for path in program.out.iterdir()) == names


# Faults of the table: the same frame from Python and as a file on the command line.

_OBSERVED = put("obs_sex", 1, 0, 1, 0)
_CLOSED = pl.concat([rows(1, 2), rows(2).with_columns(pl.lit(2, pl.Int64).alias("step")), rows(3, 4)])

TABLES: dict[str, tuple[pl.DataFrame, tuple[str, ...]]] = {
    **{f"no {name}": (GOOD.drop(name), ("no column", f"'{name}'")) for name in ("episode", "action", "reward")},
    "no terminated": (GOOD.drop("terminated"), ("'terminated'", "--ends terminated", "--ends truncated")),
    "no observations": (GOOD.drop("obs_age"), ("obs_*",)),
    "misspelt action": (GOOD.rename({"action": "acton"}), ("no column 'action'", "--column action=acton")),
    "two usual names of an episode": (
        GOOD.rename({"episode": "patient_id"}).with_columns(subject=1),
        ("no column 'episode'", "patient_id or subject", "--column episode=patient_id"),
    ),
    "several faults": (
        GOOD.rename({"action": "drug", "reward": "benefit"}).drop("terminated"),
        ("3 faults", "(1)", "--column action=drug", "(2)", "(3)", "'terminated'", "try: --column action=drug --column"),
    ),
    "several faults inside": (
        cell("obs_age", 3, np.inf, cell("reward", 2, np.nan, cell("behavior_prob", 4, 2.0))),
        ("3 faults", "row 2", "'reward' is nan", "row 4", "'behavior_prob' is 2", "row 3", "'obs_age' is inf"),
    ),
    "misspelt behavior_prob": (
        GOOD.rename({"behavior_prob": "behaviour_prob"}),
        ("'behaviour_prob' looks like 'behavior_prob'", "--column behavior_prob=behaviour_prob"),
    ),
    "misspelt terminated": (
        GOOD.rename({"terminated": "terminatd"}),
        ("'terminatd' looks like 'terminated'", "--column terminated=terminatd"),
    ),
    "misspelt truncated": (GOOD.with_columns(trunctated=False), ("'trunctated'", "--column truncated=")),
    "misspelt step": (GOOD.rename({"step": "stepp"}), ("'stepp' looks like 'step'",)),
    "next_obs without obs": (GOOD.with_columns(next_obs_sex=1.0), ("next_obs_age", "next_obs_*")),
    **{
        f"{word} in {column}": (cell(column, 3, value), (f"column '{column}'", "row 3", what))
        for column in ("obs_age", "reward", "behavior_prob")
        for word, value, what in (("nan", np.nan, "nan"), ("inf", np.inf, "inf"), ("nothing", None, "empty"))
        if column != "obs_age" or word == "inf"
    },
    "-inf in reward": (cell("reward", 1, -np.inf), ("'reward'", "row 1", "-inf", "finite")),
    "only nothing in reward": (GOOD.with_columns(reward=pl.lit(None)), ("'reward'", "row 1", "empty")),
    "text in reward": (
        put("reward", "1", "2", "many", "3"),
        ("'reward'", "row 3", "'many'", "number"),
    ),
    "numbers with faults": (put("obs_age", "1", "2", "<3", "4"), ("'obs_age' is '<3'", "row 3", "no number")),
    "nothing observed": (GOOD.with_columns(obs_age=pl.lit(None)), ("'obs_age'", "empty", "leave the column out")),
    "text in step": (put("step", "a", "b", "c", "d"), ("'step'", "text")),
    "half a step": (put("step", 0, 1, 0, 0.5), ("'step'", "row 4", "0.5")),
    "infinite step": (put("step", 0, 1, 0, np.inf), ("'step'", "row 4", "inf")),
    "empty step": (cell("step", 4, None), ("'step' is empty", "row 4")),
    "only empty steps": (GOOD.with_columns(step=pl.lit(None)), ("'step'", "empty", "row 1")),
    "text in terminated": (
        put("terminated", "no", "true", "maybe", "true"),
        ("'terminated'", "row 3", "'maybe'", "true or false"),
    ),
    "number in terminated": (
        put("terminated", 0, 1, 0, 2),
        ("'terminated'", "row 4", "2", "true or false"),
    ),
    "dates in terminated": (
        GOOD.with_columns(terminated=pl.lit("2020-01-01").str.to_date()),
        ("'terminated'", "Date", "true or false"),
    ),
    "behavior_prob 0": (cell("behavior_prob", 2, 0.0), ("'behavior_prob' is 0", "row 2", "above 0")),
    "behavior_prob above 1": (cell("behavior_prob", 3, 1.5), ("'behavior_prob' is 1.5", "row 3", "at most 1")),
    "behavior_prob negative": (cell("behavior_prob", 4, -0.5), ("'behavior_prob' is -0.5", "row 4")),
    "log-probabilities": (GOOD.with_columns(pl.col("behavior_prob").log()), ("row 1", "log-probabilities?")),
    "duplicate step": (rows(1, 2, 2, 3, 4), ("episode 1", "step 1 twice", "row 3", "remove")),
    "duplicate step, unsorted": (rows(4, 2, 3, 1, 2), ("episode 1", "step 1 twice", "row 5")),
    "missing step": (cell("step", 4, 2), ("episode 2", "no step 1", "row 4")),
    "episode starts late": (rows(1, 2, 4), ("episode 2", "begins at step 1", "row 3", "step 0")),
    "all episodes start at 5": (GOOD.with_columns(pl.col("step") + 5), ("episode 1", "begins at step 5", "row 1")),
    "steps after terminated": (cell("terminated", 3, True), ("episode 2", "'terminated'", "row 3")),
    "steps after truncated": (
        put("truncated", True, False, False, False),
        ("episode 1", "'truncated'", "row 1"),
    ),
    "interleaved": (rows(1, 3, 2, 4).drop("step"), ("episode 1", "row 3", "'step'")),
    "no rows": (GOOD.clear(), ("empty",)),
    "empty action mid-episode": (cell("action", 1, None), ("'action' is empty", "episode 1", "row 1")),
    "two closing rows": (
        cell("action", 2, None, cell("action", 3, None, _CLOSED)),
        ("'action' is empty", "episode 1", "row 2"),
    ),
    "two closing rows without step": (
        cell("action", 2, None, cell("action", 3, None, _CLOSED)).drop("step"),
        ("'action' is empty", "episode 1", "row 2"),
    ),
    "only a closing row": (cell("action", 1, None, rows(1, 3, 4)), ("episode 1", "no action at all", "row 1")),
    "no actions": (GOOD.with_columns(action=pl.lit(None, pl.Int64)), ("episode 1", "row 1")),
    "empty episode": (cell("episode", 2, None), ("'episode' is empty", "row 2")),
    "episodes of no label": (
        GOOD.with_columns(pl.col("episode") + 0.5),
        ("'episode' is 1.5", "row 1", "whole numbers"),
    ),
    "infinite episode": (put("episode", 1, 1, 2, np.inf), ("'episode' is inf", "row 4")),
    "dates as episodes": (GOOD.with_columns(episode=pl.lit("2020-01-01").str.to_date()), ("'episode'", "Date")),
    "continuous actions": (GOOD.with_columns(pl.col("action") + 0.25), ("'action' is 0.25", "row 1", "classes")),
    "infinite action": (put("action", 0, 1, np.inf, 0), ("'action' is inf", "row 3")),
    "dates as actions": (GOOD.with_columns(action=pl.lit("2020-01-01").str.to_date()), ("'action'", "Date")),
    "lists as observations": (GOOD.with_columns(obs_age=pl.concat_list("obs_age")), ("'obs_age'", "List")),
}


@pytest.mark.parametrize(("frame", "words"), TABLES.values(), ids=TABLES.keys())
def test_table(program: Program, zeros_file: str, frame: pl.DataFrame, words: tuple[str, ...]) -> None:
    says(refusal(frame), *words)
    log = program.store(frame)
    message = program.refuses(log, policy=zeros_file)
    says(message, *words)
    if "row" in " ".join(words):
        says(message, str(log))


def test_a_behavior_that_cannot_be_learned(program: Program, zeros_file: str) -> None:
    log = program.store(GOOD.drop("behavior_prob").filter(pl.col("episode") == GOOD["episode"][0]))
    words = ("behavior cannot be learned from one episode", "behavior_prob")
    says(program.refuses(log, "--estimator", "wis", policy=zeros_file), *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", ("empty",), id="zero bytes"),
        pytest.param("\n\n\n", ("log.csv",), id="blank lines"),
        pytest.param("PK\x03\x04 \x00\x01 junk", ("log.csv",), id="binary"),
        pytest.param(b"\xff\xfe\x00\x9d,\xc3\x28\n\x80,\x81\n", ("log.csv",), id="no UTF-8"),
        pytest.param("once upon a time\nthere was a log\n", ("no column 'episode'",), id="prose"),
        pytest.param("episode,action,reward\n1,0,1,9,9\n1,0\n", ("log.csv", "no CSV"), id="ragged"),
        pytest.param(GOOD.head(0).write_csv(), ("empty",), id="only a header"),
        pytest.param(GOOD.write_csv().replace("0.25", ""), ("'behavior_prob'", "row 3", "empty"), id="empty cell"),
        pytest.param(GOOD.write_csv().replace("0.7", "~7"), ("'obs_age'", "row 3", "'~7'"), id="text cell"),
        pytest.param(
            GOOD.with_columns(obs_age=pl.lit("")).write_csv(quote_style="never"),
            ("'obs_age'", "row 1", "empty"),
            id="empty column",
        ),
        pytest.param(
            GOOD.write_csv().replace("terminated,", "reward,"), ("'reward'", "twice", "log.csv"), id="column twice"
        ),
    ],
)
def test_csv(program: Program, zeros_file: str, text: str | bytes, words: tuple[str, ...]) -> None:
    says(program.refuses(program.write("log.csv", text), policy=zeros_file), "log.csv", *words)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("log.parquet", b"", ("empty", "log.parquet")),
        ("log.parquet", b"PAR1 but not really", ("no Parquet", "log.parquet")),
        ("log.parquet", GOOD.write_csv().encode(), ("no Parquet", "log.parquet")),
        ("log.txt", GOOD.write_csv().encode(), ("'.txt'", ".csv or .parquet")),
        ("log", b"x", ("log", ".csv or .parquet")),
    ],
)
def test_file_of_another_kind(program: Program, name: str, content: bytes, words: tuple[str, ...]) -> None:
    says(program.refuses(program.write(name, content)), *words)


def test_damaged_parquet(program: Program) -> None:
    log = program.store(pl.concat([GOOD] * 50))
    content = bytearray(log.read_bytes())
    content[4:400] = bytes(396)
    log.write_bytes(content)
    says(program.refuses(log), str(log))


def test_no_such_file(program: Program) -> None:
    says(program.refuses(program.folder / "nowhere.csv"), "nowhere.csv", "no such file or folder")


def test_folder_without_files(program: Program) -> None:
    program.write("logs/readme.md", "nothing here")
    says(program.refuses(program.folder / "logs"), "logs", "no .csv or .parquet")


FOLDERS: dict[str, tuple[pl.DataFrame, pl.DataFrame, tuple[str, ...]]] = {
    "split episode": (rows(1), rows(2, 3, 4), ("episode 1", "a.parquet", "b.parquet", "one file")),
    "column missing in the second": (rows(1, 2), rows(3, 4).drop("reward"), ("b.parquet", "'reward'")),
    "column missing in the first": (rows(1, 2).drop("behavior_prob"), rows(3, 4), ("b.parquet", "'behavior_prob'")),
    "observation missing in the first": (rows(1, 2), _OBSERVED[2:], ("b.parquet", "'obs_sex'")),
    "type": (
        rows(1, 2),
        rows(3, 4).with_columns(pl.col("action").cast(pl.String)),
        ("b.parquet", "'action'", "text", "numbers", "a.parquet"),
    ),
    "row of the second": (rows(1, 2), cell("reward", 2, np.nan, rows(3, 4)), ("b.parquet, row 2", "'reward'")),
    "no rows in any": (GOOD.clear(), GOOD.clear(), ("empty",)),
}


@pytest.mark.parametrize(("first", "second", "words"), FOLDERS.values(), ids=FOLDERS.keys())
def test_folder(
    program: Program, zeros_file: str, first: pl.DataFrame, second: pl.DataFrame, words: tuple[str, ...]
) -> None:
    program.store(first, "logs/a.parquet")
    program.store(second, "logs/b.parquet")
    folder = program.folder / "logs"
    says(refusal(folder), *words)
    says(program.refuses(folder, policy=zeros_file), *words)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        pytest.param(pd.DataFrame({"episode": [1, "x"]}), ("'episode'",), id="pandas, mixed types"),
        pytest.param({"episode": np.array([1, "x", None], dtype=object)}, ("'episode'",), id="arrays, mixed types"),
        pytest.param(
            GOOD.to_dict(as_series=False) | {"action": np.array([0, 1, "x", 0], dtype=object)},
            ("'action'",),
            id="mixed actions",
        ),
        pytest.param({"episode": [1, 2], "action": [1]}, ("'episode'", "'action'", "2", "1"), id="lengths"),
        pytest.param({"episode": np.zeros((2, 2, 2))}, ("'episode'", "3 dimensions"), id="dimensions"),
        pytest.param({"episode": [[1, 2], [3]]}, ("'episode'",), id="ragged"),
        pytest.param({}, ("no column 'episode'",), id="no arrays"),
        pytest.param([1, 2, 3], ("list", "pandas frame"), id="a list"),
        pytest.param(None, ("NoneType",), id="none"),
        pytest.param(pl.scan_csv("/nowhere/log.csv"), ("/nowhere/log.csv",), id="lazy frame of no file"),
    ],
)
def test_source_in_memory(log: Any, words: tuple[str, ...]) -> None:
    says(refusal(log), *words)


# Names on the command line.


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("rewrd=reward", ("'rewrd'", "did you mean 'reward'?")),
        ("colour=blue", ("'colour'", "ours are", "behavior_prob")),
        ("reward=outcome", ("no column 'outcome'", "'reward'", "log.parquet")),
        ("reward=rewardd", ("no column 'rewardd'", "did you mean 'reward'?")),
        ("obs=obs_age,weight", ("no column 'weight'", "'obs'")),
        ("obs_age=years", ("no column 'years'", "'obs_age'")),
        ("next_obs_age=later", ("no column 'later'", "'next_obs_age'")),
        ("reward=", ("no column 'reward'",)),
        ("reward", ("--column reward", "ours=theirs")),
    ],
)
def test_column_option(program: Program, column: str, words: tuple[str, ...]) -> None:
    says(program.refuses(program.store(GOOD), "--column", column), *words)


def test_column_option_twice(program: Program) -> None:
    options = ("--column", "reward=reward", "--column", "reward=step")
    says(program.refuses(program.store(GOOD), *options), "--column reward", "twice")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("discount", "1.5", ("discount", "1.5", "0 to 1")),
        ("discount", "-0.1", ("discount", "-0.1")),
        ("discount", "nan", ("discount", "nan")),
        ("level", "0", ("level", "0.95")),
        ("level", "1", ("level", "0.95")),
        ("level", "95", ("level", "95")),
        ("level", "nan", ("level", "nan")),
        ("horizon", "0", ("horizon", "at least 1")),
        ("horizon", "-3", ("horizon", "-3")),
        ("seed", "-1", ("seed", "-1")),
        ("estimator", "wiss", ("no estimator 'wiss'", "did you mean 'wis'?")),
        ("estimator", "magic", ("no estimator 'magic'", "wpdis")),
        ("ends", "happily", ("--ends happily", "terminated or truncated")),
    ],
)
def test_option_out_of_range(program: Program, option: str, value: str, words: tuple[str, ...]) -> None:
    says(program.refuses(program.store(GOOD), f"--{option}", value), *words)


@pytest.mark.parametrize(
    "arguments",
    [{"discount": 1.1}, {"level": 0.0}, {"horizon": 0}, {"seed": -1}, {"estimators": ["magic"]}],
    ids=lambda arguments: next(iter(arguments)),
)
def test_argument_out_of_range(arguments: dict[str, Any]) -> None:
    says(refusal(GOOD, **arguments), next(iter(arguments)).removesuffix("s"))


def test_same_policy_twice(program: Program) -> None:
    says(program.refuses(program.store(GOOD), "--policy", POLICY), f"'{POLICY}'", "twice", "NAME=")


def test_no_policy() -> None:
    says(refusal(GOOD, {}), "no policy")


# Policies.


def returning(result: Any, actions: Any = None) -> Callable[[np.ndarray], Any]:
    def policy(observations: np.ndarray) -> Any:
        return result

    if actions is not None:
        policy.actions = actions  # pyright: ignore[reportFunctionMemberAccess]
    return policy


def network(outputs: int = 2, inputs: int = 1, **options: Any) -> NetworkPolicy:
    return NetworkPolicy([(np.ones((inputs, outputs)), np.zeros(outputs))], **options)


_TEXT = put("action", "a", "b", "b", "a")
_HALVES = np.full((4, 2), 0.5)
POLICIES: dict[str, tuple[pl.DataFrame, Any, tuple[str, ...]]] = {
    "declared actions": (GOOD, returning(_HALVES, actions=[0, 5]), ("action 1", "policy", "not know")),
    "declared actions, one each": (GOOD, returning([0, 0, 0, 0], actions=[0, 5]), ("action 1", "not know")),
    "declared too many": (GOOD, returning(_HALVES, actions=[0, 1, 2]), ("declares 3", "returns 2")),
    "declared no labels": (GOOD, returning(_HALVES, actions=[0.5, 1]), ("actions", "0.5")),
    "declared no list": (GOOD, returning(_HALVES, actions=2), ("actions", "int")),
    "declared twice": (GOOD, returning(np.full((4, 3), 1 / 3), actions=[0, 1, 1]), ("action 1", "twice")),
    "table lacks an action": (
        GOOD.with_columns(obs_age=0.0, action=pl.Series([0, 1, 2, 0])),
        TabularPolicy(np.array([[0.5, 0.5]])),
        ("action 2", "table"),
    ),
    "table with other labels": (GOOD.with_columns(obs_age=0.0), TabularPolicy(_HALVES, ["a", "b"]), ("action 0",)),
    "table lacks a state": (GOOD.with_columns(obs_age=7.0), TabularPolicy(_HALVES), ("state 7", "0 ... 3")),
    "table, state no number": (GOOD, TabularPolicy(_HALVES), ("state 0.5",)),
    "table, state huge": (GOOD.with_columns(obs_age=1e30), TabularPolicy(_HALVES), ("state 1e+30",)),
    "table, two observations": (_OBSERVED, TabularPolicy(_HALVES), ("one observation column", "2")),
    "table of text": (GOOD, np.array([["a", "b"]]), ("table",)),
    "table of one dimension": (GOOD, np.array([0.5, 0.5]), ("table", "(2,)")),
    "table that is no distribution": (GOOD, np.array([[0.5, 0.6]]), ("table", "1.1")),
    "network lacks an action": (GOOD, network(1), ("action 1", "network")),
    "network with other inputs": (GOOD, network(inputs=3), ("3 inputs", "1 observation")),
    "network overflows": (
        GOOD.with_columns(obs_age=1e30),
        NetworkPolicy([(np.full((1, 2), 1e300), np.zeros(2))], head="softmax"),
        ("network", "finite"),
    ),
    "text for numbers": (GOOD, returning(["0", "1", "1", "0"]), ("'0'", "like 0", "spells")),
    "numbers for text": (_TEXT, returning([0, 1, 1, 0]), ("action 0", "like 'a'", "spells")),
    "none of the log's": (GOOD, returning([7, 7, 8, 7]), ("7, 8", "0, 1", "none of the log's")),
    "no labels": (GOOD, returning([0.5, 0.5, 0.5, 0.5]), ("0.5", "one action an observation")),
    "labels beyond whole numbers": (GOOD, returning([1e300, 0, 0, 0]), ("1e+300",)),
    "nothing": (GOOD, returning(None), ("shape ()", "4 actions", "(4, number of actions)")),
    "too few": (GOOD, returning([0, 1]), ("shape (2,)", "4 observations")),
    "three dimensions": (GOOD, returning(np.zeros((4, 2, 1))), ("shape (4, 2, 1)",)),
    "ragged": (GOOD, returning([[0.5, 0.5], [1.0], [1.0], [1.0]]), ("policy", "shape")),
    "too many columns": (_TEXT, returning(np.full((4, 4), 0.25)), ("4 probabilities", "2 actions", "`actions`")),
    "text as probabilities": (GOOD, returning([["a", "b"]] * 4), ("policy", "probabilit")),
    "sum": (GOOD, returning([[0.5, 0.5], [0.5, 0.6], [1, 0], [1, 0]]), ("1.1", "observation 1", "sum to 1")),
    "nan": (GOOD, returning([[0.5, 0.5], [1, 0], [np.nan, 1], [1, 0]]), ("not a number", "observation 2")),
    "negative": (GOOD, returning([[1.5, -0.5]] * 4), ("outside 0 to 1", "observation 0")),
    "logarithms": (GOOD, returning(np.log(_HALVES)), ("log-probabilities?",)),
    "no callable": (GOOD, 5, ("int", "function")),
    "column of other labels": (GOOD.with_columns(mine=pl.lit("a")), "column:mine", ("'mine'", "'a'", "like 0")),
    "column of no labels": (GOOD.with_columns(mine=pl.lit(0.5)), "column:mine", ("'mine'", "actions")),
    "column with gaps": (put("mine", 0, 1, None, 0), "column:mine", ("'mine'", "row 3")),
    "no such column": (GOOD, "column:mine", ("no column 'mine'",)),
    "probability of no range": (GOOD.with_columns(p=pl.lit(1.5)), "probability:p", ("'p'", "1.5", "0 to 1")),
    "probability of text": (GOOD.with_columns(p=pl.lit("x")), "probability:p", ("'p'", "text")),
    "probability nan": (cell("p", 2, np.nan, GOOD.with_columns(p=pl.lit(0.5))), "probability:p", ("'p'", "row 2")),
    "probabilities, too few": (GOOD.with_columns(p=pl.lit(1.0)), "probabilities:p", ("1 probability", "0, 1")),
    "probabilities, sum": (
        GOOD.with_columns(p=pl.lit(0.5), q=pl.lit(0.6)),
        "probabilities:p,q",
        ("columns p, q", "1.1", "observation 0"),
    ),
}


@pytest.mark.parametrize(("frame", "policy", "words"), POLICIES.values(), ids=POLICIES.keys())
def test_policy(frame: pl.DataFrame, policy: Any, words: tuple[str, ...]) -> None:
    says(refusal(frame, policy), *words)


def test_policy_is_named_among_several() -> None:
    says(refusal(GOOD, {"good": zeros, "odd": returning(None)}), "odd: ")


FILES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "raises": (
        "def act(x):\n    raise RuntimeError('no idea')\n",
        "act",
        ("policy act", "RuntimeError: no idea", "policy.py:2"),
    ),
    "raises below": (
        "import json\ndef act(x):\n    return json.loads('{')\n",
        "act",
        ("policy act", "JSONDecodeError", "policy.py:3"),
    ),
    "raises in many lines": ("def act(x):\n    raise ValueError('a\\nb')\n", "act", ("ValueError: a b",)),
    "leaves": ("import sys\ndef act(x):\n    sys.exit(0)\n", "act", ("policy act", "SystemExit", "policy.py:3")),
    "syntax": ("def act(x)\n    return x\n", "act", ("policy.py", "SyntaxError", "line 1")),
    "fails to load": ("import os\nimport nowhere_at_all\n", "act", ("policy.py:2", "nowhere_at_all")),
    "leaves on load": ("import sys\nsys.exit(0)\n", "act", ("policy.py:2", "SystemExit")),
    "no such function": (
        "def decide(x):\n    return x\n",
        "decied",
        ("policy.py", "no 'decied'", "did you mean 'decide'?"),
    ),
    "no function at all": ("x = 1\n", "act", ("no 'act'", "no function")),
    "not callable": ("act = 3\n", "act", ("policy.py", "'act' is not a function")),
    "class": ("class Act:\n    def __init__(self): pass\n", "Act", ("policy Act", "TypeError")),
    "bad actions": ("def act(x):\n    return x\nact.actions = [None]\n", "act", ("policy act", "actions", "None")),
}


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize(("source", "function", "words"), FILES.values(), ids=FILES.keys())
def test_policy_file(
    program: Program,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    function: str,
    words: tuple[str, ...],
    relative: bool,
) -> None:
    path = program.write("policy.py", source)
    monkeypatch.chdir(program.folder)
    says(program.refuses(program.store(GOOD), policy=f"{path.name if relative else path}:{function}"), *words)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("nowhere.py:act", ("nowhere.py", "no such file")),
        ("nowhere.npz", ("nowhere.npz", "no such file")),
        ("policy.py", ("names no function", "policy.py:FUNCTION")),
        ("act", ("'act'", "not understood", "FILE.py:FUNCTION")),
        ("mine=", ("''", "not understood")),
    ],
)
def test_policy_name(program: Program, policy: str, words: tuple[str, ...]) -> None:
    says(program.refuses(program.store(GOOD), policy=policy), *words)


def test_policy_file_may_hold_dataclasses(program: Program) -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Act:\n    k: int\n    def __call__(self, x):\n        return [self.k] * len(x)\n"
        "act = Act(0)\n"
    )
    path = program.write("policy.py", source)
    assert program.run(program.store(GOOD), "--policy", f"{path}:act")[0] == 0


_LAYER = {"w0": np.ones((1, 2)), "b0": np.zeros(2)}


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"w0": np.ones((1, 2))}, ("b0", "missing")),
        ({"other": np.ones(2)}, ("w0", "missing")),
        (_LAYER | {"b0": np.zeros(3)}, ("layer 0", "(1, 2)", "(3,)")),
        (_LAYER | {"b0": np.array([0, np.nan])}, ("layer 0", "finite")),
        (_LAYER | {"w0": np.array([["a", "b"]])}, ("w0", "numbers")),
        (_LAYER | {"head": "argmax"}, ("'argmax'", "softmax")),
        (_LAYER | {"activation": "gelu"}, ("'gelu'", "relu")),
        (_LAYER | {"actions": np.array([0, 1, 2])}, ("3 actions", "2 outputs")),
        (_LAYER | {"actions": np.array([0.5, 1])}, ("actions", "0.5")),
        (_LAYER | {"actions": np.array(2)}, ("actions", "int")),
        (_LAYER | {"actions": np.array([0, 7])}, ("action 1", "network")),
        (_LAYER | {"w0": np.array([{}], dtype=object)}, ("weights file",)),
    ],
)
def test_network_file(program: Program, arrays: dict[str, Any], words: tuple[str, ...]) -> None:
    path = program.folder / "policy.npz"
    np.savez(path, **arrays)
    says(program.refuses(program.store(GOOD), policy=str(path)), "policy.npz", *words)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 cut off", b"\x93NUMPY"])
def test_no_network_file(program: Program, content: bytes) -> None:
    path = program.write("policy.npz", content)
    says(program.refuses(program.store(GOOD), policy=str(path)), "policy.npz", "weights file")


def test_one_array_is_no_network_file(program: Program) -> None:
    path = program.folder / "policy.npz"
    with path.open("wb") as file:
        np.save(file, np.ones(3))
    says(program.refuses(program.store(GOOD), policy=str(path)), "policy.npz", "weights file")


# Folders and permissions.


def test_out_is_a_file(program: Program) -> None:
    out = program.write("taken", "x")
    says(program.refuses(program.store(GOOD), out=out), "taken", "file", "--out")


def test_out_below_a_file(program: Program) -> None:
    out = program.write("taken", "x") / "out"
    says(program.refuses(program.store(GOOD), out=out), "taken", "file", "--out")


def test_out_holds_other_files(program: Program) -> None:
    out = program.write("taken/thesis.tex", "x").parent
    says(program.refuses(program.store(GOOD), out=out), "taken", "'thesis.tex'", "new or an empty")


def test_out_is_checked_before_the_log_is_read(program: Program) -> None:
    out = program.write("taken/thesis.tex", "x").parent
    says(program.refuses(program.folder / "nowhere.csv", out=out), "taken")


def test_refusal_leaves_an_earlier_result(program: Program) -> None:
    program.run(program.store(GOOD), "--policy", POLICY, "--out", program.out)
    before = (program.out / "estimates.csv").read_bytes()
    program.refuses(program.store(cell("reward", 1, np.nan), "bad.parquet"))
    assert (program.out / "estimates.csv").read_bytes() == before


@contextmanager
def unprivileged() -> Iterator[None]:
    """Without root's right to read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    # Before: Python itself may be in a folder of root's alone, and charts are loaded when a page is written.
    import repbm.report._page  # noqa: F401

    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter and write to."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        for child in [folder, *folder.iterdir()]:
            child.chmod(0o777)


LOCKED: dict[str, tuple[str, int, Callable[[Path], dict[str, Any]]]] = {
    "log file": ("log.parquet", 0, lambda folder: {}),
    "log folder": ("logs", 0, lambda folder: {"log": folder / "logs"}),
    "log in a folder": ("logs", 0, lambda folder: {"log": folder / "logs" / "log.csv"}),
    "file of a folder": ("logs/b.csv", 0, lambda folder: {"log": folder / "logs"}),
    "policy file": ("policy.py", 0, lambda folder: {"policy": f"{folder}/policy.py:act"}),
    "policy in a folder": ("logs", 0, lambda folder: {"policy": f"{folder}/logs/policy.py:act"}),
    "weights file": ("policy.npz", 0, lambda folder: {"policy": f"{folder}/policy.npz"}),
    "weights in a folder": ("logs", 0, lambda folder: {"policy": f"{folder}/logs/policy.npz"}),
    "out": ("logs", 0, lambda folder: {"out": folder / "logs"}),
    "below out": ("logs", 0o555, lambda folder: {"out": folder / "logs" / "a" / "out"}),
    "beside out": ("logs", 0o555, lambda folder: {"out": folder / "logs" / "out"}),
}


@pytest.mark.skipif(os.name != "posix", reason="permissions of another kind")
@pytest.mark.parametrize(("locked", "mode", "given"), LOCKED.values(), ids=LOCKED.keys())
def test_no_permission(
    open_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    locked: str,
    mode: int,
    given: Callable[[Path], dict[str, Any]],
) -> None:
    program = Program(open_folder, monkeypatch, capfd)
    program.store(GOOD)
    program.write("policy.py", "def act(x):\n    return [0] * len(x)\n")
    np.savez(open_folder / "policy.npz", **_LAYER)
    (open_folder / "logs").mkdir()
    for name in ("a.csv", "b.csv") if locked == "logs/b.csv" else ():
        program.store(GOOD, f"logs/{name}")
    before = tree(open_folder)
    (open_folder / locked).chmod(mode)
    arguments = {"log": open_folder / "log.parquet", "policy": POLICY, "out": program.out} | given(open_folder)
    with unprivileged():
        code, _, error = program.run(arguments["log"], "--policy", arguments["policy"], "--out", arguments["out"])
    assert code == 2, error
    says(program.one_line(error, before), str(open_folder / locked), "ermission")


def test_foreign_file_beside_the_logs_is_not_opened(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = Program(open_folder, monkeypatch, capfd)
    program.store(GOOD, "logs/a.csv")
    program.write("logs/secret.txt", "x").chmod(0)
    with unprivileged():
        code, _, error = program.run(open_folder / "logs", "--policy", POLICY, "--out", program.out)
    assert (code, error) == (0, "warning: there are 2 episodes: intervals rest on very little\n")


# The real program.


@pytest.mark.parametrize(
    ("frame", "policy", "words"),
    [
        pytest.param(GOOD.drop("reward"), POLICY, ("log.parquet", "no column 'reward'"), id="column"),
        pytest.param(cell("obs_age", 3, np.inf), "{}/policy.py:act", ("'obs_age'", "row 3"), id="inf"),
        pytest.param(GOOD, "{}/policy.py:act", ("policy.py:2", "KeyError: 'dose'"), id="policy"),
    ],
)
def test_program(tmp_path: Path, frame: pl.DataFrame, policy: str, words: tuple[str, ...]) -> None:
    frame.write_parquet(tmp_path / "log.parquet")
    (tmp_path / "policy.py").write_text("def act(x):\n    raise KeyError('dose')\n")
    before = tree(tmp_path)
    script = Path(sys.executable).parent / "repbm"
    command = [script, "evaluate", "log.parquet", "--policy", policy.format(tmp_path), "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("repbm: ")
    says(done.stderr.removesuffix("\n"), *words)
    assert tree(tmp_path) == before


# Numbers at the edge.


def test_huge_step() -> None:
    log = GOOD.with_columns(step=pl.Series([0, None, 0, 2**64 - 1], dtype=pl.UInt64))
    with pytest.raises(InputError, match="'step'"):
        read_log(log)


@pytest.mark.parametrize("reward", [1e308, -1e308, 1e155, 2e100])
def test_rewards_whose_sums_exceed_floating_point(program: Program, reward: float) -> None:
    log = put("reward", 0.0, reward, 0.0, reward)
    says(program.refuses(program.store(log)), "row 2", "'reward'", f"{reward:g}", "floating point", "larger units")
    with pytest.raises(InputError, match="beyond 1e\\+100") as caught:
        evaluate(replace(read_log(GOOD), rewards=log["reward"].to_numpy()), zeros)
    says(str(caught.value), "larger units")


@pytest.mark.parametrize("reward", [1e100, -1e100])
def test_the_largest_rewards(reward: float) -> None:
    """Proportional to them are all values, and the ends of their intervals."""
    names = ["value", "low", "high", "std_error", "logged_mean", "difference", "difference_low", "difference_high"]
    sign = float(np.sign(reward))
    large, small = (evaluate(put("reward", r, r, 0.0, r), zeros).estimates for r in (reward, sign))
    assert large["estimator"].to_list() == small["estimator"].to_list()
    for name in names:
        assert large[name].is_null().to_list() == small[name].is_null().to_list()
        np.testing.assert_allclose(large[name].drop_nulls() / abs(reward), small[name].drop_nulls(), atol=1e-9)


@pytest.mark.parametrize("probability", [1e-307, 1e-200, 1e-100])
def test_weights_beyond_floating_point(probability: float) -> None:
    """Sums that overflow are no number, and the note says why; what is normalized stands."""
    log = put("behavior_prob", probability, probability, 0.5, probability)
    found = evaluate(log, zeros)
    rows = {row["estimator"]: row for row in found.estimates.iter_rows(named=True)}
    for name in ("soft-is", "soft-pdis"):
        assert "exceed" in rows[name]["note"]
        assert rows[name]["low"] is None
    assert rows["soft-wis"]["value"] == pytest.approx(1.0)
    assert found.estimates["value"].drop_nulls().is_finite().all()
    assert found.estimates["effective_episodes"].is_between(0, 2).all()
    assert found.examination.verdicts["zeros"].word == "not supported"


@pytest.mark.parametrize("kind", [pl.Float32, pl.Float64])
@pytest.mark.parametrize("age", [1e37, -1e37, 1e19])
def test_the_largest_observations(age: float, kind: pl.DataType) -> None:
    found = evaluate(put("obs_age", age, -age, age, 1.0).cast({"obs_age": kind}), zeros)
    assert found.estimates["value"].drop_nulls().is_finite().all()
    assert found.estimates["estimator"][0] == "corrected"


@pytest.mark.parametrize("age", [1e308, -2e100, 1e38, -3e38])
def test_observations_that_exceed_floating_point(age: float) -> None:
    log = cell("obs_age", 3, age)
    says(refusal(log), "row 3", "'obs_age'", f"{age:g}", "floating point", "larger units")
    if abs(age) < 1e39:
        says(refusal(log.cast({"obs_age": pl.Float32})), "row 3", "'obs_age'", "larger units")
    with pytest.raises(InputError, match="beyond 1e\\+37"):
        evaluate(replace(read_log(GOOD), observations=log.select("obs_age").to_numpy()), zeros)


def test_empty_cells_are_counted(program: Program) -> None:
    holes = GOOD.with_columns(reward=pl.lit(None, pl.Float64))
    code, _, error = program.run(program.store(holes), "--policy", POLICY)
    assert code == 2
    assert f"{len(GOOD) - 1} more of {len(GOOD)} rows" in error


@pytest.mark.parametrize("column", ["episode", "step", "action", "obs_age", "reward", "terminated", "behavior_prob"])
def test_decimal_numbers_are_numbers(column: str) -> None:
    """As databases store them."""
    kinds = (
        [pl.Decimal(20, 2)] if column in ("obs_age", "reward", "behavior_prob") else [pl.Decimal(20, 2), pl.Decimal(20)]
    )
    expected = evaluate(GOOD, "column:action", details=False).estimates
    for kind in kinds:
        log = GOOD.with_columns(pl.col(column).cast(pl.Float64).cast(kind))
        assert evaluate(log, "column:action", details=False).estimates.equals(expected)


def test_decimal_steps_are_whole() -> None:
    says(refusal(cell("step", 4, 0.5).cast({"step": pl.Decimal(10, 2)})), "'step'", "row 4", "0.5")


@pytest.mark.parametrize("label", [2**63, 2**64 - 1])
def test_actions_beyond_64_bits_are_text(label: int) -> None:
    log = GOOD.with_columns(action=pl.Series([label, label - 1, label - 1, label], dtype=pl.UInt64))
    assert read_log(log).actions.labels == (str(label - 1), str(label))
    says(refusal(log), "the action 0", f"like '{label - 1}'")
    says(refusal(GOOD, lambda x: np.full(len(x), label)), f"{label}", "beyond 64 bits")


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
@pytest.mark.parametrize("name", ["log.parquet", "policy.py"])
def test_names_that_are_no_text(program: Program, name: str) -> None:
    odd = program.folder / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    (odd / name).write_bytes(b"")
    given = (odd / name, POLICY) if name == "log.parquet" else (program.store(GOOD), f"{odd / name}:act")
    says(program.refuses(given[0], policy=given[1]), "caf", "no UTF-8 text", "rename")


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_a_folder_with_a_name_that_is_no_text(program: Program) -> None:
    log = program.store(GOOD, "logs/a.parquet")
    log.rename(program.folder / "logs" / os.fsdecode(b"caf\xe9.parquet"))
    says(program.refuses(program.folder / "logs"), ".parquet", "no UTF-8 text", "rename")


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_results_in_a_folder_whose_name_is_no_text(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = program.folder / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    monkeypatch.chdir(odd)
    code, _, error = program.run(program.store(GOOD), "--policy", POLICY, "--out", "out")
    assert code == 0, error
    assert (odd / "out" / "estimates.csv").exists()


@pytest.mark.parametrize(
    ("target", "words"),
    [("missing/model.npz", ("missing", "no such folder")), ("x" * 300, ("too long",)), (".", ("a folder",))],
)
def test_a_model_is_given_a_place_first(program: Program, target: str, words: tuple[str, ...]) -> None:
    says(program.refuses("nowhere.csv", "--save-model", program.folder / target), *words)
