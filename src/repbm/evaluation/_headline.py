"""Among all estimates, the answer; and those that say otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from repbm.core import HeadlineRules
from repbm.doctor import Verdict
from repbm.estimators import EstimatorSpec, Role

_WEIGHTS_FIRST = (Role.CORRECTED, Role.DOUBLY_ROBUST, Role.BLEND, Role.WEIGHTING, Role.MODEL)
_MODELS_FIRST = (Role.CORRECTED, Role.MODEL, Role.DOUBLY_ROBUST, Role.BLEND, Role.WEIGHTING)


class Entry(NamedTuple):
    """An estimator, and its row of the table of estimates."""

    spec: EstimatorSpec
    row: Mapping[str, Any]


def headline(entries: Sequence[Entry], verdict: Verdict) -> int | None:
    """The place of the answer among the entries of one policy; None where none has a value.

    The corrected estimate where there is one. Else, where importance weights hold (see `Verdict`), the doubly robust
    one; else the model's. Where nothing may answer it still stands there, and the verdict says what it is worth.
    Estimates of the softened policy, another one, answer only where there is nothing else.
    """
    roles = _WEIGHTS_FIRST if verdict.weights else _MODELS_FIRST
    known = [k for k, entry in enumerate(entries) if entry.row["value"] is not None]
    return min(known, key=lambda k: _place(entries[k].spec, roles), default=None)


def _place(spec: EstimatorSpec, roles: tuple[Role, ...]) -> tuple[bool, int, int]:
    return spec.softened, roles.index(spec.role), spec.preference


def disagreements(
    entries: Sequence[Entry], answer: int, verdict: Verdict, rules: HeadlineRules, chance: float
) -> list[str]:
    """The estimators that may answer, too, and whose interval, or value, does not go with that of the answer.

    `chance` is the standard error of the mean return of the log: how far apart two values without intervals may be.
    """
    own = entries[answer]
    return [
        entry.spec.name
        for entry in entries
        if entry is not own
        and entry.row["value"] is not None
        and _heard(entry, verdict, rules)
        and not _agree(own.row, entry.row, rules.beyond_chance * chance)
    ]


def _heard(entry: Entry, verdict: Verdict, rules: HeadlineRules) -> bool:
    """Whether an estimate may speak against the answer.

    Models always: where they contradict the answer, a reader should know. Weights where they hold, and, where they do
    not hold to the end, a doubly robust estimate with some effective episodes.
    """
    spec, effective = entry.spec, entry.row["effective_episodes"] or 0.0
    if spec.softened:
        return False
    if spec.role in (Role.MODEL, Role.CORRECTED):
        return True
    enough = effective >= rules.fewest_effective_episodes
    return verdict.weights or (spec.role is Role.DOUBLY_ROBUST and enough)


def _agree(one: Mapping[str, Any], other: Mapping[str, Any], apart: float) -> bool:
    """Whether the interval of either holds the value of the other, or, without intervals, they are not far apart."""
    known = [(a, b) for a, b in ((one, other), (other, one)) if a["low"] is not None]
    if not known:
        return abs(one["value"] - other["value"]) <= apart
    return any(a["low"] <= b["value"] <= a["high"] for a, b in known)
