"""Parquet files that need not fit into memory: which episodes are in them, some of these, and all of them in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from repbm.core import InputError, stream
from repbm.logs._ends import column_of
from repbm.logs._faults import Faults
from repbm.logs._files import Part, file_part, files_of, guarded, is_parquet, stands_for_files
from repbm.logs._layout import Asked, Layout
from repbm.logs._part_layout import layout_of
from repbm.logs._tables import Source
from repbm.logs._typed import typed

_LOOKED_AT = 100_000
"""So many first rows tell what columns hold."""
_COUNTED_ACTIONS = 4
"""The most frequent actions, by which a sample is spread."""
_ROW, _FILE, _EPISODE = "row of the scan", "file of the scan", "episode of the scan"


@dataclass(frozen=True)
class Scan:
    """The files of a log, not read yet: where they are, how many rows they have, and which column is what."""

    paths: tuple[Path, ...]
    rows: int
    layout: Layout
    further: tuple[str, ...] = ()
    """Columns to read besides those of the layout."""

    @classmethod
    def of(cls, source: Source, asked: Asked, fits: Callable[[int, int], bool]) -> Scan | None:
        """None where the source is not one or more Parquet files with the same columns, or `fits` into memory: so many
        rows, with so many columns that are observed."""
        if not stands_for_files(source):
            return None
        paths = tuple(files_of(Path(source)))
        if not all(map(is_parquet, paths)):
            return None
        first, *others = (file_part(path) for path in paths)
        rows = sum(map(_count, paths))
        if fits(rows, len(first.schema)):
            return None
        faults, further = Faults(), column_of(asked.ends)
        head = Part(first.name, first.schema, lambda columns: _head(paths[0], columns))
        layout = layout_of(head, asked, faults)
        faults.settle()
        assert layout is not None
        wanted = {*layout.columns, *([] if further is None else [further])}
        if fits(rows, len(layout.observations)) or not all(wanted <= set(part.schema) for part in (first, *others)):
            return None
        return cls(paths, rows, layout, () if further is None else (further,))

    @property
    def columns(self) -> list[str]:
        """Every column to read, each once."""
        return list(dict.fromkeys([*self.layout.columns, *self.further]))

    def sample(self, steps: int, seed: int) -> tuple[pl.DataFrame, int]:
        """The rows of episodes that together have about so many steps, and how many episodes there are in all.

        Stratified: of all episodes in the order of their length, and then of how often they have each frequent action,
        evenly spread ones are taken. So every kind of episode is there as often as in the whole log.
        """
        every = self.episodes
        count = max(2, int(min(1.0, steps / max(self.rows, 1)) * len(every)))
        shift = float(stream(seed, "sampled-episodes").random())
        places = np.unique(((np.arange(count) + shift) * (len(every) / count)).astype(np.int64).clip(0, len(every) - 1))
        chosen = every[places][_EPISODE]
        rows = self._lazy().filter(pl.col(_EPISODE).is_in(chosen.implode())).select(self.columns)
        return guarded(lambda: rows.collect(engine="streaming"), str(self.paths[0])), len(every)

    def parts(self, steps: int) -> Iterator[pl.DataFrame]:
        """All rows, about so many at a time, no episode in two parts.

        Where the rows of every episode stand together these are pieces of the files; else every part is gathered from
        all of them, which takes longer.
        """
        count = -(-self.rows // steps)
        if self._together:
            ends = np.sort(self.episodes["last"].to_numpy()) + 1
            borders = np.unique(
                np.concatenate(
                    [[0], ends[np.searchsorted(ends, self.rows * np.arange(1, count) // count)], [self.rows]]
                )
            )
            for start, stop in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
                rows = self._lazy().slice(start, stop - start).select(self.columns)
                yield guarded(lambda rows=rows: rows.collect(engine="streaming"), str(self.paths[0]))
            return
        for k in range(count):
            rows = self._lazy().filter(pl.col(_EPISODE).hash(0) % count == k).select(self.columns)
            part = guarded(lambda rows=rows: rows.collect(engine="streaming"), str(self.paths[0]))
            if len(part):
                yield part

    def first_rows(self, steps: int) -> Iterator[pl.DataFrame]:
        """The first row of every episode, of those in about so many rows at a time."""
        own, step = self.layout.episode, self.layout.step
        for part in self.parts(steps):
            if own is None:
                yield part
                continue
            # By numbers and dates, also where they are written as text.
            ordered = part if step is None else part.sort(typed(part[step]), maintain_order=True, nulls_last=True)
            yield ordered.unique(own, keep="first", maintain_order=True)

    @cached_property
    def episodes(self) -> pl.DataFrame:
        """Every episode: its length, how often it has frequent actions, its first and last row; in this order.

        An episode in two files is an error, and so is one in pieces without a column that tells the order.
        """
        action = pl.col(self.layout.action)
        common = _head(self.paths[0], [self.layout.action])[self.layout.action].drop_nulls().value_counts(sort=True)
        # Of equally frequent ones the first by name: nothing may depend on the order in which threads count.
        common = common.sort("count", self.layout.action, descending=[True, False])[self.layout.action][
            :_COUNTED_ACTIONS
        ]
        counted = [(action == label).sum().alias(f"action {k}") for k, label in enumerate(common)]
        found = guarded(
            lambda: (
                self._lazy()
                .group_by(_EPISODE)
                .agg(
                    action.is_not_null().sum().alias("length"),
                    *counted,
                    pl.col(_ROW).min().alias("first"),
                    pl.col(_ROW).max().alias("last"),
                    pl.len().alias("rows"),
                    pl.col(_FILE).min().alias("file"),
                    pl.col(_FILE).max().alias("last file"),
                )
                .collect(engine="streaming")
            ),
            str(self.paths[0]),
        )
        empty = found.filter(pl.col(_EPISODE).is_null())
        if len(empty):
            file, row = empty.select("file", "first").row(0)
            before = sum(_count(path) for path in self.paths[:file])
            raise InputError(
                f"column '{self.layout.episode}' is empty", where=f"{self.paths[file]}, row {row - before + 1}"
            )
        split = found.filter(pl.col("file") != pl.col("last file")).sort("first")
        if len(split):
            name, one, other = split.row(0)[0], *split.select("file", "last file").row(0)
            raise InputError(
                f"episode {name} is in {self.paths[one]} and in {self.paths[other]}",
                fix=f"keep an episode in one file; if they are different episodes, make '{self.layout.episode}' unique",
            )
        torn = found.filter(pl.col("last") - pl.col("first") + 1 != pl.col("rows")).sort("first")
        if len(torn) and self.layout.step is None:
            raise InputError(
                f"the rows of episode {torn[_EPISODE][0]} are apart, and no column 'step' tells their order",
                where=str(self.paths[torn["file"][0]]),
                fix="keep the rows of an episode together and in order, or add a column 'step'",
            )
        return found.drop("file", "last file").sort("length", *(f"action {k}" for k in range(len(common))), "first")

    @property
    def longest(self) -> int:
        """The number of steps of the longest episode."""
        return int(self.episodes["length"].to_numpy().max())

    @property
    def _together(self) -> bool:
        """Whether the rows of every episode stand one after the other."""
        return bool((self.episodes["last"] - self.episodes["first"] + 1 == self.episodes["rows"]).all())

    def _lazy(self) -> pl.LazyFrame:
        """All rows, each with its number, its file and its episode."""
        files = [_rows(path).with_columns(pl.lit(k, pl.Int32).alias(_FILE)) for k, path in enumerate(self.paths)]
        rows = (files[0] if len(files) == 1 else pl.concat(files, how="vertical_relaxed")).with_row_index(_ROW)
        own = self.layout.episode
        return rows.with_columns(pl.col(_ROW if own is None else own).alias(_EPISODE))


def _rows(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _count(path: Path) -> int:
    return guarded(lambda: _rows(path).select(pl.len()).collect().item(), str(path))


def _head(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    return guarded(lambda: _rows(path).head(_LOOKED_AT).select(columns).collect(), str(path))
