"""A behavior learned from a log: what was done in the states nearest to this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from repbm.core import InputError, Label
from repbm.data import Trajectories
from repbm.policies._base import Choices, ObservationPolicy

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

_BLOCK_CELLS = 1 << 21
"""Neighbors looked up at once: memory stays small however long the log and however many neighbors."""


class NeighborPolicy(ObservationPolicy):
    """mu(a | s) = (n_a(s) + prior * share_a) / (k + prior), n_a(s) of the k logged steps nearest to s took a.

    `share_a` is how often the whole log takes a: with all steps as neighbors mu is that everywhere, and a prior above 0
    gives every logged action a chance everywhere, as a ratio pi / mu needs. Columns are compared in units of their
    deviation in the log.
    """

    def __init__(self, data: Trajectories, neighbors: int, prior: float = 1.0) -> None:
        if not 1 <= neighbors <= len(data.rewards):
            raise InputError(
                f"{neighbors} neighbors in a log of {len(data.rewards)} steps", fix="ask for 1 up to as many as steps"
            )
        if not 0 <= prior < np.inf:
            raise InputError(f"a prior of {prior:g} steps", fix="give a finite number, 0 or more")
        self.neighbors, self.prior = neighbors, prior
        self.labels: tuple[Label, ...] = data.actions.labels
        self._codes: Int[np.ndarray, " steps"] = data.actions.codes
        self._shares = np.bincount(self._codes, minlength=len(self.labels)) / len(self._codes)
        spread = data.observations.std(axis=0)
        self._units = np.where(spread > 0, spread, 1.0)
        self._nearest = _index(data.observations / self._units)

    @property
    def name(self) -> str:
        return f"{self.neighbors} neighbors"

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        if observations.shape[1] != len(self._units):
            raise InputError(
                f"a behavior learned from {len(self._units)} observation columns is asked about "
                f"{observations.shape[1]}",
                fix="ask about observations as those it was learned from",
            )
        size = max(1, _BLOCK_CELLS // self.neighbors)
        starts = range(0, len(observations), size)
        counts = [self._counts(observations[start : start + size] / self._units) for start in starts]
        taken = np.concatenate(counts) if counts else np.zeros((0, len(self.labels)))
        return Choices(self.labels, (taken + self.prior * self._shares) / (self.neighbors + self.prior))

    def _counts(self, places: Float[np.ndarray, "batch dimensions"]) -> Float[np.ndarray, "batch actions"]:
        """How many of the nearest steps took each action."""
        found = self._nearest.kneighbors(places, self.neighbors, return_distance=False)
        cells = np.arange(len(places))[:, None] * len(self.labels) + self._codes[found]
        counts = np.bincount(cells.ravel(), minlength=len(places) * len(self.labels))
        return counts.reshape(len(places), -1).astype(np.float64)


def _index(places: Float[np.ndarray, "steps dimensions"]) -> NearestNeighbors:
    # Loaded when needed: most evaluations estimate no behavior.
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors().fit(places)
