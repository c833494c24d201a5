"""Which kind of dynamics fits a log: candidates compared on held-out episodes, from the log alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from repbm.core import InputError, stream
from repbm.data import Trajectories
from repbm.models._model import KernelDynamics, Model, PolynomialDynamics
from repbm.models.dynamics._closed_form import fit_closed_form
from repbm.models.dynamics._network_fit import fit_network
from repbm.models.dynamics._state_changes import by_kernels, by_polynomials
from repbm.models.objectives._objective import AM
from repbm.models.training._loop import Progress
from repbm.models.training._networks import NetworkDynamics

_AHEAD = 10
_MOST_WINDOWS = 4096
_NEARLY_EXACT = 0.05
"""With a held-out error below this share of the movement itself no other candidate is tried."""


Fit = Callable[..., Model]
"""(data, support, objective, horizon, seed, progress=...) to a model."""

# In closed form there is no progress to tell.
CANDIDATES: Mapping[str, Fit] = {
    "polynomial": lambda *given, progress: fit_closed_form(*given, kinds=(by_polynomials,)),
    "kernel": lambda *given, progress: fit_closed_form(*given, kinds=(by_kernels,)),
    "network": fit_network,
}
"""Every kind of dynamics."""

_TRIED: tuple[Fit, ...] = (lambda *given, progress: fit_closed_form(*given), fit_network)
"""In this order: the better of the kinds in closed form, which are the cheapest, first."""

_KINDS = {PolynomialDynamics: "polynomial", KernelDynamics: "kernel", NetworkDynamics: "network"}


@dataclass(frozen=True)
class Score:
    """Held-out errors of one candidate, as shares of the movement of the state: one step and several steps ahead."""

    dynamics: str
    one_step: float
    several_steps: float


@dataclass(frozen=True)
class Comparison:
    """The candidates that were tried, and the one with the smallest error several steps ahead."""

    scores: tuple[Score, ...]

    @property
    def best(self) -> Score:
        return min(self.scores, key=lambda score: score.several_steps)

    @property
    def chosen(self) -> str:
        return self.best.dynamics


def compare(data: Trajectories, horizon: int, seed: int = 0, progress: Progress | None = None) -> Comparison:
    """Fit the candidates to nine tenths of the episodes and look how far they go wrong on the rest.

    Errors are those of the behavior model along the logged actions. A log too short to be split has one candidate.
    """
    if len(data) < 10:
        return Comparison((Score("polynomial", float("nan"), float("nan")),))
    fitted, kept = data.split(0.9, stream(seed, "compare"))
    scores: list[Score] = []
    for fit in _TRIED:
        try:
            model = fit(fitted, None, AM, horizon, seed, progress=progress)
        except InputError:
            # A candidate that cannot be fitted to this log (one that diverged, say) is none; the first always can.
            if not scores:
                raise
            continue
        kind = _KINDS[type(model.dynamics)]
        scores.append(Score(kind, path_error(model, kept, 1), path_error(model, kept, _AHEAD)))
        if not scores[-1].several_steps > _NEARLY_EXACT:
            break
    return Comparison(tuple(scores))


def path_error(model: Model, data: Trajectories, ahead: int) -> float:
    """How far the expected state `ahead` steps on, along the logged actions, misses the logged one.

    The root mean square over dimensions and starting points, each dimension in units of how much it really moves; NaN
    where no episode is that long.
    """
    # Only windows whose last state is an observation of the same episode: no final states are needed.
    starts = np.flatnonzero(np.repeat(data.lengths, data.lengths) - data.steps > ahead)
    if not len(starts):
        return float("nan") if ahead == 1 else path_error(model, data, max(1, ahead // 2))
    starts = starts[np.linspace(0, len(starts) - 1, min(len(starts), _MOST_WINDOWS)).astype(int)]
    actions = data.actions.codes[starts[:, None] + np.arange(ahead)].astype(np.int32)
    begin, end = (data.observations[at].astype(np.float64) for at in (starts, starts + ahead))
    with jax.enable_x64(True):
        reached = np.asarray(_followed(model, jnp.asarray(begin), jnp.asarray(actions)))
    moved = np.sqrt(((end - begin) ** 2).mean(axis=0))
    missed = np.sqrt(((reached - end) ** 2).mean(axis=0))
    shares = missed[moved > 0] / moved[moved > 0]
    return float(np.sqrt((shares**2).mean())) if len(shares) else 0.0


@eqx.filter_jit
def _followed(
    model: Model, states: Float[Array, "batch dimensions"], actions: Int[Array, "batch ahead"]
) -> Float[Array, "batch dimensions"]:
    rows = jnp.arange(states.shape[0])

    def step(now: Array, action: Array) -> tuple[Array, None]:
        return model.saturation(model.dynamics(now)[rows, action]), None

    return jax.lax.scan(step, states, actions.T)[0]
