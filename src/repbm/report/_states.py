"""Where episodes began, in the columns and words of the table that the log was."""

from __future__ import annotations

import numpy as np
import polars as pl

from repbm.data import Coding, Encoding, Kind
from repbm.evaluation import Evaluation


def logged_states(evaluation: Evaluation) -> pl.DataFrame:
    """The state that each logged episode began in: a ward by its name, and nothing where a value was missing.

    Inside, a category is columns of 0 and 1, and what is missing has a median in its place: no reader's numbers.
    """
    coded = evaluation.episodes[:, 2:]
    read = evaluation.run.get("reading")
    encoding = Encoding.of_names(coded.columns) if read is None else Encoding.of(read)
    if encoding.plain or len(encoding.names) != coded.width or coded.is_empty():
        return coded
    states = coded.to_numpy().astype(np.float64)
    return pl.DataFrame([_column(coding, encoding.part(states, coding)) for coding in encoding.codings])


def _column(coding: Coding, part: np.ndarray) -> pl.Series:
    if coding.kind in (Kind.NUMBER, Kind.ELAPSED):
        return pl.Series(coding.names[0], coding.decoded(part), nan_to_null=True)
    if coding.kind is Kind.DATE:
        return pl.Series(coding.name, coding.decoded(part)).cast(pl.String).str.strip_suffix(" 00:00:00.000000")
    words = [None if value is None else str(value) for value in coding.decoded(part)]
    if coding.kind is Kind.FLAG:
        words = [word and word.lower() for word in words]
    return pl.Series(coding.name, words, pl.String)
