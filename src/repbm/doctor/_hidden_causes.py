"""Traces of a hidden cause: decisions that go with what was unexpected before them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repbm.estimators import Case, MarginalCritic

_LARGEST = 5.0
"""Surprises count up to so many standard deviations: a few must not decide."""


@dataclass(frozen=True)
class HiddenCause:
    """How an action goes with earlier surprises, given the state: in standard errors, and as a correlation."""

    action: str
    standard_errors: float
    correlation: float


def hidden_cause(case: Case, critic: MarginalCritic) -> HiddenCause | None:
    """The action that goes most with earlier surprises; None where nothing is earlier, or no probabilities are known.

    If the state holds all that matters, what was unexpected before a step tells nothing of the decision there, beyond
    the state. Whoever decides by something that lasts, drives outcomes and is not logged leaves this trace:
    sum_t (1{a_t = a} - mu(a | s_t)) h_t is far from 0, h_t the surprises so far in the episode, less what time and
    state tell of them. A cause that does not last, as in logs of one step, leaves none.
    """
    data, odds = case.data, case.behavior
    later = data.steps > 0
    if odds is None or not later.any():
        return None
    surprise = critic.unexpected(case)
    spread = surprise.std()
    if not spread > 0:
        return None
    surprise = np.clip(surprise / spread, -_LARGEST, _LARGEST)
    episode = np.repeat(np.arange(len(data)), data.lengths)
    total = np.cumsum(surprise)
    before = (total - surprise) - (total - surprise)[data.starts][episode]
    history = np.zeros(len(surprise))
    history[later] = before[later] / np.sqrt(data.steps[later])
    history[later] -= _told(case, later, history[later])
    off = np.eye(odds.shape[1])[data.actions.codes] - odds
    found = []
    for action, label in enumerate(data.actions.labels):
        sums = np.bincount(episode, off[:, action] * history, len(data))
        size = float(np.sqrt((sums**2).sum()))
        both = float(np.sqrt((off[later, action] ** 2).sum() * (history[later] ** 2).sum()))
        if size > 0 and both > 0:
            errors, product = float(sums.sum()) / size, float(sums.sum()) / both
            found.append(HiddenCause(str(label), errors, product))
    return max(found, key=lambda each: abs(each.standard_errors), default=None)


def _told(case: Case, rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What time and state tell of y, by least squares on columns and their squares."""
    data = case.data
    states = data.observations[rows]
    scaled = (states - states.mean(axis=0)) / np.maximum(states.std(axis=0), np.finfo(float).tiny ** 0.5)
    features = np.column_stack([np.ones(len(y)), data.steps[rows], scaled, scaled**2])
    return features @ np.linalg.lstsq(features, y, rcond=1e-10)[0]
