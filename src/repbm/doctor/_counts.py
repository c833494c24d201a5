"""What is counted over all episodes of a log: counts of its parts add up, so that it need not fit into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from repbm.core import Label
from repbm.data import Trajectories, added


@dataclass(frozen=True, eq=False)
class LogCounts:
    """Lengths, ends, actions and rewards of all episodes."""

    lengths: Int[np.ndarray, " lengths"]
    """How many episodes have 0, 1, 2 ... steps,"""
    ended: Int[np.ndarray, " lengths"]
    """and how many of them ended by themselves;"""
    lost: int
    """of these, how many have no last state in the log."""
    actions: Mapping[Label, int]
    """How often each was taken."""
    lowest: float
    highest: float
    """Rewards."""
    early: bool
    """Whether some step before the last of its episode is rewarded,"""
    repeated: bool
    """and whether all rewards of every episode are the same."""

    @classmethod
    def of(cls, data: Trajectories) -> LogCounts:
        before = np.ones(len(data.rewards), dtype=bool)
        before[data.lasts] = False
        counts = np.bincount(data.actions.codes, minlength=len(data.actions.labels)).tolist()
        return cls(
            lengths=np.bincount(data.lengths),
            ended=np.bincount(data.lengths[data.terminated], minlength=data.longest + 1),
            lost=int((data.terminated & np.isnan(data.final_observations).any(axis=1)).sum()),
            actions=dict(zip(data.actions.labels, counts, strict=True)),
            lowest=float(data.rewards.min()),
            highest=float(data.rewards.max()),
            early=bool(data.rewards[before].any()),
            repeated=bool((data.rewards == np.repeat(data.rewards[data.starts], data.lengths)).all()),
        )

    def __add__(self, other: LogCounts) -> LogCounts:
        labels = sorted({*self.actions, *other.actions}, key=lambda label: (isinstance(label, str), label))
        return LogCounts(
            lengths=added(self.lengths, other.lengths),
            ended=added(self.ended, other.ended),
            lost=self.lost + other.lost,
            actions={label: self.actions.get(label, 0) + other.actions.get(label, 0) for label in labels},
            lowest=min(self.lowest, other.lowest),
            highest=max(self.highest, other.highest),
            early=self.early or other.early,
            repeated=self.repeated and other.repeated,
        )

    @property
    def episodes(self) -> int:
        return int(self.lengths.sum())

    @property
    def steps(self) -> int:
        return int(self.lengths @ np.arange(len(self.lengths)))

    @property
    def shortest(self) -> int:
        return int(np.flatnonzero(self.lengths)[0])

    @property
    def longest(self) -> int:
        return len(self.lengths) - 1

    @property
    def terminated(self) -> int:
        """Episodes that ended by themselves."""
        return int(self.ended.sum())
