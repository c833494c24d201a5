"""A critic fitted again to resampled logs: how its values vary with the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from repbm.core import resampled_counts, stream
from repbm.critics._fit import CriticSpec, fit_critic
from repbm.engines import Engine, InProcess, Note, all_values
from repbm.estimators import Case
from repbm.inference import Refits
from repbm.models import Comparison


def refit_critic(
    case: Case,
    spec: CriticSpec,
    count: int,
    seed: int = 0,
    *,
    scores: Comparison | None = None,
    progress: Callable[[int], None] = lambda done: None,
    engine: Engine | None = None,
) -> Refits:
    """Values of the logged individuals by critics fitted to `count` logs of episodes drawn with replacement.

    The kind of model stays the one in `scores`, chosen on the log itself. Each fit is without folds.
    """
    counts = resampled_counts(stream(seed, "refits"), len(case.data), count)
    shared = case, replace(spec, folds=1), seed, scores, counts
    values = all_values((engine or InProcess()).map(_begun, range(count), shared=shared, note=progress))
    return Refits(np.stack(values), counts)


def _begun(
    shared: tuple[Case, CriticSpec, int, Comparison | None, Int[np.ndarray, "refits episodes"]],
) -> Callable[[int, Note], Float[np.ndarray, " episodes"]]:
    case, spec, seed, scores, counts = shared

    def refitted(number: int, note: Note) -> Float[np.ndarray, " episodes"]:
        note(number)
        with np.errstate(over="ignore", invalid="ignore"):
            resampled = case.take(np.repeat(np.arange(len(case.data)), counts[number]))
            critic = fit_critic(resampled, spec, seed, scores=scores).critic
            return critic.values_of(case, case.data.initial_observations).values

    return refitted
