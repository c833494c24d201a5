"""Traces of a hidden cause: decisions that go with what was unexpected, or decided, before them."""

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
    """How decisions and outcomes go with what came before, given the state."""

    action: str
    """The one that goes most with earlier surprises,"""
    correlation: float
    """and how much."""
    standard_errors: float
    """How far all actions together are from not going with them: as far as so many standard errors of one number."""
    lasting: float
    """How decisions correlate with earlier decisions alike,"""
    lasting_errors: float
    """in standard errors,"""
    outcome_errors: float
    """and surprises with earlier surprises."""


def hidden_cause(case: Case, critic: MarginalCritic) -> HiddenCause | None:
    """How decisions go with earlier surprises; None where nothing is earlier, or no probabilities are known.

    If the state holds all that matters, what was unexpected before a step tells nothing of the decision there, beyond
    the state. Whoever decides by something that lasts, drives outcomes and is not logged leaves this trace:
    x_a = sum_t (1{a_t = a} - mu(a | s_t)) h_t is far from 0, h_t the surprises so far in the episode, less what time
    and state tell of them. All actions are judged at once, by the sum over episodes of (x_a), whose squared length in
    its own covariance is that of a chi-squared number: of many actions one is always far off. A cause that does not
    last, as in logs of one step, leaves no trace. That *later* surprises go with decisions would be none: decisions
    may have effects that come late.

    A few episodes do not tell this. They sooner tell its two halves: decisions go with earlier decisions beyond the
    state, and surprises with earlier surprises. Each alone is harmless, a habit, or something unseen that nobody acts
    on. Where both are there nobody knows that they have not the same cause.
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

    def totals(each: np.ndarray) -> np.ndarray:
        return np.bincount(episode, each, len(data))

    history = _before(case, surprise)
    off = np.eye(odds.shape[1])[data.actions.codes] - odds
    terms = np.stack([totals(each * history) for each in off.T], axis=1)
    sums, sizes = terms.sum(axis=0), np.sqrt((terms**2).sum(axis=0))
    if not (sizes > 0).any():
        return None
    most = int(np.argmax(np.abs(sums) / np.where(sizes > 0, sizes, np.inf)))
    alike = [_before(case, each) for each in off.T]
    same = np.sum([totals(each * earlier) for each, earlier in zip(off.T, alike, strict=True)], axis=0)
    return HiddenCause(
        str(data.actions.labels[most]),
        float(sums[most] / _sizes(off[later, most], history)),
        _standard_errors(terms),
        float(same.sum() / max(_sizes(off[later], np.stack(alike)), np.finfo(float).tiny)),
        _of_one(same),
        _of_one(totals(surprise * history)),
    )


def _before(case: Case, each: Float[np.ndarray, " steps"]) -> Float[np.ndarray, " steps"]:
    """What came before a step in its episode, over the root of its number, less what time and state tell of it."""
    data = case.data
    later = data.steps > 0
    total = np.cumsum(each) - each
    result = np.zeros(len(each))
    so_far = total - np.repeat(total[data.starts], data.lengths)
    result[later] = so_far[later] / np.sqrt(data.steps[later])
    result[later] -= _told(case, later, result[later])
    return result


def _sizes(one: np.ndarray, other: np.ndarray) -> float:
    """What a sum of products is divided by to be a correlation."""
    return float(np.sqrt((one**2).sum() * (other**2).sum()))


def _of_one(terms: Float[np.ndarray, " episodes"]) -> float:
    """How far a sum of independent numbers is from 0, in standard errors."""
    return float(terms.sum() / max(np.sqrt((terms**2).sum()), np.finfo(float).tiny))


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
