"""What the ends and the number of episodes tell about how they were logged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from repbm.core import LogRules
from repbm.data import Trajectories
from repbm.doctor._counts import LogCounts
from repbm.doctor._finding import Finding, Severity


def few_episodes(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    if counts.episodes < rules.few_episodes:
        words = f"there are {counts.episodes} episodes: intervals rest on very little"
        yield Finding(Severity.WARNING, "few episodes", words)


def ends(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    longest, ended = counts.longest, counts.ended
    at_limit, others = int(ended[longest]), int(ended[:longest].sum())
    near = ended[max(0, longest - 10) : longest]
    if at_limit >= max(5, 0.05 * counts.episodes) and others and at_limit > rules.heap * max(int(near.max()), 1):
        yield Finding(
            Severity.WARNING,
            "truncated, not terminated?",
            f"{at_limit} episodes are said to end by themselves at step {longest - 1}, the last that any has",
            "terminated",
            "if a limit stopped them, terminated is false there (truncated is true)",
        )
    if not counts.terminated and counts.shortest < longest:
        yield Finding(
            Severity.WARNING,
            "no ends",
            f"no episode ends by itself, though they have {counts.shortest} to {longest} steps",
            "terminated",
            "is that so? what follows their last steps then counts as unknown",
        )
    if counts.lost:
        yield Finding(
            Severity.REMARK,
            "last states",
            f"the state in which {counts.lost} of {counts.terminated} episodes ended is not in the log",
            "next_obs",
            "add next_obs_* columns, or a row with an empty action: ends are then learned from it",
        )


def copies(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    """Episodes that are equal to others in every number; not where states are so few that this happens by chance."""
    if len(np.unique(data.returns())) == len(data):
        return
    if len(np.unique(data.initial_observations, axis=0)) < 0.5 * len(data):
        return
    first = np.column_stack([data.initial_observations, data.lengths, data.returns(), data.actions.codes[data.starts]])
    _, place, equal = np.unique(first, axis=0, return_index=True, return_counts=True)
    many = int((equal - 1).sum())
    if many:
        labels = data.labels_of()
        words = f"{many} episodes begin like another and earn the same, such as {labels[place[equal.argmax()]]!s}"
        yield Finding(Severity.WARNING, "copies", words, "episode", "if rows were doubled, intervals are too narrow")
