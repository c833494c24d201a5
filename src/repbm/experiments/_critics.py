"""The critics of one run: each fitted once, when a row first needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from repbm.core import FitRules, InputError, RolloutRules, Thresholds
from repbm.critics import CRITICS, CriticKind, CriticSpec, ModelCriticKind, fit_critic, fit_model_critics
from repbm.estimators import ESTIMATORS, Case, Critic, DirectMethod, Estimator
from repbm.experiments._objectives import named_objective
from repbm.experiments._rows import PRECISE, critic_of
from repbm.experiments._spec import Spec
from repbm.models import CLOSED_FORM, OneKindFit, PaperFit

_ONE = Thresholds(rollouts=RolloutRules(steps=1))
"""One rollout a logged step, as in the stored runs."""
UNLIMITED = FitRules(weight_limit=float("inf"))
"""Weights as in the stored runs."""


@dataclass(frozen=True, eq=False)
class Critics:
    """What the estimators of one run lean on."""

    spec: Spec
    case: Case
    seed: int
    _made: dict[tuple[str, float], Critic | InputError] = field(default_factory=dict, repr=False)

    def estimator(self, row: str) -> Estimator:
        """The estimator of a row, with its critic; an InputError where that is not defined."""
        needed, known = critic_of(row), ESTIMATORS.get(row)
        if needed is None:
            assert known is not None
            return known.estimator(None)
        critic = self._critic(*needed)
        return DirectMethod(critic) if known is None else known.estimator(critic)

    def _critic(self, name: str, softening: float) -> Critic:
        key = name, softening
        if key not in self._made:
            try:
                self._made[key] = self._fitted(name, self.case.softened(softening))
            except InputError as fault:
                self._made[key] = fault
        found = self._made[key]
        if isinstance(found, InputError):
            raise found
        return found

    def _fitted(self, name: str, case: Case) -> Critic:
        if named_objective(name) is not None:
            return self._published[name]()
        if name in PRECISE:
            kind: CriticKind = ModelCriticKind(PRECISE[name])
            spec = CriticSpec(kind, OneKindFit((CLOSED_FORM,), rules=UNLIMITED, bounded=False), thresholds=_ONE)
            return fit_critic(case, spec, self.seed).critic
        return fit_critic(case, CriticSpec(CRITICS[name], thresholds=_ONE), self.seed).critic

    @cached_property
    def _published(self) -> dict[str, Callable[[], Critic]]:
        """The models of all rows from one compiled call; one by one where some of them cannot be fitted."""
        used = dict.fromkeys(needed[0] for needed in map(critic_of, self.spec.rows) if needed is not None)
        names = [name for name in used if named_objective(name) is not None]
        try:
            return {name: lambda critic=critic: critic for name, critic in zip(names, self._paper(names), strict=True)}
        except InputError:
            return {name: lambda name=name: self._paper([name])[0] for name in names}

    def _paper(self, names: list[str]) -> list[Critic]:
        objectives = [objective for objective in map(named_objective, names) if objective is not None]
        kinds = [ModelCriticKind(objective) for objective in objectives]
        fitted = fit_model_critics(self.case, kinds, PaperFit(self.spec.paper), self.seed, thresholds=_ONE)
        return [each.critic for each in fitted]
