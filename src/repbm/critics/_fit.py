"""The one way to fit a critic, whoever asks: evaluations, the doctor, experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from threadpoolctl import threadpool_limits

from repbm.core import InputError, Thresholds, stream
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._kinds import Announce, CriticKind, ModelCriticKind, Request, taught
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
) -> FittedCritic:
    """The critic fitted to the log of the case, for its policy.

    `scores` is the choice of a kind of model that another critic of the same log, or of the log that this one was drawn
    from, has already made.
    """
    if spec.kind.uses_model and scores is None:
        scores = _chosen(case, spec, seed, announce)
    request = Request(spec.fit, scores, seed, announce, spec.thresholds)
    with _one_thread():
        critic, model = spec.kind.fit(case, request)
    models = () if model is None else (model,)
    if spec.folds == 1 or spec.kind.in_folds:
        return FittedCritic(critic, models, scores)
    parts, folds = _cross_fitted(case, spec, seed, announce)
    others = tuple(part.model for part in parts if part.model is not None)
    whole = CrossFittedCritic(tuple(part.critic for part in parts), folds, critic.name)
    return FittedCritic(whole, (*models, *others), scores)


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
    scores = _chosen(case, CriticSpec(kinds[0], fit, thresholds=thresholds), seed, announce)
    request = Request(fit, scores, seed, announce, thresholds)
    support = case.support if any(kind.for_policy for kind in kinds) else None
    objectives = [kind.objective for kind in kinds]
    with _one_thread():
        models = fit.models(case.data, support, objectives, case.most_steps, seed, scores, request.training)
    pairs = zip(kinds, models, strict=True)
    return [FittedCritic(kind.critic(model, request), (model,), scores) for kind, model in pairs]


def _chosen(case: Case, spec: CriticSpec, seed: int, announce: Announce) -> Comparison:
    def comparing(loss: float, done: int, total: int) -> None:
        announce(f"comparing a network, loss {loss:.3g}, epoch {done} of {total}")

    announce("choosing a kind of model")
    case = taught(case, spec.thresholds)
    with _one_thread():
        return spec.fit.choose(case.data, case.most_steps, seed, comparing)


def _one_thread() -> threadpool_limits:
    """Linear algebra in one thread: sums that several add up differ in the last digits with their number, and a fit may
    carry that far. So a critic is the same on any machine and in any process."""
    return threadpool_limits(1, user_api="blas")


def _cross_fitted(case: Case, spec: CriticSpec, seed: int, announce: Announce) -> tuple[list[FittedCritic], np.ndarray]:
    """A critic a fold, fitted to the other folds, and the fold of every episode."""
    n = len(case.data)
    if spec.folds > n:
        raise InputError(f"{spec.folds} folds of {n} episodes", fix="use fewer folds")
    folds = stream(seed, "folds").permutation(n) % spec.folds
    once = replace(spec, folds=1)
    others = (case.take(np.flatnonzero(folds != k)) for k in range(spec.folds))
    return [fit_critic(part, once, seed, announce=announce) for part in others], folds
