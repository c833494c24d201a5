"""New individuals: initial states without a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, nearest
from repbm.data import LARGEST_OBSERVATION, Coding, Encoding, Informative
from repbm.logs._columns import Columns
from repbm.logs._encode import encoded
from repbm.logs._faults import Faults
from repbm.logs._guesses import is_identity, usual
from repbm.logs._tables import Source, joined, parts_of
from repbm.logs._typed import typed

_NAMES = ("individual", "episode")


@dataclass(frozen=True, eq=False)
class Individuals:
    """What they are called, their initial states, and what was put into other categories."""

    labels: list[str]
    states: Float[np.ndarray, "individuals dimensions"]
    notes: list[str] = field(default_factory=list)

    def among(self, columns: Informative) -> Individuals:
        """With the columns that tell something alone."""
        said = columns.unlike(self.states)
        return Individuals(self.labels, columns.narrowed(self.states), [*self.notes, *([said] if said else [])])


def read_individuals(
    source: Source,
    observation_names: Sequence[str],
    columns: Mapping[str, str] | None = None,
    encoding: Encoding | None = None,
) -> Individuals:
    """One row an individual: the observations of the log, and optionally a column `individual` or `episode`, or with
    another usual name, such as `patient_id`.

    Observations are found as `obs_NAME`, as NAME or as the log calls them, or where `columns` says, and coded as those
    of the log. Categories that it does not show are put into `other` where it has one.
    """
    encoding = encoding or Encoding.of_names(observation_names)
    parts = parts_of(source)
    present = list(parts[0].schema)
    renames = dict(columns or {})
    faults = Faults()
    chosen = [faults.tried(lambda one=one: _column(one, renames, present, parts[0].name)) for one in encoding.codings]
    faults.settle()
    found = [name for name in chosen if name is not None]
    named = next((renames.get(name, name) for name in _NAMES if renames.get(name, name) in present), None)
    guessed = _names([name for name in present if name not in found]) if named is None else None
    named = named or guessed
    table = joined(parts, list(dict.fromkeys([*found, *([] if named is None else [named])])))
    at, notes = Columns(table), [] if guessed is None else [f"individuals are called by {guessed}"]
    states = np.empty((len(at), len(encoding.names)))
    for coding, name in zip(encoding.codings, found, strict=True):
        table.columns[name] = typed(table.columns[name])
        with faults.noted():
            if coding.plain:
                states[:, encoding.names.index(coding.name)] = at.numbers(name, most=LARGEST_OBSERVATION)
                continue
            encoding.part(states, coding)[:] = _coded(coding, at, name)
            notes += _new(coding, at, name)
    faults.settle()
    if named is None:
        return Individuals([str(k) for k in range(len(states))], states, notes)
    return Individuals([str(label) for label in at.labels(named, "an individual").decoded()], states, notes)


def _names(free: Sequence[str]) -> str | None:
    """The column that says who somebody is, by its name; none where several may."""
    usually = usual("episode", free) or [name for name in free if is_identity(name)]
    return usually[0] if len(usually) == 1 else None


def _column(coding: Coding, renames: Mapping[str, str], present: Sequence[str], where: str) -> str:
    """Where an observation stands in the table."""
    ours = f"obs_{coding.name}"
    for candidate in (renames.get(ours, ours), coding.name, coding.column):
        if candidate in present:
            return candidate
    guess = nearest(ours, present) or nearest(coding.column, present)
    fix = f"did you mean '{guess}'?" if guess else f"the columns are {', '.join(present[:12])}"
    raise InputError(f"there is no column '{ours}'", where=where, fix=fix)


def _coded(coding: Coding, at: Columns, name: str) -> np.ndarray:
    states = encoded(coding, at, name)
    absent = np.isnan(states).any(axis=1)
    if absent.any():
        raise InputError(
            f"column '{name}' is empty, but never in the log",
            where=at.place(int(np.flatnonzero(absent)[0])),
            fix="fill it in",
        )
    return states


def _new(coding: Coding, at: Columns, name: str) -> list[str]:
    """What is said of categories that the log does not show."""
    if not coding.other:
        return []
    words = {str(word) for word in at.series(name).drop_nulls().unique().to_list()}
    new = sorted(words - set(coding.levels) - set(coding.grouped) - {"other"})
    meant = ((word, nearest(word, coding.levels)) for word in new[:6])
    shown = ", ".join(f"{word} (did you mean '{guess}'?)" if guess else word for word, guess in meant)
    return [f"the log never shows these in {name}, put into '{coding.name}=other': {shown}"] if new else []
