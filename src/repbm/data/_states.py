"""Logs in which few different states come again and again."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.data._trajectories import Trajectories

MOST_STATES = 2000


def numbered_states(
    data: Trajectories,
) -> tuple[Float[np.ndarray, "states dimensions"], Int[np.ndarray, " steps"]] | None:
    """The different states of a log, sorted, and which of them every step is in; None where there are too many."""
    if not data.observations.shape[1]:
        return None
    # States that are measured hardly ever repeat: some rows tell, before all are compared.
    if len(np.unique(data.observations[: 3 * MOST_STATES], axis=0)) > MOST_STATES:
        return None
    states, number = np.unique(data.observations, axis=0, return_inverse=True)
    return (states, number.reshape(-1)) if len(states) <= MOST_STATES else None
