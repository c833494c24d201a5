"""Every individual of a log, also of one that is larger than memory, valued by the answers: part by part."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from repbm.core import InputError, say
from repbm.data import Encoding, Informative
from repbm.doctor import possible_returns, refusals
from repbm.estimators import Case, Corrected, DirectMethod, Estimate, Estimator
from repbm.evaluation._critics import Critics
from repbm.evaluation._individual_rows import individual_rows, refused_rows, told_of
from repbm.evaluation._options import Question
from repbm.evaluation._tables import Tables
from repbm.logs import Drawn, Individuals, Scan, read_individuals


@dataclass(frozen=True, eq=False)
class Everyone:
    """All individuals of a log. Values are computed when somebody asks, some individuals at a time."""

    frames: Callable[[], Iterator[pl.DataFrame]]
    """Tables with the columns of `individuals.csv`, one after the other."""

    def write(self, path: Path) -> None:
        """As a Parquet file; only a part of it is ever in memory."""
        parts = path.with_name(f"{path.name}.parts")
        parts.mkdir()
        for number, frame in enumerate(self.frames()):
            frame.write_parquet(parts / f"{number:06}.parquet")
        pl.scan_parquet(sorted(parts.iterdir()), glob=False).sink_parquet(path)
        shutil.rmtree(parts)


def everyone(
    drawn: Drawn,
    tables: Tables,
    critics: Critics,
    cases: Mapping[str, Case],
    question: Question,
    columns: Informative | None = None,
) -> Everyone:
    """The individuals of a log, by the estimators whose individual values are shown.

    `columns` are those that these were fitted to, where not to all.
    """
    tellers = [teller for name, case in cases.items() if (teller := _teller(name, case, tables, critics)) is not None]
    if not tellers:
        raise InputError(
            "none of the estimators tells anything about individuals", fix="ask for corrected, or leave --everyone out"
        )
    scan = drawn.scan
    if scan is None:
        chosen = pl.struct("policy", "estimator").is_in([{"policy": t.policy, "estimator": t.name} for t in tellers])
        known = pl.concat(tables.individuals).filter(chosen & (pl.col("source") == "log"))
        return Everyone(lambda: iter([known]))

    def frames() -> Iterator[pl.DataFrame]:
        done = 0
        for rows in scan.first_rows():
            found, lacking = _read(rows, scan, drawn, question, done)
            found = found if columns is None else found.among(columns)
            for teller in tellers:
                yield _numbered(teller.rows(found, lacking, question), rows, scan)
            done += len(rows)

    return Everyone(frames)


@dataclass(frozen=True, eq=False)
class _Teller:
    """What answers for the individuals of a policy."""

    policy: str
    name: str
    case: Case
    estimator: Corrected | DirectMethod
    found: Estimate

    def rows(self, people: Individuals, lacking: list[str], question: Question) -> pl.DataFrame:
        """Those who are lacking an observation have no value."""
        rows = individual_rows(self.policy, self.name, people.labels, "log", self._known(people.states, question))
        rows = refused_rows(rows, refusals(self.case, people.states, question.thresholds))
        if not lacking:
            return rows
        others = individual_rows(self.policy, self.name, lacking, "log", {})
        return pl.concat([rows, refused_rows(others, [say("notes", "refused_missing")] * len(lacking))])

    def _known(self, states: np.ndarray, question: Question) -> dict[str, np.ndarray]:
        possible = possible_returns(self.case)
        if isinstance(self.estimator, DirectMethod):
            return {"value": np.clip(self.estimator.values_of(self.case, states), *possible)}
        own = self.estimator.individuals(self.case, states, self.found)
        if own is not None:
            return told_of(own, possible, question.level)
        return {"value": np.clip(self.estimator.critic.values_of(self.case, states).values, *possible)}


def _teller(policy: str, case: Case, tables: Tables, critics: Critics) -> _Teller | None:
    name = tables.individuals_by(policy)
    if name is None:
        return None
    spec = tables.spec(policy, name)
    fitted = critics.for_estimator(spec, case)
    estimator: Estimator = spec.estimator(None if fitted is None else fitted.critic)
    if not isinstance(estimator, Corrected | DirectMethod):
        return None
    return _Teller(policy, name, case, estimator, estimator(case))


def _read(
    rows: pl.DataFrame, scan: Scan, drawn: Drawn, question: Question, first: int
) -> tuple[Individuals, list[str]]:
    """Individuals as the sample is coded, and the labels of those who are lacking what nobody in the sample lacks."""
    data, episode = drawn.data, scan.layout.episode
    encoding = data.encoding or Encoding.of_names(data.names)
    called = pl.int_range(first, first + len(rows), eager=True) if episode is None else rows[episode]
    needed = [coding.column for coding in encoding.codings if not coding.missing]
    numbers = [name for name in needed if rows.schema[name].is_float()]
    rows = rows.with_columns(pl.col(numbers).fill_nan(None)) if numbers else rows
    whole = pl.Series([True] * len(rows)) & rows.select(pl.all_horizontal(pl.col(needed).is_not_null())).to_series()
    labels = called.cast(pl.String)
    try:
        found = read_individuals(rows.filter(whole), data.observation_names, question.reading.columns, encoding)
    except InputError as fault:
        file, *others = scan.paths
        where = f"{file.parent if others else file}, among the first rows of episodes"
        raise InputError(fault.what, where=where, fix=fault.fix) from fault
    return Individuals(labels.filter(whole).to_list(), found.states), labels.filter(~whole).to_list()


def _numbered(told: pl.DataFrame, rows: pl.DataFrame, scan: Scan) -> pl.DataFrame:
    """Episodes by whole numbers where the log has such, so that the tables can be joined."""
    own = scan.layout.episode
    if own is not None and not rows.schema[own].is_integer():
        return told
    return told.with_columns(pl.col("episode").cast(pl.Int64))
