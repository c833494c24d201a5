"""A critic fitted again to resampled logs: how its values vary with the log."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from repbm.core import InputError, resampled_counts, stream
from repbm.critics._drawn_returns import draw_returns
from repbm.critics._fit import CriticSpec, FittedCritic, fit_critic
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
    single: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    engine: Engine | None = None,
) -> Refits:
    """Values of the logged individuals by critics fitted to `count` logs of episodes drawn with replacement.

    The kind of model stays the one in `scores`, chosen on the log itself. Each fit is without folds. With `single`,
    models also draw what single episodes earn.
    """
    counts = resampled_counts(stream(seed, "refits"), len(case.data), count)
    shared = case, replace(spec, folds=1), seed, scores, counts, single
    found = all_values((engine or InProcess()).map(_begun, range(count), shared=shared, note=progress))
    drawn = [returns for _, returns in found if returns is not None]
    whole = np.stack(drawn) if len(drawn) == count else None
    return Refits(np.stack([values for values, _ in found]), counts, whole)


def _begun(
    shared: tuple[Case, CriticSpec, int, Comparison | None, Int[np.ndarray, "refits episodes"], bool],
) -> Callable[[int, Note], tuple[Float[np.ndarray, " episodes"], Float[np.ndarray, " draws"] | None]]:
    case, spec, seed, scores, counts, single = shared

    def refitted(number: int, note: Note) -> tuple[Float[np.ndarray, " episodes"], Float[np.ndarray, " draws"] | None]:
        note(number)
        with np.errstate(over="ignore", invalid="ignore"):
            resampled = case.take(np.repeat(np.arange(len(case.data)), counts[number]))
            found = fit_critic(resampled, spec, seed, scores=scores)
            values = found.critic.values_of(case, case.data.initial_observations).values
            return values, _single_returns(resampled, found, spec, seed) if single else None

    return refitted


def _single_returns(
    resampled: Case, found: FittedCritic, spec: CriticSpec, seed: int
) -> Float[np.ndarray, " draws"] | None:
    """None where there is no model behind the critic, or none that tells them."""
    if found.model is None:
        return None
    with suppress(InputError):
        drawn = draw_returns(resampled, found.model, found.critic.name, spec.thresholds.distribution, seed)
        return drawn.reshape(-1) if np.isfinite(drawn).all() else None
    return None
