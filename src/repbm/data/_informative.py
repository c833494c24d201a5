"""Which columns of observations tell something: those that change, and are not another one over again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from repbm.data._trajectories import Trajectories

_LOOKED_AT = 1000
"""So many steps tell which columns are worth comparing at all of them."""
_NAMED = 6
"""So many columns are named in a note."""


@dataclass(frozen=True, eq=False)
class Informative:
    """The columns of a log without those that are constant, or equal to an earlier one.

    What is fitted sees the others alone: a column twice counts twice wherever distances or penalties count columns, and
    costs time. Policies see the log as it is.
    """

    sources: Int[np.ndarray, " columns"]
    """Where every column stands among those that are kept, or the one that it equals; -1 for a constant."""
    constants: Float[np.ndarray, " columns"]
    """The values of constant columns."""
    names: tuple[str, ...]

    @classmethod
    def of(cls, data: Trajectories) -> Informative | None:
        """None where every column tells something, or none does."""
        states, finals = data.observations, data.final_observations
        if states.shape[1] < 2:
            return None
        some = states[:: max(1, len(states) // _LOOKED_AT)]
        sources, constants = np.full(states.shape[1], -1), np.zeros(states.shape[1])
        seen: dict[bytes, list[int]] = {}
        kept: list[int] = []
        for k in range(states.shape[1]):
            column, last, first = states[:, k], finals[:, k], states[0, k]
            if (some[:, k] == first).all() and (column == first).all() and ((last == first) | np.isnan(last)).all():
                constants[k] = first
                continue
            alike = seen.setdefault(some[:, k].tobytes(), [])
            same = (j for j in alike if np.array_equal(states[:, j], column))
            equal = next((j for j in same if np.array_equal(finals[:, j], last, equal_nan=True)), None)
            if equal is None:
                alike.append(k)
                kept.append(k)
            sources[k] = kept.index(k if equal is None else equal)
        return cls(sources, constants, data.names) if 0 < len(kept) < len(sources) else None

    @cached_property
    def kept(self) -> Int[np.ndarray, " kept"]:
        """The columns that tell something."""
        return np.asarray([int(np.flatnonzero(self.sources == k)[0]) for k in range(self.sources.max() + 1)])

    @property
    def note(self) -> str:
        """What is left out, and why."""
        said = list(self._reasons())
        more = f" and {len(said) - _NAMED} more" if len(said) > _NAMED else ""
        return f"left out of what is fitted, since they tell nothing: {', '.join(said[:_NAMED])}{more}"

    def _reasons(self) -> Iterator[str]:
        for k, (name, source) in enumerate(zip(self.names, self.sources.tolist(), strict=True)):
            if source < 0:
                yield f"{name} (always {self.constants[k]:g})"
            elif self.kept[source] != k:
                yield f"{name} (the same as {self.names[self.kept[source]]})"

    def narrowed(self, states: Float[np.ndarray, "batch columns"]) -> Float[np.ndarray, "batch kept"]:
        return np.ascontiguousarray(states[:, self.kept])

    def widened(self, states: Any, module: Any = np) -> Any:
        """States as the log has them, of NumPy or of JAX."""
        taken = states[..., np.maximum(self.sources, 0)]
        return module.where(self.sources >= 0, taken, self.constants.astype(states.dtype))

    def log(self, data: Trajectories) -> Trajectories:
        """The log without the others."""
        return replace(
            data,
            observations=self.narrowed(data.observations),
            final_observations=self.narrowed(data.final_observations),
            observation_names=tuple(self.names[k] for k in self.kept),
            encoding=None,
        )

    def unlike(self, states: Float[np.ndarray, "batch columns"]) -> str:
        """In words, in which of the columns left out these states are not as the log is; nothing where in none."""
        odd = (self.widened(self.narrowed(states)) != states).any(axis=0)
        named = ", ".join([self.names[k] for k in np.flatnonzero(odd)][:_NAMED])
        return f"individuals are not as the log is in {named}: taken as there, where it tells nothing" if named else ""
