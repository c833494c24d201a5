"""Logs in which few different states come again and again."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import ChoiceRules
from repbm.data._trajectories import Trajectories

MOST_STATES = 2000
"""A log with more different states than this is no table, unless it is said otherwise."""


def numbered_states(
    data: Trajectories, most: int = MOST_STATES
) -> tuple[Float[np.ndarray, "states dimensions"], Int[np.ndarray, " steps"]] | None:
    """The different states of a log, sorted, and which of them every step is in; None where there are too many."""
    if not data.observations.shape[1]:
        return None
    # States that are measured hardly ever repeat: some rows tell, and of these one column, before all are compared.
    some = data.observations[: 3 * most]
    if any(len(np.unique(column + 0.0)) > most for column in some.T) or len(np.unique(some, axis=0)) > most:
        return None
    states, number = np.unique(data.observations, axis=0, return_inverse=True)
    return (states, number.reshape(-1)) if len(states) <= most else None


def few_states(data: Trajectories, rules: ChoiceRules = ChoiceRules()) -> bool:  # noqa: B008 - frozen
    """Whether the log shows so few different states, so often, that a table is the natural model."""
    found = numbered_states(data, rules.most_states)
    return found is not None and len(data.rewards) >= rules.fewest_visits * len(found[0])


def found_states(
    states: Float[np.ndarray, "states dimensions"], observations: Float[np.ndarray, "batch dimensions"]
) -> tuple[Int[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
    """The place of each observation among the sorted states, and whether it is there."""
    joined, inverse = np.unique(np.concatenate([states, observations]), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    place = np.full(len(joined), -1)
    place[inverse[: len(states)]] = np.arange(len(states))
    found = place[inverse[len(states) :]]
    return np.maximum(found, 0), found >= 0
