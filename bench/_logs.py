"""Generated logs that pages measure on."""

from __future__ import annotations

import numpy as np
import polars as pl

POLICY = """
import numpy as np


def policy(states):
    scores = states @ np.array([[0.6, -0.2, 0.1], [0.0, 0.5, -0.3], [0.2, 0.4, 0.0], [0.0, 0.0, 0.3]])
    odds = np.exp(scores)
    return odds / odds.sum(axis=1, keepdims=True)
"""
"""A policy file for `linear_log`."""
FORMS = [f"{soft}{normalized}{kind}" for soft in ("", "soft-") for normalized in ("", "w") for kind in ("is", "pdis")]
"""The eight forms of importance sampling."""
READ_AND_GROUP = "group_by('episode').agg(pl.all().sum()).collect(engine='streaming')"
"""What everything that looks at every step is compared with."""


def linear_log(steps: int, shortest: int = 10, longest: int = 40) -> pl.DataFrame:
    """About so many steps of a noisy linear world: 4 observations, 3 actions, and how probable they were."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(shortest, longest + 1, 2 * steps // (shortest + longest))
    starts = np.cumsum(lengths) - lengths
    rows, weights = int(lengths.sum()), generator.normal(size=(4, 3)) / 2
    effects = np.array([[0.2, 0.0, -0.1, 0.0], [0.0, 0.2, 0.0, 0.1], [-0.2, -0.1, 0.0, 0.1]])
    observed, actions = np.empty((rows, 4)), np.empty(rows, dtype=np.int64)
    rewards, known = np.empty(rows), np.empty(rows)
    states = generator.normal(size=(len(lengths), 4))
    for step in range(longest):
        own = np.flatnonzero(lengths > step)
        at, now = starts[own] + step, states[own]
        odds = np.exp(now @ weights)
        odds /= odds.sum(axis=1, keepdims=True)
        chosen = (odds.cumsum(axis=1) < generator.random((len(own), 1))).sum(axis=1).clip(0, 2)
        observed[at], actions[at], known[at] = now, chosen, odds[np.arange(len(own)), chosen]
        noise = generator.normal(size=(len(own), 5)) * 0.3
        rewards[at] = 0.3 * now[:, 0] - 0.2 * now[:, 1] ** 2 + 0.2 * (chosen == 1) * now[:, 2] + noise[:, 4]
        states[own] = 0.85 * now + effects[chosen] + noise[:, :4]
    places = np.arange(rows) - np.repeat(starts, lengths)
    return pl.DataFrame(
        {
            "episode": np.repeat(np.arange(len(lengths)), lengths),
            "step": places,
            **{f"x{k}": observed[:, k] for k in range(4)},
            "action": actions,
            "reward": rewards,
            "terminated": places == np.repeat(lengths, lengths) - 1,
            "behavior_prob": known,
        }
    )


def weighed_log(steps: int) -> pl.DataFrame:
    """The same without observations, with the probability that a policy gives the logged action."""
    return (
        linear_log(steps)
        .drop("x0", "x1", "x2", "x3")
        .with_columns(target=pl.col("behavior_prob").clip(upper_bound=0.9))
    )
