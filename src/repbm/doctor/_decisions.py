"""What actions, their probabilities and rewards tell about how they were logged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from repbm.core import LogRules, say
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
        named = f" {say('doctor', 'and')} ".join(map(repr, same[:3]))
        words, fix = say("doctor", "spelling_of_actions", actions=named), say("doctor", "spelling_of_actions_fix")
        yield Finding(Severity.WARNING, "spelling of actions", words, "action", fix)
    if len(labels) == 1:
        yield Finding(
            Severity.PROBLEM,
            "one action",
            say("doctor", "one_action", action=labels[0]),
            "action",
        )
    elif len(labels) > rules.many_actions and len(labels) > rules.action_share * counts.steps:
        yield Finding(
            Severity.PROBLEM,
            "continuous actions",
            say("doctor", "continuous_actions", actions=len(labels), steps=counts.steps),
            "action",
            say("doctor", "continuous_actions_fix"),
        )
    else:
        rare = [f"{label!r} ({count}x)" for label, count in counts.actions.items() if count < rules.rare_action]
        if rare:
            shown = f"{', '.join(rare[:5])}{' ...' if len(rare) > 5 else ''}"
            words, fix = say("doctor", "rare_actions", actions=shown), say("doctor", "rare_actions_fix")
            yield Finding(Severity.REMARK, "rare actions", words, "action", fix)


def probabilities(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    """The mean of 1 / mu(a | s) over logged actions is the mean number of actions that are possible."""
    if data.behavior is None:
        words, fix = say("doctor", "no_probabilities"), say("doctor", "no_probabilities_fix")
        yield Finding(Severity.REMARK, "no probabilities", words, fix=fix)
        return
    behavior = data.behavior[sampled_steps(data, rules)]
    inverse = 1 / behavior
    mean, error = float(inverse.mean()), float(inverse.std() / np.sqrt(len(inverse)))
    most = len(data.actions.labels)
    if not 1 - 4 * error - 0.05 <= mean <= most + 4 * error + 0.05 * most:
        yield Finding(
            Severity.WARNING,
            "probabilities",
            say("doctor", "odd_probabilities", mean=mean, most=most),
            "behavior_prob",
            say("doctor", "odd_probabilities_fix"),
        )
    elif most > 1 and (behavior == 1).all():
        words, fix = say("doctor", "certain_probabilities"), say("doctor", "certain_probabilities_fix")
        yield Finding(Severity.WARNING, "probabilities", words, "behavior_prob", fix)


def rewards(data: Trajectories, counts: LogCounts, rules: LogRules) -> Iterator[Finding]:
    if counts.lowest == counts.highest:
        if counts.shortest == counts.longest or counts.lowest == 0:
            words = say("doctor", "same_rewards", reward=counts.lowest)
            yield Finding(Severity.WARNING, "rewards", words, "reward")
        return
    if counts.longest > 1 and not counts.early:
        yield Finding(Severity.REMARK, "rewards", say("doctor", "last_rewards"), "reward")
    if counts.longest > 1 and counts.repeated:
        words, fix = say("doctor", "repeated_outcome"), say("doctor", "repeated_outcome_fix")
        yield Finding(Severity.WARNING, "repeated outcome", words, "reward", fix)
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
            say("doctor", "shifted_rewards", earlier=earlier, own=own),
            "reward",
            say("doctor", "shifted_rewards_fix"),
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
