"""What the ends and the number of episodes tell about how they were logged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Shaped

from repbm.core import LogRules, say
from repbm.data import Trajectories
from repbm.doctor._counts import LogCounts
from repbm.doctor._finding import Finding, Severity

_COPIES = 0.5
"""Below this share of the pairs that begin alike, coarse columns explain as well why some go on alike."""
_DIFFERENT = 12
"""Of logs with so many different episodes one in 4,000 has each an even number of times by chance."""


def few_episodes(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    if counts.episodes < rules.few_episodes:
        words = say("doctor", "few_episodes", episodes=counts.episodes)
        yield Finding(Severity.WARNING, "few episodes", words)


def ends(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    longest, ended = counts.longest, counts.ended
    at_limit, others = int(ended[longest]), int(ended[:longest].sum())
    near = ended[max(0, longest - 10) : longest]
    if at_limit >= max(5, 0.05 * counts.episodes) and others and at_limit > rules.heap * max(int(near.max()), 1):
        yield Finding(
            Severity.WARNING,
            "truncated, not terminated?",
            say("doctor", "truncated", episodes=at_limit, step=longest - 1),
            "terminated",
            say("doctor", "truncated_fix"),
        )
    if not counts.terminated and counts.shortest < longest:
        yield Finding(
            Severity.WARNING,
            "no ends",
            say("doctor", "no_ends", shortest=counts.shortest, longest=longest),
            "terminated",
            say("doctor", "no_ends_fix"),
        )
    # In a log of single steps nothing follows that could be learned.
    if counts.lost and longest > 1:
        yield Finding(
            Severity.REMARK,
            "last states",
            say("doctor", "last_states", lost=counts.lost, ended=counts.terminated),
            "next_obs",
            say("doctor", "last_states_fix"),
        )


def copies(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    """Episodes that are equal to others in every number; not where that happens by chance, as where states are few."""
    if len(np.unique(data.returns())) == len(data):
        return
    course = np.column_stack([data.lengths, data.returns(), data.actions.codes[data.starts]])
    first = np.column_stack([data.initial_observations, course])
    _, place, equal = np.unique(first, axis=0, return_index=True, return_counts=True)
    # Where each is there as often, chance has no part in it, however few states there are.
    loaded = len(equal) >= _DIFFERENT and np.gcd.reduce(equal) > 1
    if not loaded and len(np.unique(data.initial_observations, axis=0)) < 0.5 * len(data):
        return
    many = int((equal - 1).sum())
    # Of pairs that begin alike so many are copies, if the others go on alike as often as any two episodes do.
    alike, chance = _pairs(first) / max(_pairs(data.initial_observations), 1), _pairs(course) / _pairs_of(len(data))
    if many and (loaded or alike - chance > _COPIES * (1 - chance)):
        labels = data.labels_of()
        example = labels[place[equal.argmax()]]
        words, fix = say("doctor", "copies", episodes=many, example=example), say("doctor", "copies_fix")
        yield Finding(Severity.WARNING, "copies", words, "episode", fix)


def _pairs(rows: Shaped[np.ndarray, "episodes columns"]) -> int:
    """How many pairs of rows are equal."""
    return sum(map(_pairs_of, np.unique(rows, axis=0, return_counts=True)[1].tolist()))


def _pairs_of(count: int) -> int:
    return count * (count - 1) // 2
