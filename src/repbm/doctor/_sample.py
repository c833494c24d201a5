"""A few thousand steps that stand for all: looking at each would take longer than reading the log."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.core import LogRules
from repbm.data import Trajectories, each_once, spread_episodes


def sampled_steps(data: Trajectories, rules: LogRules) -> Int[np.ndarray, " some"]:
    """Positions of evenly spread steps, all of them in a small log."""
    count = len(data.rewards)
    return each_once(np.linspace(0, count - 1, min(count, rules.sampled_steps)).astype(np.int64))


def sampled(data: Trajectories, rules: LogRules) -> Int[np.ndarray, " some"] | None:
    """Evenly spread episodes that together have about so many steps; None for a small log, where all stand for all."""
    return spread_episodes(data, rules.sampled_steps)


def sampled_episodes(data: Trajectories, rules: LogRules) -> Trajectories:
    """These episodes; all of a small log."""
    chosen = sampled(data, rules)
    return data if chosen is None else data.take(chosen)


def names(data: Trajectories) -> list[str]:
    """What the observation columns are called."""
    return list(data.observation_names) or [f"obs_{k}" for k in range(data.observations.shape[1])]


def correlation(x: Float[np.ndarray, " some"], y: Float[np.ndarray, " some"]) -> float:
    """Pearson's, 0 where one of them does not vary."""
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / size) if size > 0 else 0.0
