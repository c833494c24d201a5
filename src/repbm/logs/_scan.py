"""Parquet files that need not fit into memory: which episodes are in them, some of these, and all of them in parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from repbm.core import InputError, Label, stream
from repbm.data import each_once
from repbm.logs._ahead import ahead
from repbm.logs._columns import Columns
from repbm.logs._ends import column_of
from repbm.logs._faults import Faults
from repbm.logs._files import Part, file_part, files_of, is_parquet, stands_for_files
from repbm.logs._layout import Asked, Layout
from repbm.logs._part_layout import layout_of
from repbm.logs._piece import EPISODE, Piece, pieces_of, rows_between
from repbm.logs._runs import Stretch, runs
from repbm.logs._stored_rows import StoredRows, count_of, head_of
from repbm.logs._tables import Source, Table
from repbm.logs._typed import typed
from repbm.logs._windows import Windows, borders_of

_COUNTED_ACTIONS = 4
"""The most frequent actions, by which a sample is spread."""
PART_STEPS = 1 << 19
"""So many steps are worked on together: each of their columns is small enough for memory to be used again."""
_PARTS_READ = 2
"""So many parts are read together: as many rows as writers put into a block of a file (see `Windows`)."""
_AT_ONCE = min(os.cpu_count() or 1, 4)
"""So many parts are in memory at a time: together less than a sample."""
_COUNT = "action "
_ROW, _FILE = "row of the scan", "file of the scan"

Along = Callable[[pl.DataFrame, int], Callable[[], None]]
"""Work on a part of a log, whose first episode has this number, in any thread. What it returns is called in the order
of the parts, one at a time: so sums are the same whichever part is done first."""


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
        rows = sum(map(count_of, paths))
        if fits(rows, len(first.schema)):
            return None
        faults, further = Faults(), column_of(asked.ends)
        head = Part(first.name, first.schema, lambda columns: head_of(paths[0], columns))
        layout = layout_of(head, asked, faults)
        faults.settle()
        assert layout is not None
        wanted = {*layout.columns, *([] if further is None else [further])}
        if fits(rows, len(layout.observations)) or not all(wanted <= set(part.schema) for part in (first, *others)):
            return None
        return cls(paths, rows, layout, () if further is None else (further,))

    def __getstate__(self) -> dict[str, Any]:
        """For another process: what was found in the files stays here."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def columns(self) -> list[str]:
        """Every column to read, each once."""
        return list(dict.fromkeys([*self.layout.columns, *self.further]))

    def sample(self, steps: int, seed: int, along: Along | None = None) -> tuple[pl.DataFrame, int]:
        """The rows of episodes that together have about so many steps, and how many episodes there are in all.

        Stratified: of all episodes in the order of their length, and then of how often they have each frequent action,
        evenly spread ones are taken. So every kind of episode is there as often as in the whole log. `along` is given
        all rows, a part at a time, as the sample is taken from them: files are then read once for both.
        """
        chosen, count, own = self.spread(steps, seed), len(self.episodes), self.layout.episode
        if along is not None:
            return self._taken_along(chosen, along), count
        # Rows are numbered only where that is the name of an episode: it takes a third longer.
        every_row = self._lazy() if own is None else pl.concat(self._stored.files)
        rows = every_row.filter(pl.col(own or EPISODE).is_in(chosen[EPISODE].implode())).select(self.columns)
        return self._stored.read(rows), count

    def spread(self, steps: int, seed: int) -> pl.DataFrame:
        """Evenly spread episodes, of all by their kind, that together have about so many steps; by their first rows."""
        every = self.episodes
        count = max(2, int(min(1.0, steps / max(self.rows, 1)) * len(every)))
        shift = float(stream(seed, "sampled-episodes").random())
        spread = (np.arange(count) + shift) * (len(every) / count)
        places = each_once(spread.astype(np.int64).clip(0, len(every) - 1))
        return every[np.sort(self._by_kind[places])]

    def _taken_along(self, chosen: pl.DataFrame, along: Along) -> pl.DataFrame:
        """The rows of these episodes, whose own stand together."""
        firsts, lasts = chosen["first"].to_numpy(), chosen["last"].to_numpy()
        pieces = self.pieces()
        windows = self._windows(pieces)

        def work(piece: Piece) -> tuple[pl.DataFrame, Callable[[], None]]:
            frame = windows.rows(piece)
            own = slice(*np.searchsorted(firsts, [piece.start, piece.stop]))
            return rows_between(frame, piece.start, firsts[own], lasts[own]), along(frame, piece.before)

        taken = []
        for mine, add in ahead((partial(work, piece) for piece in pieces), _AT_ONCE):
            taken.append(mine)
            add()
        return pl.concat(taken)

    def parts(self) -> Iterator[pl.DataFrame]:
        """All rows, about `PART_STEPS` at a time, no episode in two parts."""
        yield from self.read_pieces(self.pieces())

    def pieces(self, chosen: pl.DataFrame | None = None) -> list[Piece]:
        """What these parts are; with `chosen`, of these episodes alone, which are in the order of their first rows.

        Where the rows of every episode stand together they are pieces of the files; else every part is gathered from
        all of them, which takes longer.
        """
        return pieces_of(self.episodes, self.rows, PART_STEPS, self.together, chosen)

    def read_pieces(self, pieces: Sequence[Piece]) -> Iterator[pl.DataFrame]:
        """Their rows. The next piece is read while the caller works on one."""
        windows = self._windows(pieces) if self.together else None
        read = self.read_piece if windows is None else lambda piece: piece.kept(windows.rows(piece))
        yield from ahead(partial(read, piece) for piece in pieces)

    def read_piece(self, piece: Piece) -> pl.DataFrame:
        """Its rows, wherever that is: nothing else of the scan needs to be known."""
        if piece.together:
            return piece.kept(self._stored.between(piece.start, piece.stop, self.columns))
        return self._stored.read(self._lazy().filter(piece.condition).select(self.columns))

    def first_rows(self) -> Iterator[pl.DataFrame]:
        """The first row of every episode, of those in about `PART_STEPS` rows at a time."""
        own, step = self.layout.episode, self.layout.step
        for part in self.parts():
            if own is None:
                yield part
                continue
            # By numbers and dates, also where they are written as text.
            ordered = part if step is None else part.sort(typed(part[step]), maintain_order=True, nulls_last=True)
            yield ordered.unique(own, keep="first", maintain_order=True)

    @cached_property
    def episodes(self) -> pl.DataFrame:
        """Every episode: its length, how often it has frequent actions, its first and last row; by its first row.

        An episode in two files is an error, and so is one in pieces without a column that tells the order.
        """
        found = None
        if self.layout.episode is not None:
            found = runs(ahead(self._stretches(self.layout.episode), _AT_ONCE))
        return self._gathered() if found is None else found.rename({"episode": EPISODE})

    @cached_property
    def _by_kind(self) -> np.ndarray:
        """The places of all episodes, in the order of their length, and of how often they have frequent actions."""
        keys = ["length", *(f"{_COUNT}{k}" for k in range(len(self._frequent)))]
        return np.lexsort([_narrow(self.episodes[key]) for key in reversed(keys)])

    def _gathered(self) -> pl.DataFrame:
        """The same where rows of an episode may be apart."""
        action = pl.col(self.layout.action)
        counted = [(action == label).sum().alias(f"{_COUNT}{k}") for k, label in enumerate(self._frequent)]
        found = self._stored.read(
            self._lazy()
            .group_by(EPISODE)
            .agg(
                action.is_not_null().sum().alias("length"),
                *counted,
                pl.col(_ROW).min().alias("first"),
                pl.col(_ROW).max().alias("last"),
                pl.len().alias("rows"),
                pl.col(_FILE).min().alias("file"),
                pl.col(_FILE).max().alias("last file"),
            )
            .sort("first")
        )
        empty = found.filter(pl.col(EPISODE).is_null())
        if len(empty):
            file, row = empty.select("file", "first").row(0)
            before = sum(self._stored.counts[:file])
            raise InputError(
                f"column '{self.layout.episode}' is empty", where=f"{self.paths[file]}, row {row - before + 1}"
            )
        split = found.filter(pl.col("file") != pl.col("last file"))
        if len(split):
            name, one, other = split.row(0)[0], *split.select("file", "last file").row(0)
            raise InputError(
                f"episode {name} is in {self.paths[one]} and in {self.paths[other]}",
                fix=f"keep an episode in one file; if they are different episodes, make '{self.layout.episode}' unique",
            )
        torn = found.filter(pl.col("last") - pl.col("first") + 1 != pl.col("rows"))
        if len(torn) and self.layout.step is None:
            raise InputError(
                f"the rows of episode {torn[EPISODE][0]} are apart, and no column 'step' tells their order",
                where=str(self.paths[torn["file"][0]]),
                fix="keep the rows of an episode together and in order, or add a column 'step'",
            )
        return found.drop("file", "last file")

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """All actions of the log."""
        name, every = self.layout.action, self.episodes
        frequent = [column for column in every.columns if column.startswith(_COUNT)]
        if every.select(pl.sum_horizontal(pl.col(frequent).sum())).item() == every["length"].sum():
            distinct = self._frequent
        else:
            distinct = self._stored.read(pl.concat(self._stored.files).select(pl.col(name).unique()))[name].drop_nulls()
        return (
            Columns(Table({name: distinct}, len(distinct), (str(self.paths[0]),), (len(distinct),)))
            .labels(name, "an action")
            .labels
        )

    def words(self, column: str) -> pl.Series:
        """All different values of a column of observations, those of the state after a step included."""
        names = [column]
        if self.layout.next_observations:
            names.append(self.layout.next_observations[self.layout.observations.index(column)])
        rows = pl.concat(self._stored.files)
        found = [self._stored.read(rows.select(pl.col(name).cast(pl.String).unique()))[name] for name in names]
        return pl.concat([each.alias(column) for each in found]).unique()

    @cached_property
    def _frequent(self) -> pl.Series:
        """The most frequent actions, as far as first rows tell."""
        action = self.layout.action
        found = head_of(self.paths[0], [action])[action].drop_nulls().value_counts(sort=True)
        # Of equally frequent ones the first by name: nothing may depend on the order in which threads count.
        return found.sort("count", action, descending=[True, False])[action][:_COUNTED_ACTIONS]

    @property
    def longest(self) -> int:
        """The number of steps of the longest episode."""
        return int(self.episodes["length"].to_numpy().max())

    @cached_property
    def together(self) -> bool:
        """Whether the rows of every episode stand one after the other."""
        return bool((self.episodes["last"] - self.episodes["first"] + 1 == self.episodes["rows"]).all())

    def _stretches(self, episode: str) -> Iterator[Callable[[], Stretch | None]]:
        """All rows in order, to be looked at: of which episodes they are, none beyond the end of a file."""
        action, common, first = self.layout.action, self._frequent.to_list(), 0

        def look(file: int, start: int, stop: int) -> Stretch | None:
            return Stretch.of(file, self._stored.between(start, stop, [episode, action]), episode, action, common)

        for file, count in enumerate(self._stored.counts):
            for start in range(first, first + count, PART_STEPS):
                yield partial(look, file, start, min(start + PART_STEPS, first + count))
            first += count

    def _windows(self, pieces: Iterable[Piece]) -> Windows:
        """The rows of these, which stand together, read where this scan is."""
        borders = borders_of(self._stored.counts, _PARTS_READ * PART_STEPS)
        return Windows(lambda start, stop: self._stored.between(start, stop, self.columns), borders, pieces)

    @cached_property
    def _stored(self) -> StoredRows:
        return StoredRows(self.paths, tuple(self.columns))

    def _lazy(self) -> pl.LazyFrame:
        """All rows, each with its number, its file and its episode."""
        files = [file.with_columns(pl.lit(k, pl.Int32).alias(_FILE)) for k, file in enumerate(self._stored.files)]
        rows = (files[0] if len(files) == 1 else pl.concat(files)).with_row_index(_ROW)
        own = self.layout.episode
        return rows.with_columns(pl.col(_ROW if own is None else own).alias(EPISODE))


def _narrow(counts: pl.Series) -> np.ndarray:
    """In as few bytes as hold them: two or fewer are sorted several times as fast."""
    array = counts.to_numpy()
    return array.astype(np.min_scalar_type(int(array.max())))
