"""Some episodes that stand for all of a long log."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from repbm.data._segments import each_once
from repbm.data._trajectories import Trajectories


def spread_episodes(data: Trajectories, most_steps: int) -> Int[np.ndarray, " some"] | None:
    """Evenly spread episodes that together have about so many steps; None for a shorter log, where all stand for all.

    A log is sorted by who came when, or not at all: evenly spread episodes are like all others in either case.
    """
    share = min(1.0, most_steps / max(len(data.rewards), 1))
    count = max(2, int(share * len(data)))
    return None if count >= len(data) else each_once(np.linspace(0, len(data) - 1, count).astype(np.int64))
