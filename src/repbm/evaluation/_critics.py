"""The critics of one evaluation, each fitted once, when an estimator first needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from repbm.core import SHORT_LOG, InputError
from repbm.engines import Engine
from repbm.estimators import Case, EstimatorSpec, MarginalCritic, Role
from repbm.evaluation._options import Question
from repbm.evaluation._shared import SharedCritics

if TYPE_CHECKING:
    from repbm.critics import CriticKind, CriticSpec, FittedCritic, WholeModel
    from repbm.inference import Refits
    from repbm.models import Comparison, FitSums, Model


class Critics:
    """Fits critics for the cases of one log; what was chosen from that log is chosen once."""

    def __init__(
        self, question: Question, announce: Callable[[str], None], engine: Engine, shared: SharedCritics
    ) -> None:
        self.question, self.announce, self.engine, self.shared = question, announce, engine, shared
        self.scores: Comparison | None = None
        self._fitted: dict[tuple[str, Case | None], FittedCritic] = {}
        self._refits: dict[tuple[str, Case], Refits] = {}

    def fitted(self, kind: CriticKind, case: Case) -> FittedCritic:
        """The critic of this kind; one that does not depend on the policy serves all cases of the log."""
        key = self._key(kind, case)
        if key not in self._fitted:
            self._fit({key: (kind, case)})
        return self._fitted[key]

    def prepare(self, wanted: Iterable[tuple[EstimatorSpec, Case]]) -> None:
        """Fit at once what these need, where several tasks are done side by side; else each waits until it is asked.

        Then the kind of model alone is chosen, if any needs it: the critic behind the answer asks, too, how closely
        models tell held-out states, and would find it out by itself.
        """
        missing = self._missing(wanted)
        if self.engine.workers != 1:
            self._fit(missing)
        elif self.shared.scores is None:
            self._choose(missing.values())

    def together(
        self, specs: Iterable[EstimatorSpec], case: Case, meanwhile: Callable[[], object] = lambda: None
    ) -> None:
        """Fit what these still need for a case in one go, where the log is short: threads then share more of it, and
        `meanwhile` is done, too.

        Of a longer one critics follow each other: they take memory, and who waits is told how far it is.
        """
        missing = self._missing((spec, case) for spec in specs)
        if missing and len(case.data.rewards) <= SHORT_LOG:
            self._fit(missing, meanwhile)

    def _missing(
        self, wanted: Iterable[tuple[EstimatorSpec, Case]]
    ) -> dict[tuple[str, Case | None], tuple[CriticKind, Case]]:
        """What these need that is not fitted yet; a case that cannot be answered is refused."""
        missing = {}
        for spec, case in wanted:
            if spec.critic is not None:
                kind, asked = critic_kind(spec.critic), case.softened(spec.critic_softening)
                kind.check(case)
                missing.setdefault(self._key(kind, asked), (kind, asked))
        return {key: found for key, found in missing.items() if key not in self._fitted}

    def _choose(self, wanted: Iterable[tuple[CriticKind, Case]]) -> None:
        from repbm.critics import choose_kind

        found = next(((kind, case) for kind, case in wanted if kind.uses_model), None)
        if found is not None:
            kind, case = found
            given = case, self._spec(kind), self.question.seed, self.announce, self.engine
            self.scores = self.shared.scores = choose_kind(*given)

    def _fit(
        self,
        missing: Mapping[tuple[str, Case | None], tuple[CriticKind, Case]],
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        from repbm.critics import fit_critics

        known = {key: self.shared.fitted[key[0]] for key in missing if key[1] is None and key[0] in self.shared.fitted}
        missing = {key: wanted for key, wanted in missing.items() if key not in known}
        wanted = [(case, self._spec(kind)) for kind, case in missing.values()]
        scores = self.shared.scores if any(spec.kind.uses_model for _, spec in wanted) else self.scores
        given = {"scores": scores, "announce": self.announce, "engine": self.engine, "meanwhile": meanwhile}
        fitted = dict(zip(missing, fit_critics(wanted, self.question.seed, **given), strict=True))
        for key, found in (known | fitted).items():
            if found.scores is not None:
                self.scores = self.shared.scores = self.shared.scores or found.scores
            self._fitted[key] = found
            if key[1] is None:
                self.shared.fitted[key[0]] = found

    def _key(self, kind: CriticKind, case: Case) -> tuple[str, Case | None]:
        shared = not kind.for_policy and self.question.fitting.folds == 1
        return kind.name, None if shared else case

    def for_estimator(self, spec: EstimatorSpec, case: Case) -> FittedCritic | None:
        """The critic that an estimator leans on, for the policy that it evaluates; None where it needs none."""
        if spec.critic is None:
            return None
        kind = critic_kind(spec.critic)
        kind.check(case)
        return self.fitted(kind, case.softened(spec.critic_softening))

    def for_all_steps(self, specs: Iterable[EstimatorSpec], case: Case) -> dict[str, WholeModel]:
        """How the models behind these estimators are fitted to more episodes than this log has, by the names of their
        critics; of one that no policy changes once."""
        leaning = [spec for spec in specs if spec.critic is not None and not spec.critic_softening]
        if not leaning:
            return {}  # what loads critics takes as long as weighing ten million steps
        from repbm.critics import ModelCriticKind, WholeModel

        found = {}
        for spec in leaning:
            kind = critic_kind(spec.critic)
            if not isinstance(kind, ModelCriticKind):
                continue
            fitted = self.for_estimator(spec, case)
            whole = None
            if fitted is not None and not fitted.told:
                whole = WholeModel.of(fitted, case, self.question.thresholds)
            if whole is not None:
                found[kind.name] = whole
        return found

    def complete(self, name: str, case: Case, whole: WholeModel, sums: FitSums, steps: int) -> None:
        """Let the model behind this critic be that of all steps in the sums, of so many in the log."""
        key = next(key for key in ((name, case), (name, None)) if key in self._fitted)
        found = whole.completed(self._fitted[key], sums, steps)
        if found is not None:
            self._fitted[key] = found
            if key[1] is None:
                self.shared.fitted[name] = found

    def refitted(self, spec: EstimatorSpec, case: Case, progress: Callable[[int], None]) -> Refits:
        from repbm.critics import refit_critic

        kind, count = critic_kind(spec.critic), self.question.fitting.refits
        single = self.question.details and kind.uses_model
        given = {"scores": self.scores, "single": single, "progress": progress, "engine": self.engine}
        found = refit_critic(case, self._spec(kind), count, self.question.seed, **given)
        self._refits[kind.name, case] = found
        return found

    def models(self, case: Case) -> dict[str, Model]:
        """The models fitted for this case so far, by the name of their critic."""
        return {
            name: fitted.model
            for (name, own), fitted in self._fitted.items()
            if own in (None, case) and fitted.model is not None
        }

    def behavior_model(self, case: Case) -> Model:
        """The model of the log alone: where verdicts look how far a policy leads."""
        from repbm.critics import ModelCriticKind
        from repbm.models import AM

        model = self.fitted(ModelCriticKind(AM), case).model
        assert model is not None
        return model

    def earned(self, specs: Iterable[EstimatorSpec], case: Case) -> Float[np.ndarray, " episodes"]:
        """What episodes earned: of those that the log lost sight of, with what the critic behind the answer expects."""
        if not case.whole.all():
            for spec in specs:
                fitted = self.for_estimator(spec, case) if spec.role is Role.CORRECTED else None
                if fitted is not None and isinstance(fitted.critic, MarginalCritic):
                    return fitted.critic.earned(case)
        return case.returns

    def answering(self, case: Case) -> MarginalCritic | None:
        """The critic behind the answer, where an estimator has needed it."""
        from repbm.critics import Marginal

        found = self._fitted.get((Marginal().name, case))
        return found.critic if found is not None and isinstance(found.critic, MarginalCritic) else None

    def policy_model(self, case: Case) -> Model | None:
        """A model that was fitted for the policy itself, the first of them."""
        found = (fitted for (_, own), fitted in self._fitted.items() if own is case and fitted.model is not None)
        return next((fitted.model for fitted in found), None)

    def telling_model(self, case: Case) -> tuple[str, Model, Refits | None] | None:
        """A model to follow the policy in, one that was fitted for it first, with its name and what refits of it gave;
        None where none was fitted."""
        known = [(key, fitted.model) for key, fitted in self._fitted.items() if key[1] in (None, case)]
        for (name, _), model in sorted(known, key=lambda each: each[0][1] is None):
            if model is not None:
                return name, model, self._refits.get((name, case))
        return None

    def _spec(self, kind: CriticKind) -> CriticSpec:
        from repbm.critics import CriticSpec

        fitting, rules = self.question.fitting, self.question.thresholds
        return CriticSpec(kind, fitting.model_fit(rules), fitting.folds, rules)


def critic_kind(given: Any) -> CriticKind:
    """The kind of critic of this name, or the one given."""
    from repbm.critics import CRITICS, CriticKind

    if isinstance(given, CriticKind):
        return given
    if given not in CRITICS:
        raise InputError(f"there is no critic '{given}'", fix=f"use one of {', '.join(CRITICS)}")
    return CRITICS[given]
