"""The observations of a log: how each column is coded, and the array they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from repbm.core import EncodingRules, InputError
from repbm.data import LARGEST_OBSERVATION, Coding, Encoding
from repbm.logs._columns import Columns
from repbm.logs._encode import NothingToLearn, encoded, fitted, starts
from repbm.logs._faults import Faults
from repbm.logs._layout import Layout
from repbm.logs._structure import Structure
from repbm.logs._tables import Table


def codings_of(
    at: Columns, found: Layout, shape: Structure | None, missing: str, rules: EncodingRules, faults: Faults
) -> tuple[list[Coding], list[str]]:
    """How each observation is coded, and what there is to say about it."""
    codings, notes, useless = [], [], []
    for name, column in zip(found.observation_names, found.observations, strict=True):
        try:
            coding = fitted(name, column, at, None if shape is None else shape.offsets, missing, rules)
        except NothingToLearn as fault:
            # What nobody asked for is left out.
            if "obs" in found.guessed and len(found.observations) > 1:
                useless.append(column)
            else:
                faults.add(fault)
            continue
        except InputError as fault:
            faults.add(fault)
            continue
        codings.append(coding)
        if coding.grouped:
            few = ", ".join(coding.grouped[:4]) + (", ..." if len(coding.grouped) > 4 else "")
            notes.append(f"rare in {column}, put into '{coding.name}=other': {few}")
        if coding.missing:
            share = float(np.mean(at.series(column).is_null().to_numpy()))
            how = "" if coding.levels else f"filled with the median, {coding.fill:.4g}, and "
            notes.append(f"{column} is missing in {share:.1%} of rows: {how}told by '{coding.names[-1]}'")
    if useless:
        notes.append(f"left out, since empty or another text in every row: {', '.join(useless)}")
    return codings, notes


def observations_of(at: Columns, codings: Sequence[Coding], shape: Structure, faults: Faults) -> np.ndarray:
    """Column by column into one array, each column let go once it is copied."""
    single = all(coding.plain and str(at.table.columns[coding.column].dtype) == "Float32" for coding in codings)
    kind = np.float32 if single and codings else np.float64
    width = sum(len(coding.names) for coding in codings)
    result = np.empty((len(at), width), dtype=kind, order="F")
    k = 0
    for coding in codings:
        after = k + len(coding.names)
        with faults.noted():
            if coding.plain:
                column = at.numbers(coding.column, most=LARGEST_OBSERVATION)
                if column.dtype == np.float64 and kind == np.float32:
                    result, kind = result.astype(np.float64), np.float64
                result[:, k] = column
            else:
                result[:, k:after] = encoded(coding, at, coding.column, starts(coding, at, shape.offsets))
        k = after
        del at.table.columns[coding.column]
    return result


def final_observations(
    table: Table, codings: Sequence[Coding], following: Mapping[str, str], shape: Structure, at: Columns
) -> np.ndarray:
    """The state after each episode's last step; NaN where it was not logged."""
    encoding = Encoding(tuple(codings))
    result = np.full((len(shape.labels), len(encoding.names)), np.nan)
    closed = shape.closing >= 0
    rows = np.arange(table.rows) if shape.rows is None else shape.rows
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    last = Columns(table, rows[shape.offsets[1:] - 1])
    closing = Columns(table, shape.closing[closed])
    given = np.zeros(len(result), dtype=bool)
    for coding in codings:
        begun = starts(coding, at, shape.offsets)
        begun = None if begun is None else begun[shape.offsets[:-1]]
        part = encoding.part(result, coding)
        if following:
            part[:] = encoded(coding, last, following[coding.name], begun)
            given |= last.series(following[coding.name]).is_not_null().to_numpy()
        if closed.any():
            own = encoded(coding, closing, coding.column, None if begun is None else begun[closed])
            there = closing.series(coding.column).is_not_null().to_numpy()
            given[closed] |= there
            use = there | np.isnan(part[closed]).all(axis=1)
            part[closed] = np.where(use[:, None], own, part[closed])
    result[~given] = np.nan
    return result
