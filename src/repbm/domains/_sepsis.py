"""Treatment of sepsis in intensive care: the finite world that Choudhary, Gupta & Thomas (2024) made from MIMIC-III.

Its numbers are those of the package icu-sepsis, which is not imported: it carries them as one file.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label
from repbm.data import Trajectories
from repbm.domains._tabular import TabularWorld
from repbm.policies import Choices, ObservationPolicy

_DEATH, _SURVIVAL = 713, 714
_SWEEPS = 500


@dataclass(frozen=True, eq=False)
class Sepsis:
    """716 states of a patient, the last three of them ends; 25 actions: five levels of fluids by five of vasopressors.

    Survival earns 1. An action that no clinician takes in a state leads where those that they take lead on average.
    `features` are the 47 measurements at the center of every state.
    """

    world: TabularWorld
    clinician: Float[np.ndarray, "states actions"]
    features: Float[np.ndarray, "states measurements"]

    @classmethod
    def load(cls, horizon: int = 60) -> Sepsis:
        found = importlib.util.find_spec("icu_sepsis")
        if found is None or found.origin is None:
            raise InputError("this needs icu-sepsis", fix="pip install 'repbm[sepsis]'")
        with np.load(Path(found.origin).parent / "envs" / "assets" / "dynamics.npz", allow_pickle=False) as file:
            moves, initial, clinician = (file[name].astype(np.float64) for name in ("tx_mat", "d_0", "expert_policy"))
            features = file["state_cluster_centers"].astype(np.float64)
        size, actions = moves.shape[:2]
        states = np.arange(size)
        # Nobody decides after the end.
        clinician = np.where(clinician.sum(axis=1, keepdims=True) > 0, clinician, 1 / actions)
        world = TabularWorld(
            initial=initial.ravel() / initial.sum(),
            transitions=moves / moves.sum(axis=2, keepdims=True),
            rewards=np.zeros((size, actions)),
            terminal=states >= _DEATH,
            horizon=horizon,
            arrivals=(states == _SURVIVAL).astype(np.float64),
        )
        return cls(world, clinician / clinician.sum(axis=1, keepdims=True), features)

    @property
    def optimal(self) -> Float[np.ndarray, "states actions"]:
        """The best of the policies that take only actions that clinicians take, by value iteration."""
        world, taken = self.world, self.clinician > 0
        assert world.arrivals is not None
        earned, value = world.transitions @ world.arrivals, np.zeros(len(world.initial))
        best = earned
        for _ in range(_SWEEPS):
            best = np.where(taken, earned + world.transitions @ np.where(world.terminal, 0.0, value), -np.inf)
            value = best.max(axis=1)
        return np.eye(best.shape[1])[best.argmax(axis=1)]

    def measured(self, log: Trajectories) -> Trajectories:
        """The log with the measurements of its states in place of their numbers."""
        place = log.observations[:, 0].astype(np.int64)
        last = log.final_observations[:, 0].astype(np.int64)
        names = tuple(f"measurement_{k}" for k in range(self.features.shape[1]))
        return replace(
            log,
            observations=self.features[place],
            final_observations=self.features[last],
            observation_names=names,
        )


class NearestState(ObservationPolicy):
    """A table of action probabilities, for measurements: the row of the state whose center is nearest."""

    def __init__(
        self, centers: Float[np.ndarray, "states measurements"], table: Float[np.ndarray, "states actions"]
    ) -> None:
        from scipy.spatial import KDTree

        spread = centers.std(axis=0)
        self._units = np.where(spread > 0, spread, 1.0)
        self._tree, self._table = KDTree(centers / self._units), table

    @property
    def name(self) -> str:
        return "nearest-state"

    def choices(self, observations: Float[np.ndarray, "batch measurements"], labels: tuple[Label, ...]) -> Choices:
        place = self._tree.query(observations / self._units)[1]
        return Choices(tuple(range(self._table.shape[1])), self._table[place])
