"""Logged transitions as fitted Q evaluation looks at them: with what the policy would do next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import InputError
from repbm.data import Trajectories
from repbm.models.transitions._table import TransitionTable
from repbm.policies import ObservationPolicy, Policy


@dataclass(frozen=True, eq=False)
class BellmanTable:
    """(s, a, r, s') with the steps left before and the policy's probabilities at s'.

    `onward` says where a step follows, or would with the log longer: not where the world `ended` the episode, nor where
    one step was left. A step after which the log stopped is here if its next state was logged (`followed`), or is not
    needed because no step was left; s' is 0 where it is unknown.
    """

    states: Float[np.ndarray, "rows dimensions"]
    actions: Int[np.ndarray, " rows"]
    rewards: Float[np.ndarray, " rows"]
    following: Float[np.ndarray, "rows dimensions"]
    followed: Bool[np.ndarray, " rows"]
    ended: Bool[np.ndarray, " rows"]
    onward: Bool[np.ndarray, " rows"]
    left: Int[np.ndarray, " rows"]
    policy: Float[np.ndarray, "rows actions"]
    episodes: Int[np.ndarray, " rows"]

    @classmethod
    def of(cls, data: Trajectories, policy: Policy, horizon: int) -> BellmanTable:
        if not isinstance(policy, ObservationPolicy):
            raise InputError(
                "fqe needs a policy that can act in any state, and this one is known at logged steps only",
                fix="give the policy as a function, or use importance sampling",
            )
        table = TransitionTable.of(data, None)
        left = np.maximum(horizon - table.steps, 1)
        onward = ~table.ended & (left > 1)
        rows = np.flatnonzero(table.followed | ~onward)
        if not len(rows):
            raise InputError("no logged step tells what follows it", fix="log the final state, or longer episodes")
        onward, followed = onward[rows], table.followed[rows]
        following = np.where(followed[:, None], table.next_states[rows], 0.0)
        labels = data.actions.labels
        probabilities = np.zeros((len(rows), len(labels)))
        if onward.any():
            probabilities[onward] = policy.choices(following[onward], labels).matrix(labels)
        return cls(
            states=table.states[rows],
            actions=table.actions[rows],
            rewards=table.rewards[rows],
            following=following,
            followed=followed,
            ended=table.ended[rows],
            onward=onward,
            left=left[rows],
            policy=probabilities,
            episodes=table.episodes[rows],
        )

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def left_after(self) -> Int[np.ndarray, " rows"]:
        """The steps left at s', at least 1."""
        return np.maximum(self.left - 1, 1)

    def take(self, rows: np.ndarray) -> BellmanTable:
        return BellmanTable(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})
