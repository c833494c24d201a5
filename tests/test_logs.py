"""Every way to hand in the same log gives the same Trajectories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from repbm.data import Categorical, Trajectories
from repbm.logs import log_frame, read_log

LOG = pl.DataFrame(
    {
        "episode": [3, 3, 3, 5, 9, 9],
        "step": [0, 1, 2, 0, 0, 1],
        "obs_age": [0.5, 0.25, -1.0, 3.0, 1.5, 2.5],
        "obs_sex": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        "action": [0, 2, 0, 1, 1, 0],
        "reward": [0.0, -1.5, 1.0, 2.0, 0.0, 4.0],
        "terminated": [False, False, True, True, False, False],
        "behavior_prob": [0.5, 0.25, 1.0, 0.125, 0.5, 0.75],
    }
)
TEXT = LOG.with_columns(
    episode=pl.Series(["b", "b", "b", "a", "c", "c"]), action=pl.Series(["hi", "lo", "hi", "no", "no", "hi"])
)


def same(one: Trajectories, other: Trajectories) -> None:
    """All fields agree, episode by episode in the same order."""
    assert one.labels_of().tolist() == other.labels_of().tolist()
    assert one.observation_names == other.observation_names
    assert one.actions.labels == other.actions.labels
    assert one.actions.decoded() == other.actions.decoded()
    for name in ("observations", "rewards", "offsets", "terminated", "final_observations"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert (one.behavior is None) == (other.behavior is None)
    if one.behavior is not None and other.behavior is not None:
        np.testing.assert_array_equal(one.behavior, other.behavior)


def with_closing(frame: pl.DataFrame, numbered: bool = True) -> pl.DataFrame:
    """A row after the last step of the first and the last episode: only the observation there."""
    first, last = frame["episode"][0], frame["episode"][-1]
    closing = pl.DataFrame(
        {
            "episode": [first, last],
            "step": [3, 2] if numbered else pl.Series([None, None], dtype=pl.Int64),
            "obs_age": [10.0, 20.0],
            "obs_sex": [1.0, 0.0],
        }
    )
    order = frame["episode"].unique(maintain_order=True).to_list()
    both = pl.concat([frame, closing], how="diagonal")
    return both.sort(pl.col("episode").replace_strict(order, list(range(len(order)))), maintain_order=True)


def stored(frame: pl.DataFrame, folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(path)
    return path


def in_folder(frame: pl.DataFrame, folder: Path, suffix: str) -> Path:
    """One file an episode, and a file that is none."""
    for k, (_, part) in enumerate(frame.group_by("episode", maintain_order=True)):
        stored(part, folder, f"logs/{k}.{suffix}")
    (folder / "logs" / "notes.txt").write_text("not a log")
    return folder / "logs"


FORMS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "csv": lambda frame, folder: stored(frame, folder, "log.csv"),
    "path as text": lambda frame, folder: str(stored(frame, folder, "log.csv")),
    "parquet": lambda frame, folder: stored(frame, folder, "log.parquet"),
    "folder of csv": lambda frame, folder: in_folder(frame, folder, "csv"),
    "folder of parquet": lambda frame, folder: in_folder(frame, folder, "parquet"),
    "lazy": lambda frame, folder: frame.lazy(),
    "pandas": lambda frame, folder: frame.to_pandas(),
    "pandas, its own types": lambda frame, folder: pd.DataFrame(frame.to_dict(as_series=False)),
    "arrays": lambda frame, folder: {name: frame[name].to_numpy() for name in frame.columns},
    "objects": lambda frame, folder: {name: np.array(frame[name].to_list(), dtype=object) for name in frame.columns},
    "lists": lambda frame, folder: frame.to_dict(as_series=False),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize(
    "frame", [LOG, TEXT, with_closing(LOG), with_closing(TEXT)], ids=["", "text", "closed", "both"]
)
def test_forms_agree(tmp_path: Path, frame: pl.DataFrame, form: Callable[[pl.DataFrame, Path], Any]) -> None:
    same(read_log(form(frame, tmp_path)), read_log(frame))


def test_what_is_read() -> None:
    data = read_log(LOG)
    assert data.labels_of().tolist() == [3, 5, 9]
    assert data.offsets.tolist() == [0, 3, 4, 6]
    assert data.actions.labels == (0, 1, 2)
    assert data.actions.decoded() == [0, 2, 0, 1, 1, 0]
    assert data.observation_names == ("age", "sex")
    assert data.observations.tolist() == LOG.select("obs_age", "obs_sex").to_numpy().tolist()
    assert data.rewards.tolist() == LOG["reward"].to_list()
    assert data.terminated.tolist() == [True, True, False]
    assert data.behavior is not None
    assert data.behavior.tolist() == LOG["behavior_prob"].to_list()
    assert np.isnan(data.final_observations).all()


def test_two_dimensional_array() -> None:
    arrays = {name: LOG[name].to_numpy() for name in LOG.columns if not name.startswith("obs_")}
    data = read_log(arrays | {"obs": LOG.select("obs_age", "obs_sex").to_numpy()})
    assert data.observation_names == ("0", "1")
    np.testing.assert_array_equal(data.observations, read_log(LOG).observations)


@pytest.mark.parametrize(
    "frame", [LOG, TEXT, with_closing(LOG), with_closing(TEXT)], ids=["", "text", "closed", "both"]
)
def test_round_trip(frame: pl.DataFrame) -> None:
    data = read_log(frame)
    same(read_log(log_frame(data)), data)


def test_round_trip_of_kept_columns() -> None:
    frame = TEXT.with_columns(score=pl.col("reward") / 3, other=pl.col("action"))
    data = read_log(log_frame(read_log(frame, keep=["score", "other"])), keep=["score", "other"])
    score, other = data.columns["score"], data.columns["other"]
    assert isinstance(score, np.ndarray)
    assert isinstance(other, Categorical)
    assert score.tolist() == frame["score"].to_list()
    assert other.decoded() == frame["other"].to_list()


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("column", [True, False])
def test_closing_rows(numbered: bool, column: bool) -> None:
    frame = with_closing(LOG, numbered)
    data = read_log(frame if column else frame.drop("step"))
    np.testing.assert_array_equal(data.final_observations, [[10.0, 1.0], [np.nan, np.nan], [20.0, 0.0]])
    np.testing.assert_array_equal(data.rewards, LOG["reward"])


def test_closing_row_may_carry_the_ending() -> None:
    frame = with_closing(LOG).with_columns(
        terminated=pl.when(pl.col("action").is_null()).then(True).otherwise(pl.col("terminated"))
    )
    assert read_log(frame).terminated.tolist() == [True, True, True]


def test_next_observations() -> None:
    following = LOG.with_columns(
        next_obs_age=pl.Series([0.25, -1.0, 10.0, 11.0, 2.5, None]), next_obs_sex=pl.Series([1.0, 1, 1, 0, 0, None])
    )
    finals = [[10.0, 1.0], [11.0, 0.0], [np.nan, np.nan]]
    np.testing.assert_array_equal(read_log(following).final_observations, finals)


@pytest.mark.parametrize("frame", [LOG, with_closing(LOG), with_closing(LOG, numbered=False)])
@pytest.mark.parametrize("seed", range(3))
def test_unsorted_rows(frame: pl.DataFrame, seed: int) -> None:
    same(read_log(frame.sample(fraction=1.0, shuffle=True, seed=seed)), read_log(frame))


def test_steps_from_1() -> None:
    same(read_log(LOG.with_columns(pl.col("step") + 1)), read_log(LOG))


def test_no_step_column() -> None:
    same(read_log(LOG.drop("step")), read_log(LOG))


def test_renames() -> None:
    theirs = {"episode": "patient", "action": "dose", "reward": "outcome", "terminated": "dead", "behavior_prob": "p"}
    renamed = LOG.rename({**theirs, "obs_age": "age", "obs_sex": "sex"})
    same(read_log(renamed, columns={**theirs, "obs": "age, sex"}), read_log(LOG))
    same(read_log(renamed, columns={**theirs, "obs_age": "age", "obs_sex": "sex"}), read_log(LOG))


def test_a_rename_to_nothing_leaves_a_column_out() -> None:
    assert read_log(LOG, columns={"behavior_prob": ""}).behavior is None


@pytest.mark.parametrize("alias", ["pscore", "propensity", "action_prob"])
def test_aliases(alias: str) -> None:
    log = read_log(LOG.rename({"behavior_prob": alias}))
    same(log, read_log(LOG))
    assert log.encoding is not None
    assert any(f"{alias} as behavior_prob" in note for note in log.encoding.notes)


@pytest.mark.parametrize(
    "flag",
    [
        lambda flag: flag,
        lambda flag: flag.cast(pl.Int8),
        lambda flag: flag.cast(pl.Float64),
        lambda flag: flag.cast(pl.Int8).cast(pl.String),
        lambda flag: flag.cast(pl.String),
        lambda flag: flag.replace_strict({True: "True", False: "FALSE"}),
        lambda flag: flag.replace_strict({True: "true", False: ""}),
        lambda flag: flag.replace_strict({True: True, False: None}),
    ],
)
def test_flags(flag: Callable[[pl.Series], pl.Series]) -> None:
    same(read_log(LOG.with_columns(flag(LOG["terminated"]).alias("terminated"))), read_log(LOG))


@pytest.mark.parametrize("ends", ["terminated", "truncated"])
def test_all_episodes_end_alike(ends: str) -> None:
    assert read_log(LOG.drop("terminated"), ends=ends).terminated.tolist() == [ends == "terminated"] * 3


def test_float32_observations_stay_so() -> None:
    data = read_log(LOG.with_columns(pl.col("obs_age", "obs_sex").cast(pl.Float32)))
    assert data.observations.dtype == np.float32
    assert read_log(LOG.with_columns(pl.col("obs_age").cast(pl.Float32))).observations.dtype == np.float64


def test_float_actions_with_gaps() -> None:
    frame = with_closing(LOG).to_pandas()
    assert frame["action"].dtype == np.float64
    assert frame["action"].isna().sum() == 2
    same(read_log(frame), read_log(with_closing(LOG)))


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int16, pl.Int32, pl.UInt64, pl.Float32, pl.Int128])
def test_number_types(dtype: type[pl.DataType]) -> None:
    same(read_log(LOG.with_columns(pl.col("episode", "step", "action").cast(dtype))), read_log(LOG))


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["no", "lo", "hi"])])
def test_categories(dtype: pl.DataType) -> None:
    same(read_log(TEXT.with_columns(pl.col("action").cast(dtype))), read_log(TEXT))


@pytest.mark.parametrize(
    ("dtype", "labels"),
    [(pl.Int8, (-128, 0, 100)), (pl.Int16, (-32768, 5, 20000)), (pl.Int64, (-(2**60), 0, 2**60))],
)
def test_labels_across_the_whole_span_of_a_type(dtype: pl.DataType, labels: tuple[int, ...]) -> None:
    given = [labels[code] for code in LOG["action"]]
    data = read_log(LOG.with_columns(action=pl.Series(given, dtype=dtype)))
    assert data.actions.labels == labels
    assert data.actions.decoded() == given


def test_whole_numbers_beyond_64_bits_become_text() -> None:
    huge = 10**30
    data = read_log(LOG.with_columns(episode=pl.Series([huge] * 3 + [1, 2, 2], dtype=pl.Int128)))
    assert data.labels_of().tolist() == [str(huge), "1", "2"]


def test_files_may_differ_in_what_does_not_matter(tmp_path: Path) -> None:
    """Further columns, the order of columns, kinds of numbers, columns that are empty throughout."""
    first = LOG[:3].with_columns(comment=pl.lit("x"), truncated=pl.lit(None))
    second = LOG[3:].with_columns(pl.col("reward").cast(pl.Int64), truncated=pl.Series([False, False, True]))
    stored(first, tmp_path, "logs/a.csv")
    stored(second.select(reversed(second.columns)), tmp_path, "logs/b.csv")
    same(read_log(tmp_path / "logs"), read_log(LOG))
