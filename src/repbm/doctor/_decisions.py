"""What actions, their probabilities and rewards tell about how they were logged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from repbm.core import LogRules
from repbm.data import Trajectories
from repbm.doctor._counts import LogCounts
from repbm.doctor._finding import Finding, Severity
from repbm.doctor._sample import sampled_episodes, sampled_steps


def actions(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    labels = list(counts.actions)
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(str(label).strip().casefold(), []).append(str(label))
    for same in (same for same in alike.values() if len(same) > 1):
        words = f"there are actions {' and '.join(map(repr, same[:3]))}"
        yield Finding(Severity.WARNING, "spelling of actions", words, "action", "spell one action in one way")
    if len(labels) == 1:
        yield Finding(
            Severity.PROBLEM,
            "one action",
            f"the only action is {labels[0]!r}: nothing can be said about another policy",
            "action",
        )
    elif len(labels) > rules.many_actions and len(labels) > rules.action_share * counts.steps:
        yield Finding(
            Severity.PROBLEM,
            "continuous actions",
            f"there are {len(labels)} different actions in {counts.steps} steps",
            "action",
            "a dose? group it into a few levels first",
        )
    else:
        rare = [f"{label!r} ({count}x)" for label, count in counts.actions.items() if count < rules.rare_action]
        if rare:
            words = f"few steps show {', '.join(rare[:5])}{' ...' if len(rare) > 5 else ''}"
            yield Finding(Severity.REMARK, "rare actions", words, "action", "what follows them is hardly known")


def probabilities(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    """The mean of 1 / mu(a | s) over logged actions is the mean number of actions that are possible."""
    if data.behavior is None:
        words = "the log does not say how probable its actions were"
        yield Finding(
            Severity.REMARK, "no probabilities", words, fix="they are estimated, and rows that use them say so"
        )
        return
    behavior = data.behavior[sampled_steps(data, rules)]
    inverse = 1 / behavior
    mean, error = float(inverse.mean()), float(inverse.std() / np.sqrt(len(inverse)))
    most = len(data.actions.labels)
    if not 1 - 4 * error - 0.05 <= mean <= most + 4 * error + 0.05 * most:
        yield Finding(
            Severity.WARNING,
            "probabilities",
            f"the mean of 1 / probability is {mean:.3g}; it should be the number of actions that are possible, "
            f"at most {most}",
            "behavior_prob",
            "are these the probabilities of the actions that were taken?",
        )
    elif most > 1 and (behavior == 1).all():
        words = "is 1 at every step, though the log shows several actions"
        yield Finding(
            Severity.WARNING, "probabilities", words, "behavior_prob", "leave the column out: they are estimated then"
        )


def rewards(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    if counts.lowest == counts.highest:
        if counts.shortest == counts.longest or counts.lowest == 0:
            words = f"every reward is {counts.lowest:g}: all policies are worth the same"
            yield Finding(Severity.WARNING, "rewards", words, "reward")
        return
    if counts.longest > 1 and not counts.early:
        yield Finding(Severity.REMARK, "rewards", "only last steps are rewarded", "reward")
    if counts.longest > 1 and counts.repeated:
        words = "is the same in all rows of an episode: one outcome, counted once a row?"
        yield Finding(Severity.WARNING, "repeated outcome", words, "reward", "if so, leave it in last rows alone")
    yield from _shifted(data, rules)


def _shifted(data: Trajectories, rules: LogRules) -> Iterator[Finding]:
    """Whether state and action of the step before tell more about a reward than those of its own step."""
    data = sampled_episodes(data, rules)
    inner = np.ones(len(data.rewards), dtype=bool)
    inner[data.starts] = False
    now = np.flatnonzero(inner)
    if len(now) < 100 or data.rewards[now].std() == 0:
        return
    x = _described(data)
    own, earlier = (_explained(x[rows], data.rewards[now]) for rows in (now, now - 1))
    if (
        earlier > own + rules.shifted_reward
        and (data.rewards[data.starts] == data.rewards[data.starts[0]]).mean() > 0.9
    ):
        yield Finding(
            Severity.WARNING,
            "shifted rewards",
            f"the step before tells {earlier:.0%} of the variance of a reward, its own step {own:.0%}",
            "reward",
            "a reward stands in the row of the decision that earned it: move rewards up by one row",
        )


def _described(data: Trajectories) -> np.ndarray:
    """State, action, and their products."""
    spread = data.observations.std(axis=0)
    states = (data.observations - data.observations.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    taken = np.eye(len(data.actions.labels))[data.actions.codes][:, :20]
    products = (states[:, :10, None] * taken[:, None, :]).reshape(len(states), -1)
    return np.column_stack([np.ones(len(states)), states, states**2, taken, products])


def _explained(x: np.ndarray, y: np.ndarray) -> float:
    """The share of the variance of y in every other row that a linear fit to the rest tells."""
    held = np.arange(len(y)) % 2 == 0
    coefficients = np.linalg.lstsq(x[~held], y[~held], rcond=1e-8)[0]
    total = ((y[held] - y[~held].mean()) ** 2).sum()
    return float(1 - ((y[held] - x[held] @ coefficients) ** 2).sum() / total) if total > 0 else 0.0
