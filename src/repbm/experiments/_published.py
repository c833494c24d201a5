"""The figures of the paper, as data files."""

from __future__ import annotations

from importlib.resources import files

import polars as pl

from repbm.core import InputError

_SCHEMA = {"estimator": pl.String, "rmse_mean": pl.Float64, "rmse_individual": pl.Float64}


def published(name: str) -> pl.DataFrame:
    """estimator, rmse_mean, rmse_individual (null where the paper has none); no rows for an empty name."""
    if not name:
        return pl.DataFrame(schema=_SCHEMA)
    file = files("repbm.experiments") / "published" / f"{name}.csv"
    if not file.is_file():
        raise InputError(f"no published figures '{name}'", fix="leave `published` out of the spec")
    return pl.read_csv(file.read_bytes(), schema=_SCHEMA)
