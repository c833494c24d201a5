"""Whether an experiment shows estimators as they should be, or as they were published."""

from __future__ import annotations

from enum import StrEnum


class Fidelity(StrEnum):
    """Whether the estimators are right, or have the mistakes behind the published figures."""

    CORRECTED = "corrected"
    AS_PUBLISHED = "as-published"
