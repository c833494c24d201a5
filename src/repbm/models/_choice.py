"""Which kind of model fits a log: candidates compared on held-out episodes, from the log alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from repbm.core import ChoiceRules, FitRules, InputError, stream
from repbm.data import Trajectories
from repbm.engines import Engine, InProcess, Note, in_order
from repbm.models._errors import path_error
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._kind import DynamicsKind
from repbm.models.objectives._objective import AM
from repbm.models.training._progress import Progress


@dataclass(frozen=True)
class Score:
    """Held-out errors of one candidate, as shares of the movement of the state: one step and several steps ahead."""

    dynamics: str
    one_step: float
    several_steps: float


@dataclass(frozen=True)
class Comparison:
    """The candidates that were tried, and the one with the smallest error several steps ahead.

    `kind` is None where a table needs no dynamics.
    """

    scores: tuple[Score, ...]
    kind: DynamicsKind | None

    @property
    def best(self) -> Score | None:
        return min(self.scores, key=lambda score: score.several_steps, default=None)

    @property
    def chosen(self) -> str:
        return "table" if self.kind is None else self.kind.name

    @property
    def held_out_error(self) -> float | None:
        """How far the chosen kind goes wrong on held-out episodes several steps ahead, where that was measured."""
        return None if self.best is None else self.best.several_steps


def compare(
    data: Trajectories,
    horizon: int,
    kinds: Sequence[DynamicsKind],
    seed: int = 0,
    choice: ChoiceRules = ChoiceRules(),  # noqa: B008 - frozen
    rules: FitRules = FitRules(),  # noqa: B008 - frozen
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Fit the kinds in turn to most of the episodes and look how far they go wrong on the rest.

    Errors are those of the behavior model along the logged actions, which only the dynamics decide. Kinds after one
    that is nearly exact are not tried. A log too short to be split has one candidate.
    """
    if len(data) < choice.fewest_episodes:
        kind = kinds[0].simplest
        return Comparison((Score(kind.name, float("nan"), float("nan")),), kind)
    fitted, kept = data.split(choice.fitted_share, stream(seed, "compare"))
    found: list[tuple[Score, DynamicsKind]] = []
    shared = fitted, kept, horizon, seed, choice, rules
    told = (lambda said: None) if progress is None else (lambda said: progress(*said))
    # Here each kind is tried when it is asked for; side by side, all are, and those after a nearly exact one forgotten.
    with closing(in_order((engine or InProcess()).map(_begun, kinds, shared=shared, note=told))) as candidates:
        for tried in candidates:
            if isinstance(tried.error, InputError) and found:
                # One that cannot be fitted to this log (it diverged, say) is no candidate; the first always can.
                continue
            found.append(tried.result())
            if not found[-1][0].several_steps > choice.nearly_exact:
                break
    _, best = min(found, key=lambda pair: pair[0].several_steps)
    return Comparison(tuple(score for score, _ in found), best)


_Shared = tuple[Trajectories, Trajectories, int, int, ChoiceRules, FitRules]


def _begun(shared: _Shared) -> Callable[[DynamicsKind, Note], tuple[Score, DynamicsKind]]:
    fitted, kept, horizon, seed, choice, rules = shared

    def tried(kind: DynamicsKind, note: Note) -> tuple[Score, DynamicsKind]:
        context = FitContext.of(fitted, None, AM, horizon, seed, rules, lambda *said: note(said))
        dynamics = kind.fit(context)
        narrowed = kind.narrowed(dynamics)
        given, most = (dynamics, context.saturation, kept), choice.most_windows
        one, several = (path_error(*given, ahead, most) for ahead in (1, choice.steps_ahead))
        return Score(narrowed.name, one, several), narrowed

    return tried
