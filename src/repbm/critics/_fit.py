"""The one way to fit a critic, whoever asks: evaluations, the doctor, experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from repbm.core import SHORT_LOG, InputError, Thresholds, one_thread, side_by_side, stream
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._kinds import Announce, CriticKind, ModelCriticKind, Request, taught
from repbm.critics._parts import BesideOthers, Part
from repbm.engines import Engine, InProcess, Note, all_values
from repbm.estimators import Case, Critic
from repbm.models import AutoFit, Comparison, Model, ModelFit


@dataclass(frozen=True)
class CriticSpec:
    """What is fitted, and how: the kind of critic, the way to fit models, and in how many folds.

    With `folds` of 2 or more each fold of the episodes is judged by a critic fitted to the others (cross-fitting).
    """

    kind: CriticKind
    fit: ModelFit = field(default_factory=AutoFit)
    folds: int = 1
    thresholds: Thresholds = field(default_factory=Thresholds)


@dataclass(frozen=True, eq=False)
class FittedCritic:
    """A critic, the models behind it, that of the whole log first, and how its kind of model was chosen."""

    critic: Critic
    models: tuple[Model, ...] = ()
    scores: Comparison | None = None
    told: str = ""
    """In words, which steps fitted the model where a sample has only chosen its form."""

    @property
    def model(self) -> Model | None:
        """That of the whole log."""
        return self.models[0] if self.models else None


def fit_critic(
    case: Case,
    spec: CriticSpec,
    seed: int = 0,
    *,
    scores: Comparison | None = None,
    announce: Announce = lambda what: None,
    engine: Engine | None = None,
) -> FittedCritic:
    """The critic fitted to the log of the case, for its policy.

    `scores` is the choice of a kind of model that another critic of the same log, or of the log that this one was drawn
    from, has already made.
    """
    return fit_critics([(case, spec)], seed, scores=scores, announce=announce, engine=engine)[0]


def fit_critics(
    wanted: Sequence[tuple[Case, CriticSpec]],
    seed: int = 0,
    *,
    scores: Comparison | None = None,
    announce: Announce = lambda what: None,
    engine: Engine | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> list[FittedCritic]:
    """Several critics of one log, each as `fit_critic` would fit it; all that is independent is done by the engine.

    `meanwhile` is done here, too, where threads fit something while others are fitted here.
    """
    for case, spec in wanted:
        if spec.kind.uses_model and scores is None:
            scores = choose_kind(case, spec, seed, announce, engine)
    requests = [Request(spec.fit, scores, seed, announce, spec.thresholds) for _, spec in wanted]
    pieces = [
        piece
        for number, ((case, spec), request) in enumerate(zip(wanted, requests, strict=True))
        for piece in _pieces(number, case, spec, request)
    ]
    with one_thread():
        shared = tuple(wanted), seed, scores
        results = _results(pieces, shared, engine or InProcess(), announce, meanwhile)
        given = list(zip(pieces, results, strict=True))
        return [
            _joined(case, spec, request, [(piece, result) for piece, result in given if piece.critic == number])
            for number, ((case, spec), request) in enumerate(zip(wanted, requests, strict=True))
        ]


@dataclass(frozen=True)
class _Piece:
    """What is fitted independently: a part of a critic, or the whole critic of a fold."""

    critic: int
    part: int
    in_fold: bool = False
    beside: bool = False
    """Whether it may be done in a thread, beside others."""


def _pieces(number: int, case: Case, spec: CriticSpec, request: Request) -> list[_Piece]:
    parts = spec.kind.parts(case, request)
    folds = 0 if spec.folds == 1 or spec.kind.in_folds else len(np.unique(_folds(case, spec, request.seed)))
    whole = [_Piece(number, k, beside=isinstance(part, BesideOthers)) for k, part in enumerate(parts)]
    return [*whole, *(_Piece(number, k, in_fold=True) for k in range(folds))]


def _results(
    pieces: Sequence[_Piece], shared: _Shared, engine: Engine, announce: Announce, meanwhile: Callable[[], object]
) -> list[Any]:
    """What the pieces give, in order. Here, some are done side by side; of a short log all others meanwhile."""
    beside = [piece for piece in pieces if piece.beside and isinstance(engine, InProcess)]
    others = [piece for piece in pieces if piece not in beside]
    found: dict[_Piece, Any] = {}

    def rest() -> None:
        done = all_values(engine.map(_Work, others, shared=shared, note=announce)) if others else ()
        found.update(zip(others, done, strict=True))
        meanwhile()

    work = _Work(shared)
    short = all(len(case.data.rewards) <= SHORT_LOG for case, _ in shared[0])
    tasks = (work.begun(piece, announce) for piece in beside)
    found.update(zip(beside, side_by_side(tasks, rest if short else None), strict=True))
    if not short:
        rest()
    return [found[piece] for piece in pieces]


_Shared = tuple[Sequence[tuple[Case, CriticSpec]], int, Comparison | None]


class _Work:
    """Does pieces; the parts of a critic are found when the first of them is done."""

    def __init__(self, shared: _Shared) -> None:
        self._wanted, self._seed, self._scores = shared
        self._parts: dict[int, Sequence[Part]] = {}

    def __call__(self, piece: _Piece, note: Note) -> Any:
        case, spec = self._wanted[piece.critic]
        with _overflowing():
            if not piece.in_fold:
                return self._part(piece, note)()
            others = np.flatnonzero(_folds(case, spec, self._seed) != piece.part)
            return fit_critic(case.take(others), replace(spec, folds=1), self._seed, announce=note)

    def begun(self, piece: _Piece, note: Note) -> Part:
        """What is left of a piece once it is begun: for another thread."""
        with _overflowing():
            part = self._part(piece, note)
            assert isinstance(part, BesideOthers)
            rest = part.begin()
        return _overflowing()(rest)

    def _part(self, piece: _Piece, note: Note) -> Part:
        if piece.critic not in self._parts:
            case, spec = self._wanted[piece.critic]
            request = Request(spec.fit, self._scores, self._seed, note, spec.thresholds)
            self._parts[piece.critic] = spec.kind.parts(case, request)
        return self._parts[piece.critic][piece.part]


def _overflowing() -> np.errstate:
    """What exceeds floating point is told by what it leads to."""
    return np.errstate(over="ignore", invalid="ignore")


def _joined(case: Case, spec: CriticSpec, request: Request, given: Sequence[tuple[_Piece, Any]]) -> FittedCritic:
    results = [result for piece, result in given if not piece.in_fold]
    parts: list[FittedCritic] = [result for piece, result in given if piece.in_fold]
    critic, model = spec.kind.joined(case, request, results)
    models = () if model is None else (model,)
    if not parts:
        return FittedCritic(critic, models, request.choice)
    others = tuple(part.model for part in parts if part.model is not None)
    folds = _folds(case, spec, request.seed)
    whole = CrossFittedCritic(tuple(part.critic for part in parts), folds, critic.name)
    return FittedCritic(whole, (*models, *others), request.choice)


def fit_model_critics(
    case: Case,
    kinds: Sequence[ModelCriticKind],
    fit: ModelFit,
    seed: int = 0,
    announce: Announce = lambda what: None,
    thresholds: Thresholds = Thresholds(),  # noqa: B008 - frozen
) -> list[FittedCritic]:
    """Several models of one log in one call, each as `fit_critic` would fit it: networks are then trained together."""
    case = taught(case, thresholds)
    scores = choose_kind(case, CriticSpec(kinds[0], fit, thresholds=thresholds), seed, announce)
    request = Request(fit, scores, seed, announce, thresholds)
    if any(kind.objective.strength_is_chosen for kind in kinds) and fit.chooses_strength:
        return [fit_critic(case, CriticSpec(kind, fit, thresholds=thresholds), seed, scores=scores) for kind in kinds]
    support = case.support if any(kind.for_policy for kind in kinds) else None
    objectives = [kind.objective for kind in kinds]
    with one_thread():
        models = fit.models(case.data, support, objectives, case.most_steps, seed, scores, request.training)
    pairs = zip(kinds, models, strict=True)
    return [FittedCritic(kind.critic(model, case, request), (model,), scores) for kind, model in pairs]


def choose_kind(
    case: Case, spec: CriticSpec, seed: int, announce: Announce, engine: Engine | None = None
) -> Comparison:
    """The kind of model that suits the log: what its critics may be given as `scores`."""

    def comparing(loss: float, done: int, total: int) -> None:
        announce(f"comparing a network, loss {loss:.3g}, epoch {done} of {total}")

    announce("choosing a kind of model")
    case = taught(case, spec.thresholds)
    with one_thread():
        return spec.fit.choose(case.data, case.most_steps, seed, comparing, engine)


def _folds(case: Case, spec: CriticSpec, seed: int) -> Int[np.ndarray, " episodes"]:
    """The fold of every episode."""
    n = len(case.data)
    if spec.folds > n:
        raise InputError(f"{spec.folds} folds of {n} episodes", fix="use fewer folds")
    return stream(seed, "folds").permutation(n) % spec.folds
