"""What observation columns tell about themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from repbm.core import LogRules, say
from repbm.data import Trajectories
from repbm.doctor._counts import LogCounts
from repbm.doctor._finding import Finding, Severity
from repbm.doctor._sample import correlation, names, sampled_episodes, sampled_steps


def constant_columns(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    some = data.observations[sampled_steps(data, rules)]
    for k in np.flatnonzero(some.min(axis=0) == some.max(axis=0)):
        value = data.observations[0, k]
        if (data.observations[:, k] == value).all():
            words = say("doctor", "constant_column", value=value)
            yield Finding(Severity.REMARK, "constant column", words, names(data)[k], column=names(data)[k])


def equal_columns(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    rows, called = sampled_steps(data, rules), names(data)
    seen: dict[bytes, str] = {}
    for k, name in enumerate(called):
        values = data.observations[rows, k]
        if values.min() == values.max():
            continue
        first = seen.setdefault(values.tobytes(), name)
        if first != name:
            words, fix = say("doctor", "equal_columns", first=first), say("doctor", "equal_columns_fix")
            yield Finding(Severity.REMARK, "equal columns", words, name, fix, name)


def leaking_columns(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    """Columns that know what the decision was, or what came of it."""
    data = sampled_episodes(data, rules)
    codes, rewards, later = data.actions.codes, data.rewards, _rewards_to_come(data)
    fix, reward_fix = say("doctor", "leaks_fix"), say("doctor", "leaks_reward_fix")
    for k, name in enumerate(names(data)):
        values = data.observations[:, k]
        distinct, place = np.unique(values, return_inverse=True)
        actions = len(np.unique(codes))
        pairs = len(np.unique(place * (codes.max() + 1) + codes))
        if 1 < len(distinct) <= 2 * actions and actions > 1 and pairs == len(distinct):
            yield Finding(Severity.WARNING, "leaking column", say("doctor", "leaks_action"), name, fix, name)
        elif abs(correlation(values, rewards)) > 1 - 1e-9:
            yield Finding(Severity.WARNING, "leaking column", say("doctor", "leaks_reward"), name, reward_fix, name)
        elif abs(correlation(values, later)) > 1 - 1e-9 and later.std() > 0:
            yield Finding(
                Severity.WARNING, "leaking column", say("doctor", "leaks_rewards_to_come"), name, reward_fix, name
            )


def outliers(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    """Values far from all others, codes for missing ones among them."""
    rows = sampled_steps(data, rules)
    for k, name in enumerate(names(data)):
        values = data.observations[rows, k]
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        if high == low:
            continue
        far = np.abs(values - middle) > rules.outlier * (high - low)
        if not far.any():
            continue
        found, times = np.unique(values[far], return_counts=True)
        most = found[times.argmax()]
        if times.max() >= 3 and len(found) <= 3:
            words = say("doctor", "outlier_code", value=most, share=times.max() / len(rows))
            yield Finding(Severity.WARNING, "outliers", words, name, say("doctor", "outlier_code_fix"), name)
            continue
        at = rows[np.flatnonzero(far)[0]]
        episode = int(np.searchsorted(data.offsets, at, side="right")) - 1
        words = say("doctor", "outlier", value=data.observations[at, k], low=low, high=high)
        where = say("doctor", "outlier_where", column=name, episode=data.labels_of()[episode], step=data.steps[at])
        yield Finding(Severity.WARNING, "outliers", words, where, say("doctor", "outlier_fix"), name)


def two_units(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    """Columns of many values that fall into two groups with nothing between."""
    rows = sampled_steps(data, rules)
    for k, name in enumerate(names(data)):
        values = np.sort(data.observations[rows, k])
        if len(np.unique(values)) < 20:
            continue
        fewest = max(5, int(rules.smallest_group * len(values)))
        gaps = np.diff(values)[fewest - 1 : len(values) - fewest]
        if not len(gaps):
            continue
        at = int(gaps.argmax()) + fewest
        below, above = values[:at], values[at:]
        widths = below[-1] - below[0], above[-1] - above[0]
        # A group of one value is a code, not a unit.
        if min(widths) > 0 and gaps.max() > rules.apart * max(widths):
            words = say("doctor", "two_units", below=np.median(below), above=np.median(above))
            yield Finding(Severity.WARNING, "two units", words, name, say("doctor", "two_units_fix"), name)


def _rewards_to_come(data: Trajectories) -> np.ndarray:
    """r_t + r_{t+1} + ... of every step."""
    summed = np.cumsum(data.rewards)
    ends = summed[data.lasts]
    return np.repeat(ends, data.lengths) - summed + data.rewards
