"""Objectives by their names in tables: am, repbm, repbm(alpha=0.1), repbm(alpha=0.1, scale-free radial)."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from repbm.core import InputError
from repbm.models import AM, AM_PI, BOTH_RISKS, IPM, LinearMMD, Objective, RadialMMD, Wasserstein

PAPER: dict[str, Objective] = {objective.name: objective for objective in (BOTH_RISKS, AM, AM_PI)}
"""Objectives whose alpha and distance are those of the preset."""

_DISTANCES: dict[str, IPM] = {
    "linear": LinearMMD(),
    "radial": RadialMMD(),
    # On batches of 64, more iterations turn the gradient by less than half a degree.
    "wasserstein": Wasserstein(iterations=10),
}
_NAME = re.compile(r"repbm\(alpha=([^,]+)(?:, (scale-free )?(linear|radial|wasserstein))?\)")


def alpha_of(name: str) -> float | None:
    """The alpha that a name like repbm(alpha=0.1) gives; None for other names."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    try:
        alpha = float(found[1])
    except ValueError:
        return None
    return alpha if 0 <= alpha < math.inf else None


def named_objective(name: str) -> Objective | None:
    """The objective of a name; None where it is no such name.

    Without more words, the distance of repbm(alpha=...) is the published one, the squared linear discrepancy of the
    representation as it is.
    """
    alpha, found = alpha_of(name), _NAME.fullmatch(name)
    if alpha is None or found is None:
        return PAPER.get(name)
    distance = replace(_DISTANCES[found[3] or "linear"], scale_free=bool(found[2]))
    return Objective(name, BOTH_RISKS.behavior, BOTH_RISKS.target, alpha, distance)


def checked_objective(name: str, where: str) -> Objective:
    """The objective of a name, or an error that says how names are written."""
    objective = named_objective(name)
    if objective is None:
        raise InputError(
            f"there is no objective '{name}'",
            where=where,
            fix=f"use {', '.join(PAPER)}, repbm(alpha=0.1) or repbm(alpha=0.1, scale-free radial); also linear and "
            "wasserstein",
        )
    return objective
