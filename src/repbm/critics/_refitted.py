"""A critic fitted again to resampled logs: how its values vary with the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from repbm.core import resampled_counts, stream
from repbm.critics._fit import CriticSpec, fit_critic
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
) -> Refits:
    """Values of the logged individuals by critics fitted to `count` logs of episodes drawn with replacement.

    The kind of model stays the one in `scores`, chosen on the log itself. Each fit is without folds.
    """
    n = len(case.data)
    counts = resampled_counts(stream(seed, "refits"), n, count)
    states = case.data.initial_observations
    values = np.empty((count, n))
    single = replace(spec, folds=1)
    for k, drawn in enumerate(counts):
        progress(k)
        resampled = case.take(np.repeat(np.arange(n), drawn))
        values[k] = fit_critic(resampled, single, seed, scores=scores).critic.values_of(case, states).values
    return Refits(values, counts)
