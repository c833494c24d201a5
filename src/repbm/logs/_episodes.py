"""Episodes as arrays, one after the other, to one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from repbm.core import InputError, Label, nearest
from repbm.logs._write import spread

_ARRAYS = ("observations", "actions", "rewards")
_ENDS = ("terminated", "truncated")


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode: a row of observations a step, and one more if the state after the last step is known."""

    label: Label
    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminated: bool | None
    truncated: bool | None = None
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Further columns, one value a step."""

    def __post_init__(self) -> None:
        steps, what = len(self.actions), f"episode {self.label}"
        if not steps:
            raise InputError(f"{what} has no step", fix="remove it")
        if len(self.observations) not in (steps, steps + 1):
            raise InputError(
                f"{what} has {len(self.observations)} observations for {steps} actions",
                fix="give one a step, and one more where the state after the last step is known",
            )
        for name, column in {"rewards": self.rewards, **self.columns}.items():
            if len(column) != steps:
                raise InputError(f"{what} has {len(column)} {name} for {steps} actions", fix="give one a step")


def episodes_frame(episodes: Sequence[Episode], names: Sequence[str] | None = None) -> pl.DataFrame:
    """One row a step, and a closing row where the state after the last step is known, in our own column names.

    `names` are those of the observations; their numbers, from 0, where none are given.
    """
    widths = {episode.observations.shape[1]: episode.label for episode in episodes}
    if len(widths) > 1:
        (first, one), (second, other), *_ = widths.items()
        raise InputError(
            f"episode {one} has {first} observations a step, episode {other} {second}", fix="give all the same"
        )
    rows = np.asarray([len(episode.observations) for episode in episodes])
    steps = np.asarray([len(episode.actions) for episode in episodes])
    ends = np.cumsum(rows)
    closing = np.zeros(int(ends[-1]), dtype=bool)
    closing[ends[rows > steps] - 1] = True
    at, last = np.flatnonzero(~closing), np.cumsum(steps) - 1
    labels = pl.Series([episode.label for episode in episodes])
    observations = np.concatenate([episode.observations for episode in episodes])
    columns: dict[str, Any] = {"episode": labels.gather(np.repeat(np.arange(len(rows)), rows))}
    for k, name in enumerate(names if names is not None else range(observations.shape[1])):
        columns[f"obs_{name}"] = observations[:, k]
    columns["action"] = _joined([episode.actions for episode in episodes], "actions", at, len(closing))
    columns["reward"] = _joined([episode.rewards for episode in episodes], "rewards", at, len(closing))
    for name in _ENDS:
        said = [getattr(episode, name) for episode in episodes]
        _for_all(name, [flag is not None for flag in said], episodes)
        if said[0] is not None:
            flags = np.zeros(len(at), dtype=bool)
            flags[last] = said
            columns[name] = spread(pl.Series(flags), at, len(closing))
    for name in dict.fromkeys(name for episode in episodes for name in episode.columns):
        _for_all(name, [name in episode.columns for episode in episodes], episodes)
        columns[name] = _joined([episode.columns[name] for episode in episodes], name, at, len(closing))
    return pl.DataFrame(columns)


def listed_episodes(source: Sequence[Any]) -> pl.DataFrame:
    """A list of mappings: `observations` (n or n + 1 rows), `actions`, `rewards`, and how the episode ended.

    `terminated` and `truncated` are one flag, or one a step. Further arrays of one value a step, such as
    `behavior_prob`, become columns.
    """
    if not source:
        raise InputError("the log is empty")
    return episodes_frame([_listed(given, number) for number, given in enumerate(source)])


def _listed(given: Any, number: int) -> Episode:
    if not isinstance(given, Mapping):
        raise InputError(f"episode {number} is a {type(given).__name__}", fix="give a dict of arrays an episode")
    for name in _ARRAYS:
        if name not in given:
            guess = nearest(name, list(given))
            fix = f"is it '{guess}'?" if guess else f"it has {', '.join(map(str, given)) or 'none'}"
            raise InputError(f"episode {number} has no array '{name}'", fix=fix)
    observations = as_rows(given["observations"], f"the observations of episode {number}")
    more = {
        str(name): as_column(values, f"'{name}' of episode {number}")
        for name, values in given.items()
        if name not in (*_ARRAYS, *_ENDS)
    }
    ends = {name: _flag(given[name], name, number) if name in given else None for name in _ENDS}
    return Episode(
        number,
        observations,
        as_column(given["actions"], f"the actions of episode {number}"),
        as_column(given["rewards"], f"the rewards of episode {number}"),
        ends["terminated"],
        ends["truncated"],
        more,
    )


def as_rows(values: Any, what: str) -> np.ndarray:
    """Observations of a whole episode, one row each."""
    array = _array(values, what)
    if array.ndim == 1:
        return array[:, None]
    if array.ndim != 2:
        raise InputError(f"{what} have shape {array.shape}", fix="give one row of numbers a step")
    return array


def as_column(values: Any, what: str) -> np.ndarray:
    """One value a step; a second dimension of length 1 is dropped."""
    array = _array(values, what)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise InputError(
            f"{what} have shape {array.shape}", fix="give one value a step (only discrete actions can be evaluated)"
        )
    return array


def _array(values: Any, what: str) -> np.ndarray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as fault:
        raise InputError(f"{what} are no array ({fault})", fix="give one value a step") from fault


def _flag(value: Any, name: str, number: int) -> bool:
    """Whether an episode ended so: one flag, or flags of all steps of which only the last may be raised."""
    flags = np.atleast_1d(_array(value, f"'{name}' of episode {number}"))
    if flags.dtype.kind not in "biuf" or not np.isin(flags, (0, 1)).all() or flags.ndim != 1 or not len(flags):
        raise InputError(f"'{name}' of episode {number} is neither true nor false", fix="give one flag, or one a step")
    if flags[:-1].any():
        raise InputError(
            f"episode {number} goes on after '{name}' (step {int(np.flatnonzero(flags)[0])})",
            fix="make what follows another episode",
        )
    return bool(flags[-1])


def _for_all(name: str, given: Sequence[bool], episodes: Sequence[Episode]) -> None:
    if any(given) and not all(given):
        label = episodes[given.index(False)].label
        raise InputError(f"episode {label} has no '{name}', which others have", fix="give it for all or for none")


def _joined(arrays: Sequence[np.ndarray], name: str, at: np.ndarray, rows: int) -> pl.Series:
    kinds = {"text" if array.dtype.kind in "UO" else "numbers" for array in arrays}
    if len(kinds) > 1:
        raise InputError(f"{name} are numbers in some episodes and text in others", fix="give all alike")
    try:
        return spread(pl.Series(np.concatenate(arrays)), at, rows)
    except (TypeError, pl.exceptions.PolarsError) as fault:
        raise InputError(f"{name} cannot be read ({fault})", fix="give numbers only, or text only") from fault
