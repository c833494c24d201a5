"""Rows of files are read in windows, each once, whatever parts ask for them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from repbm.core import InputError
from repbm.logs import read_log
from repbm.logs._piece import Piece
from repbm.logs._windows import Windows, borders_of


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([25], [0, 10, 20, 25]),
        ([3, 3, 3, 3], [0, 9, 12]),
        ([4, 25, 4], [0, 4, 14, 24, 33]),
        ([0, 7, 0], [0, 7]),
    ],
)
def test_windows_begin_where_files_do_and_small_files_share_one(counts: list[int], expected: list[int]) -> None:
    assert borders_of(counts, 10).tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_parts_of_windows_are_all_rows_and_each_window_is_read_once(seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.integers(0, 60, 4).tolist()
    rows = sum(counts)
    cuts = [0, *np.unique(generator.integers(1, max(rows, 2), 6)).tolist(), rows]
    pieces = [Piece(True, start, stop, 0, 1) for start, stop in pairwise(cuts) if stop > start]
    every, asked = pl.DataFrame({"row": np.arange(rows)}), []

    def read(start: int, stop: int) -> pl.DataFrame:
        asked.append((start, stop))
        return every.slice(start, stop - start)

    windows = Windows(read, borders_of(counts, 17), pieces)
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(windows.rows, pieces))
    assert pl.concat(found).equals(every)
    assert [len(part) for part in found] == [piece.stop - piece.start for piece in pieces]
    assert sorted(asked) == list(pairwise(borders_of(counts, 17).tolist()))
    assert not windows._found


def test_a_fault_of_a_window_is_told_to_every_part_that_needs_it() -> None:
    def fail(start: int, stop: int) -> pl.DataFrame:
        raise InputError("unreadable")

    pieces = [Piece(True, 0, 3, 0, 1), Piece(True, 3, 6, 1, 1)]
    windows = Windows(fail, np.asarray([0, 6]), pieces)
    for piece in pieces:
        with pytest.raises(InputError, match="unreadable"):
            windows.rows(piece)


@pytest.mark.parametrize("narrow", [pl.UInt8, pl.UInt16, pl.Int64])
def test_narrow_step_numbers_that_begin_anew_do_not_count_as_counting_up(narrow: type[pl.DataType]) -> None:
    steps = np.arange(300) % 256
    log = pl.DataFrame({"episode": 0, "step": steps, "obs_0": 0.0, "action": steps % 2, "reward": 1.0})
    with pytest.raises(InputError, match="twice"):
        read_log(log.with_columns(pl.col("step").cast(narrow)), ends="truncated")
