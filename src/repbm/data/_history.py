"""What came before a step in its episode, as further columns of the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from repbm.data._trajectories import Trajectories


@dataclass(frozen=True, eq=False)
class History:
    """At every step: observations, action and reward of the step before, and their means over all steps before.

    At the first step nothing came before: the observations stand for those before, and the shares of actions and the
    mean reward of the log for the others.
    """

    usual: Float[np.ndarray, " done"]
    """Shares of all actions but the first, and the mean reward."""
    kept: Int[np.ndarray, " kept"] | None = None
    """Which of the columns; None for all."""

    @classmethod
    def of(cls, data: Trajectories) -> History:
        return cls(_done(data).mean(axis=0))

    def only(self, columns: Int[np.ndarray, " kept"]) -> History:
        """Some of the columns that these are."""
        return replace(self, kept=columns if self.kept is None else self.kept[columns])

    def actions(self, data: Trajectories) -> Int[np.ndarray, " some"]:
        """Which of all columns say what was done: the actions before, and their shares of all steps before."""
        done = len(self.usual)
        return 2 * data.observations.shape[1] + np.flatnonzero(np.arange(2 * done) % done < done - 1)

    def extended(self, data: Trajectories) -> Trajectories:
        """The log with what came before as further observations, after its own."""
        before, after = self.columns(data)
        return replace(
            data,
            observations=np.column_stack([data.observations, before]),
            final_observations=np.column_stack([data.final_observations, after]),
            observation_names=(),
            encoding=None,
        )

    def columns(
        self, data: Trajectories
    ) -> tuple[Float[np.ndarray, "steps columns"], Float[np.ndarray, "episodes columns"]]:
        """What came before every step, and before the state after the last one."""
        seen, done = data.observations, _done(data)
        pairs = [
            pair
            for values, first in ((seen, seen), (done, np.broadcast_to(self.usual, done.shape)))
            for pair in (_before(data, values, first), _mean_before(data, values, first))
        ]
        return self._chosen([now for now, _ in pairs]), self._chosen([last for _, last in pairs])

    def initial(self, states: Float[np.ndarray, "some dimensions"]) -> Float[np.ndarray, "some columns"]:
        """Initial states with the columns that `extended` adds to them."""
        usual = np.broadcast_to(self.usual, (len(states), len(self.usual)))
        return np.column_stack([states, self._chosen([states, states, usual, usual])])

    def _chosen(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        every = np.column_stack(columns)
        return every if self.kept is None else every[:, self.kept]


def _done(data: Trajectories) -> Float[np.ndarray, "steps done"]:
    """The action, one column for each but the first, and the reward of every step."""
    taken = data.actions.codes[:, None] == np.arange(1, len(data.actions.labels))
    return np.column_stack([taken.astype(np.float64), data.rewards])


Pair = tuple[Float[np.ndarray, "steps columns"], Float[np.ndarray, "episodes columns"]]


def _before(data: Trajectories, values: np.ndarray, first: np.ndarray) -> Pair:
    """The values one step earlier."""
    result = np.empty_like(values)
    result[1:] = values[:-1]
    result[data.starts] = first[data.starts]
    return result, values[data.lasts]


def _mean_before(data: Trajectories, values: np.ndarray, first: np.ndarray) -> Pair:
    """Means of the values at all earlier steps of the episode."""
    # Sums of a whole log lose no digits that matter around its mean.
    center = values.mean(axis=0)
    total = np.cumsum(values - center, axis=0)
    earlier = total - (values - center)
    since = earlier - np.repeat(earlier[data.starts], data.lengths, axis=0)
    result = center + since / np.maximum(data.steps, 1)[:, None]
    result[data.starts] = first[data.starts]
    return result, center + (since[data.lasts] + values[data.lasts] - center) / data.lengths[:, None]
