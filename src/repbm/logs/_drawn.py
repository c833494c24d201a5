"""A log as far as memory allows: all of it, or a sample of its episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Shaped

from repbm.core import InputError, MemoryRules
from repbm.data import Encoding, Kind, Trajectories
from repbm.logs._coded import CodedOtherwise, widened
from repbm.logs._ends import checked_ends
from repbm.logs._layout import Asked
from repbm.logs._piece import EPISODE
from repbm.logs._read import read_log
from repbm.logs._scan import Scan
from repbm.logs._tables import Source

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_FEWEST_STEPS = 1_000
"""A sample of fewer steps tells nothing."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was read of a log; of one that is larger than memory some episodes, and `scan` leads to the others."""

    data: Trajectories
    scan: Scan | None = None
    episodes: int = 0
    """How many there are in all."""
    read: Callable[[pl.DataFrame], Trajectories] = read_log
    """The same reading for other rows of the log,"""
    coded: Callable[[pl.DataFrame], Trajectories] = read_log
    """and with observations coded as here; an error (`CodedOtherwise`) where that cannot be."""
    names: Shaped[np.ndarray, " episodes"] | None = None
    """Of a sample, what tells its episodes from all others: their labels, or row numbers where each is a row."""

    @property
    def longest(self) -> int | None:
        """The number of steps of the longest of all episodes; None of a log that was read whole."""
        return None if self.scan is None else self.scan.longest

    def steps(self, horizon: int | None) -> int:
        """The number of steps of all episodes, of each no more than the horizon."""
        lengths = self.data.lengths if self.scan is None else self.scan.episodes["length"].to_numpy()
        return int((lengths if horizon is None else np.minimum(lengths, horizon)).sum())

    @property
    def note(self) -> str:
        """What is to be said of a sample; nothing of a whole log."""
        if self.scan is None:
            return ""
        return f"from {len(self.data)} of {self.episodes} episodes, a sample stratified by length and action"

    def parts(self) -> Iterator[Trajectories]:
        """All episodes, a part at a time: a fault in any row is an error then."""
        if self.scan is None:
            yield self.data
            return
        yield from map(self.read, self.scan.parts())

    def with_data(self, data: Trajectories) -> Drawn:
        return replace(self, data=data)


def draw_log(
    source: Source,
    memory: float | None = None,
    seed: int = 0,
    sizes: MemoryRules = MemoryRules(),  # noqa: B008 - frozen
    along: Callable[[Scan], Callable[[Trajectories, int], Callable[[], None]] | None] = lambda scan: None,
    **options: Any,
) -> Drawn:
    """Read a log (see `read_log`, which takes the same further options), within about `memory` bytes.

    Of Parquet files that would need more a sample of whole episodes is read, as large as fits: evenly spread over
    episodes in the order of their length and of how often they have each frequent action. `along` is asked about such
    files; what it returns, if anything, is given all episodes, a part at a time, while the sample is taken from them:
    in any thread, and what it returns then is called in order (see `Along`).
    """
    scan = None if memory is None else _too_large(source, memory, sizes, options)
    if scan is None or memory is None:
        return Drawn(read_log(source, **options))
    where, steps = str(source), _drawn_steps(memory, len(scan.layout.observations), sizes)

    def read(rows: pl.DataFrame, encoding: Encoding | None = None) -> Trajectories:
        try:
            return read_log(rows, encoding=encoding, **options)
        except CodedOtherwise:
            raise
        except InputError as fault:
            # Rows are counted anew in what is read together.
            row = (fault.where or "").removeprefix("the log").removeprefix(", ")
            place = f"{where}, {row} of those read together" if row else where
            raise fault.at(place) from fault

    visit = along(scan)
    frame, episodes = scan.sample(steps, seed, None if visit is None else lambda rows, first: visit(read(rows), first))
    data, lacking = _with_all_words(scan, read, frame)
    encoding = data.encoding or Encoding.of_names(data.names)
    names = data.labels_of() if scan.layout.episode is not None else scan.spread(steps, seed)[EPISODE].to_numpy()
    drawn = Drawn(data, scan, episodes, read, partial(read, encoding=encoding), names)
    notes = (f"the log is larger than memory allows: answers are {drawn.note}", *encoding.notes, *lacking)
    return drawn.with_data(replace(drawn.data, encoding=replace(encoding, notes=notes)))


def _with_all_words(
    scan: Scan, read: Callable[..., Trajectories], frame: pl.DataFrame
) -> tuple[Trajectories, list[str]]:
    """A sample, coded with a place for words that other rows alone show, and what is to be said of these."""
    data = read(frame)
    if data.encoding is None:
        return data, []
    categories = [coding.column for coding in data.encoding.codings if coding.kind is Kind.CATEGORY]
    encoding, notes = widened(data.encoding, {column: scan.words(column) for column in categories})
    if encoding == data.encoding:
        return data, notes
    again = read(frame, encoding)
    return replace(again, encoding=encoding), notes


def bytes_of(words: str) -> float:
    """What users say about memory: 2GB, 500MB, 1.5GiB."""
    number = words.strip().rstrip("BbKkMmGgTtIi ")
    unit = words.strip()[len(number) :].strip().upper()
    try:
        found = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        found = 0.0
    if not 0 < found < float("inf"):
        raise InputError(f"--memory {words}", fix="say how much, as in 2GB or 500MB")
    return found


def _too_large(source: Source, memory: float, sizes: MemoryRules, options: dict[str, Any]) -> Scan | None:
    """The files, where they do not fit."""
    ends = checked_ends(options.get("ends"))
    asked = Asked(
        dict(options.get("columns") or {}), options.get("keep", ()), options.get("needs_observations", True), ends
    )
    scan = Scan.of(source, asked, lambda rows, observed: rows <= _steps_within(memory, observed, sizes))
    if scan is None:
        return None
    if ends == "horizon":
        raise InputError(
            "--ends horizon needs the longest of all episodes, and the log is larger than memory allows",
            where=str(source),
            fix="add a column 'terminated', or allow more with --memory",
        )
    return scan


def _steps_within(memory: float, observed: int, sizes: MemoryRules) -> int:
    """How many steps, with so many observations each, can be evaluated with so much."""
    return max(0, int((memory - sizes.program) / (sizes.step + sizes.value * observed)))


def _drawn_steps(memory: float, observed: int, sizes: MemoryRules) -> int:
    """The same, of a log that does not fit: an error where they are too few to tell anything."""
    steps = _steps_within(memory, observed, sizes)
    if steps < _FEWEST_STEPS:
        needed = sizes.program + _FEWEST_STEPS * (sizes.step + sizes.value * observed)
        raise InputError(
            f"--memory of {memory / 1e6:.0f} MB is less than the program needs for this log",
            fix=f"allow at least {needed / 1e6 + 1:.0f}MB",
        )
    return steps
