"""What the doctor found, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from repbm.estimators import ESTIMATORS, Role

if TYPE_CHECKING:
    from repbm.doctor import Examination, Verdict


def examination_lines(found: Examination) -> Iterator[str]:
    """What the log is, then the findings, the weightiest first."""
    kept = found.episodes - found.terminated
    yield (
        f"{found.episodes} episodes, {found.steps} steps, the longest {found.longest}; "
        f"{found.terminated} ended by themselves, {kept} were cut off"
    )
    yield f"actions: {_some(found.actions)}"
    yield f"observations: {_some(found.observations)}"
    for finding in found.findings:
        yield f"{finding.severity.upper()} {finding.line}"
    if not found.findings:
        yield "nothing to complain about"
    for name, verdict in found.verdicts.items():
        yield f"{name}: {verdict.sentence}"
        yield f"    may answer: {_admissible(verdict)}"


def _admissible(verdict: Verdict) -> str:
    """Which kinds of estimators may be believed."""
    fitted = verdict.models and verdict.precise
    fine = [_families(Role.CORRECTED), f"models ({_families(Role.MODEL)})"] if fitted else []
    if verdict.weights:
        fine.append(f"weights ({_families(Role.WEIGHTING, Role.DOUBLY_ROBUST, Role.BLEND)})")
    return ", ".join(fine) or ("none precisely enough" if verdict.models else "none for the whole horizon")


def _families(*roles: Role) -> str:
    """The forms of our estimators that have one of these roles."""
    own = (spec for spec in ESTIMATORS.values() if spec.role in roles and not spec.softened)
    return ", ".join(dict.fromkeys(spec.family for spec in own))


def _some(words: tuple[str, ...], most: int = 12) -> str:
    return f"{', '.join(words[:most])}{f' ... ({len(words)})' if len(words) > most else ''}"
