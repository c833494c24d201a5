"""What a row of the table of estimates says beside its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repbm.core import Thresholds, say
from repbm.data import spread_episodes
from repbm.estimators import Case, CorrectedSums, Estimate, EstimatorSpec, Role
from repbm.evaluation._critics import critic_kind
from repbm.evaluation._rows import uniform
from repbm.inference import Interval, behavior_sensitivity
from repbm.policies import LearnedBehavior

_BEYOND_USE = 10.0
"""A weight that may change by so many times its size is of no use."""
_ROUNDING = 1e-9
"""Sums of rewards are off by less than this share of them."""


def note_of(
    spec: EstimatorSpec,
    case: Case,
    estimate: Estimate,
    bounds: Interval,
    learned: LearnedBehavior | None,
    possible: tuple[float, float],
    sample: str,
    thresholds: Thresholds,
    fitted: str = "",
) -> str:
    """`sample` is what is to be said of the episodes, if they are not all of the log, `fitted` what the model was
    fitted to, if not to these."""
    notes = [estimate.note, sample, bounds.note, fitted or _taught(spec, case, thresholds)]
    notes.append(_beyond(estimate, possible))
    if estimate.individual is not None and uniform(estimate.individual, case.returns):
        notes.append(say("notes", "uniform"))
    if estimate.value is not None:
        notes.append(learned_note(learned, case.data.longest))
    if bounds.low is not None:
        notes.append(few_effective(estimate, thresholds))
    if spec.role is Role.CORRECTED:
        notes.append(_cut_off(int((~case.whole).sum()), len(case.data)))
    notes.append(_never_shown(case))
    return joined(notes)


def _beyond(estimate: Estimate, possible: tuple[float, float]) -> str:
    low, high = possible
    rounding = _ROUNDING * max(abs(low), abs(high))
    if estimate.value is None or low - rounding <= estimate.value <= high + rounding:
        return ""
    return say("notes", "beyond", value=estimate.value, low=low, high=high)


def _cut_off(count: int, episodes: int) -> str:
    return say("notes", "cut_off", count=count, episodes=episodes) if count else ""


def _never_shown(case: Case) -> str:
    return say("notes", "never_shown", actions=", ".join(map(repr, case.unseen[:3]))) if case.unseen else ""


def few_effective(estimate: Estimate, thresholds: Thresholds) -> str:
    """Nothing where they are enough."""
    few = estimate.effective_episodes < thresholds.support.fewest_effective_episodes
    return say("notes", "few_effective", count=estimate.effective_episodes) if few else ""


def joined(notes: list[str]) -> str:
    return "; ".join(note for note in notes if note)


def corrected_note(
    case: Case,
    estimate: Estimate,
    row: Mapping[str, Any],
    learned: LearnedBehavior | None,
    possible: tuple[float, float],
    sums: CorrectedSums,
    episodes: int,
    thresholds: Thresholds,
) -> str:
    """What the row of an answer says, from so many episodes of a log that was read in parts; the case is the sample
    that teaches it."""
    chosen = spread_episodes(case.data, thresholds.fitted_q.most_steps)
    taught = len(case.data) if chosen is None else len(chosen)
    notes = [
        estimate.note,
        rests_on(sums.episodes, episodes),
        row["note"],
        say("notes", "taught", count=taught, episodes=episodes),
        _beyond(estimate, possible),
        learned_note(learned, sums.longest),
        few_effective(estimate, thresholds) if row["low"] is not None else "",
        _cut_off(sums.cut_off, sums.episodes),
        _never_shown(case),
    ]
    return joined(notes)


def rests_on(count: int, episodes: int) -> str:
    """How many episodes of a log that was read in parts are in a row."""
    if count == episodes:
        return say("notes", "all_episodes", episodes=episodes)
    return say("notes", "some_episodes", count=count, episodes=episodes)


def learned_note(learned: LearnedBehavior | None, steps: int) -> str:
    """Nothing where the log tells how probable its actions were."""
    if learned is None:
        return ""
    reliability = learned.reliability
    found, chance = reliability.relative_error, reliability.chance_error
    error = max(found, chance)
    reach = behavior_sensitivity(error, steps)
    change = say("notes", "change", share=reach) if reach < _BEYOND_USE else say("notes", "change_beyond_use")
    over = say("notes", "over_step") if steps == 1 else say("notes", "over_steps", steps=steps)
    key = "learned" if found >= chance else "learned_unknown"
    return say("notes", key, kind=learned.kind, error=error, over=over, change=change, decisions=reliability.decisions)


def _taught(spec: EstimatorSpec, case: Case, thresholds: Thresholds) -> str:
    """How many episodes teach what is fitted, if not all."""
    kind = None if spec.critic is None else critic_kind(spec.critic)
    if kind is None or not (kind.uses_model or spec.role is Role.CORRECTED):
        return ""
    rules = thresholds.fit if kind.uses_model else thresholds.fitted_q
    chosen = spread_episodes(case.data, rules.most_steps)
    return "" if chosen is None else say("notes", "taught", count=len(chosen), episodes=len(case.data))
