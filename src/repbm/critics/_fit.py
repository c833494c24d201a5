"""The one way to fit a critic, whoever asks: evaluations, the doctor, experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from repbm.core import InputError, Thresholds, one_thread, stream
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._kinds import Announce, CriticKind, ModelCriticKind, Part, Request, taught
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
) -> list[FittedCritic]:
    """Several critics of one log, each as `fit_critic` would fit it; all that is independent is done by the engine."""
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
        results = all_values((engine or InProcess()).map(_begun, pieces, shared=shared, note=announce))
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


def _pieces(number: int, case: Case, spec: CriticSpec, request: Request) -> list[_Piece]:
    parts = len(spec.kind.parts(case, request))
    folds = 0 if spec.folds == 1 or spec.kind.in_folds else len(np.unique(_folds(case, spec, request.seed)))
    return [*(_Piece(number, k) for k in range(parts)), *(_Piece(number, k, True) for k in range(folds))]


def _begun(
    shared: tuple[Sequence[tuple[Case, CriticSpec]], int, Comparison | None],
) -> Callable[[_Piece, Note], Any]:
    wanted, seed, scores = shared
    parts: dict[int, Sequence[Part]] = {}

    def work(piece: _Piece, note: Note) -> Any:
        case, spec = wanted[piece.critic]
        with np.errstate(over="ignore", invalid="ignore"):
            if not piece.in_fold:
                if piece.critic not in parts:
                    request = Request(spec.fit, scores, seed, note, spec.thresholds)
                    parts[piece.critic] = spec.kind.parts(case, request)
                return parts[piece.critic][piece.part]()
            others = np.flatnonzero(_folds(case, spec, seed) != piece.part)
            return fit_critic(case.take(others), replace(spec, folds=1), seed, announce=note)

    return work


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
