"""The figures of the paper, as data files."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import polars as pl

from repbm.core import InputError

_SCHEMA = {"estimator": pl.String, "rmse_mean": pl.Float64, "rmse_individual": pl.Float64}


_CLAIMS = {"behavior_error": pl.Float64, "error": pl.Float64}


def published(name: str) -> pl.DataFrame:
    """estimator, rmse_mean, rmse_individual (null where the paper has none); no rows for an empty name."""
    return _read(name, _SCHEMA)


def claims(name: str) -> pl.DataFrame:
    """behavior_error, error: what the text says of estimates with learned behaviors; no rows for an empty name."""
    return _read(name, _CLAIMS)


def _read(name: str, schema: dict[str, Any]) -> pl.DataFrame:
    if not name:
        return pl.DataFrame(schema=schema)
    file = files("repbm.experiments") / "published" / f"{name}.csv"
    if not file.is_file():
        raise InputError(f"no published figures '{name}'", fix="leave `published` out of the spec")
    return pl.read_csv(file.read_bytes(), schema=schema)
