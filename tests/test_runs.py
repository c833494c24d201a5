"""Episodes found by where the name changes, a piece of the rows at a time; and work ahead of who wants its results."""

from __future__ import annotations

import threading
import time
from functools import partial

import polars as pl
import pytest

from repbm.logs._ahead import ahead
from repbm.logs._runs import Stretch, runs

_NAMES = ["b", "b", "b", "a", "a", "c"]
_ACTIONS = [0, 1, None, 1, 1, 0]


@pytest.mark.parametrize("size", [1, 2, 4, 6])
@pytest.mark.parametrize("names", [pl.String, pl.Categorical, pl.Int32, pl.Int128])
@pytest.mark.parametrize("actions", [pl.Int64, pl.String])
def test_runs_are_the_same_in_pieces_of_any_size(size: int, names: type, actions: type) -> None:
    called = pl.Series(_NAMES) if names in (pl.String, pl.Categorical) else pl.Series([7, 7, 7, 5, 5, 6])
    frame = pl.DataFrame({"who": called.cast(names), "what": pl.Series(_ACTIONS).cast(actions)})
    common = frame["what"].drop_nulls().unique().sort().to_list()
    pieces = (Stretch.of(0, frame[start : start + size], "who", "what", common) for start in range(0, 6, size))
    found = runs(pieces)
    assert found is not None
    assert found["episode"].to_list() == called.gather([0, 3, 5]).to_list()
    assert found["length"].to_list() == [2, 2, 1]
    assert found["action 0"].to_list() == [1, 0, 1]
    assert found["action 1"].to_list() == [1, 2, 0]
    assert found["first"].to_list() == [0, 3, 5]
    assert found["last"].to_list() == [2, 4, 5]


@pytest.mark.parametrize("names", [["a", "b", "a"], ["a", None, "b"]])
def test_names_that_come_again_or_are_empty_must_be_gathered(names: list[str | None]) -> None:
    frame = pl.DataFrame({"who": names, "what": [0, 0, 0]})
    assert runs(Stretch.of(0, frame[k : k + 1], "who", "what", [0]) for k in range(3)) is None


def test_results_come_in_order_and_so_many_are_worked_on() -> None:
    working, most, lock = 0, 0, threading.Lock()

    def task(k: int) -> int:
        nonlocal working, most
        with lock:
            working += 1
            most = max(most, working)
        time.sleep(0.02 if k % 2 else 0.001)
        with lock:
            working -= 1
        return k

    assert list(ahead((partial(task, k) for k in range(12)), 3)) == list(range(12))
    assert 1 < most <= 3


def test_a_fault_is_raised_in_its_turn() -> None:
    def fail() -> int:
        raise ValueError("third")

    found = ahead([lambda: 1, lambda: 2, fail, lambda: 4], 4)
    assert (next(found), next(found)) == (1, 2)
    with pytest.raises(ValueError, match="third"):
        next(found)
