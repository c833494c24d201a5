"""What, besides the state, may decide whether an action was logged: when it was, and what had been done before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import say
from repbm.data import Trajectories
from repbm.inference import tree_states


@dataclass(frozen=True, eq=False)
class Circumstances:
    """The columns of every logged step: the state, the step of the episode, and actions before it.

    A treatment that nobody gets twice, or never on the first day, may be logged in every state, and yet the log does
    not show what a policy does that gives it again, or at once.
    """

    values: Float[np.ndarray, "steps columns"]
    names: tuple[str, ...]
    whole: frozenset[str]
    """Those that count."""
    others: dict[str, tuple[int, ...]]
    """For an action, the columns that count other ones: it is more plainly said what was done before without them."""

    def about(self, action: str) -> Circumstances:
        """Without counts of other actions."""
        kept = np.setdiff1d(np.arange(len(self.names)), self.others.get(action, ()))
        return Circumstances(self.values[:, kept], tuple(self.names[k] for k in kept), self.whole, {})

    @classmethod
    def of(cls, data: Trajectories, most_actions: int) -> Circumstances:
        columns, names, whole = [data.observations], list(data.names), []
        counting: dict[str, int] = {}
        if data.longest > 1:
            columns.append(data.steps[:, None] + 1.0)
            whole.append(say("doctor", "column_step"))
            names += whole
            for action in np.argsort(-np.bincount(data.actions.codes), kind="stable")[:most_actions].tolist():
                label = str(data.actions.labels[action])
                previous, times = _before(data, data.actions.codes == action)
                columns.append(np.column_stack([previous, times]))
                names += [say("doctor", "column_previous", action=label), say("doctor", "column_times", action=label)]
                whole.append(names[-1])
                counting[label] = len(names) - 1
        others = {
            str(label): tuple(place for name, place in counting.items() if name != str(label))
            for label in data.actions.labels
        }
        return cls(tree_states(np.hstack(columns)), tuple(names), frozenset(whole), others)


def _before(data: Trajectories, taken: np.ndarray) -> tuple[Float[np.ndarray, " steps"], Int[np.ndarray, " steps"]]:
    """Whether it was done at the step before, and how often at all steps before."""
    previous = np.concatenate([[0.0], taken[:-1].astype(np.float64)])
    previous[data.starts] = 0.0
    earlier = np.cumsum(taken) - taken
    return previous, earlier - np.repeat(earlier[data.starts], data.lengths)
