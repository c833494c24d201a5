"""Traces of a hidden cause: decisions that go with what was unexpected before them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import chdtrc, ndtri

from repbm.estimators import Case, MarginalCritic

_SINGULAR = 1e-9
"""Directions with a smaller share of the largest variance do not vary: what is decided adds up to 1."""
_LARGEST = 5.0
"""Surprises count up to so many standard deviations: a few must not decide."""


@dataclass(frozen=True)
class HiddenCause:
    """How decisions go with earlier surprises, given the state."""

    action: str
    """The one that goes with them most,"""
    correlation: float
    """and how much."""
    standard_errors: float
    """How far all actions together are from not going with them: as far as so many standard errors of one number."""


def hidden_cause(case: Case, critic: MarginalCritic) -> HiddenCause | None:
    """How decisions go with earlier surprises; None where nothing is earlier, or no probabilities are known.

    If the state holds all that matters, what was unexpected before a step tells nothing of the decision there, beyond
    the state. Whoever decides by something that lasts, drives outcomes and is not logged leaves this trace:
    x_a = sum_t (1{a_t = a} - mu(a | s_t)) h_t is far from 0, h_t the surprises so far in the episode, less what time
    and state tell of them. All actions are judged at once, by the sum over episodes of (x_a), whose squared length in
    its own covariance is that of a chi-squared number: of many actions one is always far off. A cause that does not
    last, as in logs of one step, leaves no trace. That *later* surprises go with decisions would be none: decisions
    may have effects that come late.
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
    terms = np.stack([np.bincount(episode, each * history, len(data)) for each in off.T], axis=1)
    sums, sizes = terms.sum(axis=0), np.sqrt((terms**2).sum(axis=0))
    if not (sizes > 0).any():
        return None
    most = int(np.argmax(np.abs(sums) / np.where(sizes > 0, sizes, np.inf)))
    both = np.sqrt((off[later, most] ** 2).sum() * (history[later] ** 2).sum())
    return HiddenCause(str(data.actions.labels[most]), float(sums[most] / both), _standard_errors(terms))


def _standard_errors(terms: Float[np.ndarray, "episodes actions"]) -> float:
    """Of the sum of independent vectors from 0: the normal number that is as improbable as its chi-squared length."""
    sizes, directions = np.linalg.eigh(terms.T @ terms)
    kept = sizes > _SINGULAR * sizes.max()
    length = ((directions[:, kept].T @ terms.sum(axis=0)) ** 2 / sizes[kept]).sum()
    return float(-ndtri(chdtrc(kept.sum(), length) / 2))


def _told(case: Case, rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What time and state tell of y, by least squares on columns and their squares."""
    data = case.data
    states = data.observations[rows]
    scaled = (states - states.mean(axis=0)) / np.maximum(states.std(axis=0), np.finfo(float).tiny ** 0.5)
    features = np.column_stack([np.ones(len(y)), data.steps[rows], scaled, scaled**2])
    return features @ np.linalg.lstsq(features, y, rcond=1e-10)[0]
