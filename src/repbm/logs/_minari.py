"""Trajectories to a dataset of Minari: what `minari:NAME` reads back."""

from __future__ import annotations

import warnings

import numpy as np

from repbm.core import InputError, optional, reason
from repbm.data import Trajectories
from repbm.logs._datasets import BEHAVIOR, MINARI


def write_minari(data: Trajectories, name: str) -> None:
    """Store a log as the dataset `name`, such as ward/stays-v0, among those of this machine; all or nothing.

    Minari numbers actions, and keeps the state after every last step. Probabilities of logged actions are kept among
    its infos, as behavior_prob.
    """
    name, minari = name.removeprefix(MINARI), optional("minari", "minari")
    spaces = optional("gymnasium.spaces", "minari")
    labels = data.actions.labels
    if not all(isinstance(label, int) for label in labels):
        raise InputError(f"actions are words ({labels[0]}), and Minari numbers them", fix="number them 0, 1, ...")
    unknown = int((~np.isfinite(data.final_observations).all(axis=1)).sum())
    if unknown:
        raise InputError(
            f"the state after the last step of {unknown} of {len(data)} episodes is not known, and Minari keeps it",
            fix="add it: next_obs_* columns, or a row with an empty action",
        )
    numbers = np.asarray(labels, dtype=np.int64)
    start = int(numbers.min())
    acted = spaces.Discrete(int(numbers.max()) - start + 1, start=start)
    observed = spaces.Box(-np.inf, np.inf, (data.observations.shape[1],), np.float64)
    buffers = []
    for k, (first, last) in enumerate(zip(data.offsets[:-1], data.offsets[1:], strict=True)):
        ends = np.zeros(last - first, dtype=bool)
        infos = None if data.behavior is None else {BEHAVIOR: np.append(data.behavior[first:last], np.nan)}
        buffers.append(
            minari.data_collector.EpisodeBuffer(
                id=k,
                observations=np.vstack([data.observations[first:last], data.final_observations[k]]).astype(np.float64),
                actions=numbers[data.actions.codes[first:last]],
                rewards=data.rewards[first:last].tolist(),
                terminations=_last(ends, bool(data.terminated[k])),
                truncations=_last(ends, bool(data.truncated[k])),
                infos=infos,
            )
        )
    try:
        with warnings.catch_warnings(action="ignore"):  # about authors and algorithms that nobody names
            minari.create_dataset_from_buffers(name, buffers, observation_space=observed, action_space=acted)
    except Exception as fault:  # names that it does not take, folders that cannot be written
        raise InputError(
            f"Minari does not store it ({reason(fault)})",
            where=f"{MINARI}{name}",
            fix="give a new name that ends in -v0, -v1, ...",
        ) from fault


def _last(ends: np.ndarray, flag: bool) -> list[bool]:
    return [*ends[:-1].tolist(), flag]
