"""Datasets of other libraries: Minari and d3rlpy."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from repbm.core import InputError, optional, reason
from repbm.logs._episodes import Episode, as_column, as_rows, episodes_frame

MINARI = "minari:"
"""What stands before the name of a Minari dataset."""
BEHAVIOR = "behavior_prob"
"""Among the infos of a dataset: how probable each logged action was."""


def named_minari(words: str) -> pl.DataFrame:
    """`minari:NAME`, a dataset on this machine."""
    name, minari = words.removeprefix(MINARI), optional("minari", "minari")
    if not name:
        raise InputError("this names no dataset", fix=f"say {MINARI}NAME; `minari list local` shows them")
    try:
        dataset = minari.load_dataset(name)
    except FileNotFoundError:
        raise InputError("there is no such dataset on this machine", fix=f"fetch it: minari download {name}") from None
    except Exception as fault:  # damaged datasets fail in many ways
        raise InputError(f"the dataset cannot be read ({reason(fault)})") from fault
    return minari_frame(dataset)


def minari_frame(dataset: Any) -> pl.DataFrame:
    """A Minari dataset with discrete actions; observations of several parts become columns named after them."""
    if type(dataset.action_space).__name__ != "Discrete":
        raise _continuous(dataset.action_space)
    names: list[str] | None = None
    episodes: list[Episode] = []
    for one in dataset.iterate_episodes():
        what = f"the observations of episode {one.id}"
        if isinstance(one.observations, Mapping):
            parts = {
                name: as_rows(values, f"'{name}' of episode {one.id}") for name, values in one.observations.items()
            }
            names = [
                name if part.shape[1] == 1 else f"{name}_{k}"
                for name, part in parts.items()
                for k in range(part.shape[1])
            ]
            observations = np.concatenate(list(parts.values()), axis=1)
        else:
            observations = as_rows(one.observations, what)
        episodes.append(
            Episode(
                int(one.id),
                observations,
                as_column(one.actions, f"the actions of episode {one.id}"),
                one.rewards,
                terminated=bool(one.terminations[-1]),
                truncated=bool(one.truncations[-1]),
                columns=_probabilities(one),
            )
        )
    if not episodes:
        raise InputError("the dataset has no episode")
    return episodes_frame(episodes, names)


def _probabilities(one: Any) -> dict[str, np.ndarray]:
    """Those of the logged actions, where `write_minari` kept them: one more than there are steps."""
    infos = getattr(one, "infos", None)
    if not isinstance(infos, Mapping) or BEHAVIOR not in infos:
        return {}
    return {BEHAVIOR: np.asarray(infos[BEHAVIOR], dtype=np.float64)[: len(one.actions)]}


def stored_d3rlpy(path: Path) -> pl.DataFrame:
    """An .h5 file, as `dataset.dump(file)` of d3rlpy writes it."""
    datasets = optional("d3rlpy.dataset", "d3rlpy")
    try:
        with path.open("rb") as file, contextlib.redirect_stdout(io.StringIO()):  # it logs there
            dataset = datasets.ReplayBuffer.load(file, datasets.InfiniteBuffer())
    except Exception as fault:  # h5py and d3rlpy fail in many ways
        raise InputError(
            f"this is no dataset of d3rlpy that can be read ({reason(fault)})", fix="write it with dataset.dump"
        ) from fault
    return d3rlpy_frame(dataset)


def d3rlpy_frame(dataset: Any) -> pl.DataFrame:
    """An MDPDataset or another replay buffer of d3rlpy with discrete actions. It has no state after the last step."""
    if dataset.dataset_info.action_space.name != "DISCRETE":
        raise _continuous(dataset.dataset_info.action_space.name.lower())
    episodes = [
        Episode(
            number,
            as_rows(one.observations, f"the observations of episode {number}"),
            as_column(one.actions, f"the actions of episode {number}"),
            as_column(one.rewards, f"the rewards of episode {number}"),
            terminated=bool(one.terminated),
            truncated=not one.terminated,
        )
        for number, one in enumerate(dataset.episodes)
    ]
    if not episodes:
        raise InputError("the dataset has no episode")
    return episodes_frame(episodes)


def _continuous(space: Any) -> InputError:
    return InputError(f"the dataset's actions are of the kind {space}", fix="only discrete actions can be evaluated")
