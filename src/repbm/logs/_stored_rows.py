"""The rows of Parquet files, one file after the other: any of them, by their numbers, without reading the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from repbm.logs._files import guarded

_LOOKED_AT = 100_000
"""So many first rows tell what columns hold."""


@dataclass(frozen=True)
class StoredRows:
    """Some columns of some files."""

    paths: tuple[Path, ...]
    columns: tuple[str, ...]

    @cached_property
    def counts(self) -> list[int]:
        """The rows of every file."""
        return [count_of(path) for path in self.paths]

    @cached_property
    def files(self) -> list[pl.LazyFrame]:
        """The files, each column of the same type in all of them."""
        files = [_rows(path).select(self.columns) for path in self.paths]
        if len(files) == 1:
            return files
        schema = guarded(lambda: pl.concat(files, how="vertical_relaxed").collect_schema(), str(self.paths[0]))
        return [file.cast(dict(schema)) for file in files]

    def between(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        """The rows from one number to another, of the files where they are."""
        ends = np.cumsum(self.counts)
        files = range(int(np.searchsorted(ends, start, "right")), int(np.searchsorted(ends, stop - 1, "right")) + 1)
        firsts = ends - self.counts
        rows = [
            self.files[k].slice(max(start - int(firsts[k]), 0), stop - max(start, int(firsts[k]))).select(columns)
            for k in files
            if self.counts[k]
        ]
        return self.read(rows[0] if len(rows) == 1 else pl.concat(rows))

    def read(self, rows: pl.LazyFrame) -> pl.DataFrame:
        return guarded(lambda: rows.collect(engine="streaming"), str(self.paths[0]))


def count_of(path: Path) -> int:
    """How many rows a file has."""
    return guarded(lambda: _rows(path).select(pl.len()).collect().item(), str(path))


def head_of(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """The first rows of a file."""
    return guarded(lambda: _rows(path).head(_LOOKED_AT).select(columns).collect(), str(path))


def _rows(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)
