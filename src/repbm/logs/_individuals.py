"""New individuals: initial states without a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, nearest
from repbm.data import LARGEST_OBSERVATION
from repbm.logs._columns import Columns
from repbm.logs._tables import Source, joined, parts_of

_NAMES = ("individual", "episode")


@dataclass(frozen=True, eq=False)
class Individuals:
    """What they are called, and their initial states."""

    labels: list[str]
    states: Float[np.ndarray, "individuals dimensions"]


def read_individuals(
    source: Source, observation_names: Sequence[str], columns: Mapping[str, str] | None = None
) -> Individuals:
    """One row an individual: the observations of the log, and optionally a column `individual` (or `episode`).

    Observations are found as `obs_NAME` or as NAME, or where `columns` says.
    """
    parts = parts_of(source)
    present = list(parts[0].schema)
    renames = dict(columns or {})
    chosen = []
    for name in observation_names:
        candidates = (renames.get(f"obs_{name}", f"obs_{name}"), name)
        found = next((candidate for candidate in candidates if candidate in present), None)
        if found is None:
            guess = nearest(f"obs_{name}", present)
            fix = f"did you mean '{guess}'?" if guess else f"the columns are {', '.join(present[:12])}"
            raise InputError(f"there is no column 'obs_{name}'", where=parts[0].name, fix=fix)
        chosen.append(found)
    named = next((renames.get(name, name) for name in _NAMES if renames.get(name, name) in present), None)
    table = joined(parts, list(dict.fromkeys([*chosen, *([] if named is None else [named])])))
    at = Columns(table)
    states = np.column_stack([at.numbers(name, most=LARGEST_OBSERVATION) for name in chosen]).astype(np.float64)
    if named is None:
        return Individuals([str(k) for k in range(len(states))], states)
    return Individuals([str(label) for label in at.labels(named, "an individual").decoded()], states)
