"""Results as CSV that a spreadsheet shows and does not run.

A spreadsheet takes a text that begins with =, +, -, @, a tab or a return for a formula. Such texts get an apostrophe in
front, which is how spreadsheets mark plain text; texts that have one there already get another, so that reading takes
away exactly what writing added. Numbers stay as they are, also where they are stored as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

_FORMULA = r"^'*[=+\-@\t\r]"
_MARKED = r"^'+[=+\-@\t\r]"
_NUMBER = r"^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$"


def write_cells(frame: pl.DataFrame, target: Path | BinaryIO) -> None:
    """Write a table of results as CSV."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    safe = frame.with_columns(
        pl.when(pl.col(name).str.contains(_FORMULA) & ~pl.col(name).str.contains(_NUMBER))
        .then("'" + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name in texts
    ).rename({name: f"'{name}" for name in frame.columns if re.match(_FORMULA, name)})
    if not isinstance(target, Path):
        safe.write_csv(target)
        return
    with target.open("wb") as file:  # polars itself cannot open every name
        safe.write_csv(file)


def read_cells(path: Path, schema: Mapping[str, Any]) -> pl.DataFrame:
    """The table that `write_cells` wrote; empty texts and missing ones are told apart by quotes."""
    with path.open("rb") as file:
        frame = pl.read_csv(file.read(), schema_overrides=dict(schema), infer_schema_length=None)
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(
        pl.when(pl.col(name).str.contains(_MARKED)).then(pl.col(name).str.slice(1)).otherwise(pl.col(name)).alias(name)
        for name in texts
    ).rename({name: name[1:] for name in frame.columns if re.match(_MARKED, name)})
