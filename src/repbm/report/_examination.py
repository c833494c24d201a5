"""What the doctor found, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repbm.doctor import Examination


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
        yield f"{finding.weight.upper()} {finding.line}"
    if not found.findings:
        yield "nothing to complain about"


def _some(words: tuple[str, ...], most: int = 12) -> str:
    return f"{', '.join(words[:most])}{f' ... ({len(words)})' if len(words) > most else ''}"
