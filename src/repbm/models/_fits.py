"""How models are fitted: everything chosen from the log, one given kind, or as published."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from repbm.core import BalanceRules, ChoiceRules, FitRules, needs_networks
from repbm.data import Support, Trajectories, content_folds, few_states
from repbm.engines import Engine
from repbm.models._candidates import Candidates
from repbm.models._choice import Comparison, compare
from repbm.models._continuous import ContinuousModel
from repbm.models._model import Model
from repbm.models._paper import PaperSettings
from repbm.models._table_candidates import TableCandidates
from repbm.models._tabular import fit_tabular
from repbm.models.dynamics._closed_form import CLOSED_FORM
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._kind import DynamicsKind
from repbm.models.dynamics._network_fit import NetworkKind
from repbm.models.objectives._objective import AM, Objective
from repbm.models.training._progress import Progress

KINDS: tuple[DynamicsKind, ...] = (CLOSED_FORM,)
"""The kinds of dynamics that are compared by default. `AutoFit(kinds=(*KINDS, NETWORK))` compares a network, too: half
a minute of training, which the answer no longer rests on."""


class ModelFit(ABC):
    """A way to fit models. What is chosen from the whole log is chosen once, and serves all models of that log."""

    chooses_strength: bool = False
    """Whether there are `candidates` for objectives that leave the strength of the risk under the policy open."""
    bounded: bool = False
    """Whether no rollout is worth more or less than logged rewards allow."""
    step_dtype: type[np.floating] = np.float64
    """That of the arithmetic of rollouts from logged steps; float32 is enough for a model that was trained in it."""

    @abstractmethod
    def choose(
        self,
        data: Trajectories,
        horizon: int,
        seed: int,
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> Comparison:
        """What kind of model suits the log; candidates are compared by the engine."""

    @abstractmethod
    def models(
        self,
        data: Trajectories,
        support: Support | None,
        objectives: Sequence[Objective],
        horizon: int,
        seed: int,
        choice: Comparison,
        progress: Progress | None = None,
    ) -> list[Model]:
        """One model an objective, each as if it were fitted alone."""

    def candidates(
        self,
        data: Trajectories,
        support: Support,
        objective: Objective,
        horizon: int,
        seed: int,
        choice: Comparison,
        balance: BalanceRules,
        progress: Progress | None = None,
    ) -> Candidates | None:
        """Models among which values on held-out episodes choose how much the risk under the policy counts.

        None where it counts as the objective says.
        """
        return None


@dataclass(frozen=True)
class AutoFit(ModelFit):
    """Everything chosen from the log alone, on held-out episodes: the default.

    A table where states are few; else the first of the `kinds` that is nearly exact, or the one that goes least wrong
    several steps ahead.
    """

    kinds: tuple[DynamicsKind, ...] = KINDS
    choice: ChoiceRules = field(default_factory=ChoiceRules)
    rules: FitRules = field(default_factory=FitRules)
    bounded: bool = True
    chooses_strength = True

    def __post_init__(self) -> None:
        if any(isinstance(kind, NetworkKind) for kind in self.kinds):
            needs_networks()

    def choose(
        self,
        data: Trajectories,
        horizon: int,
        seed: int,
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> Comparison:
        if few_states(data, self.choice):
            return Comparison((), None)
        return compare(data, horizon, self.kinds, seed, self.choice, self.rules, progress, engine)

    def models(
        self,
        data: Trajectories,
        support: Support | None,
        objectives: Sequence[Objective],
        horizon: int,
        seed: int,
        choice: Comparison,
        progress: Progress | None = None,
    ) -> list[Model]:
        if choice.kind is None:
            return [fit_tabular(data, support, objective, horizon, self.rules) for objective in objectives]
        given = choice.kind, horizon, seed, self.rules
        return [
            _behavior_model(data, *given, progress)
            if objective == AM
            else choice.kind.model(FitContext.of(data, support, objective, horizon, seed, self.rules, progress))
            for objective in objectives
        ]

    def candidates(
        self,
        data: Trajectories,
        support: Support,
        objective: Objective,
        horizon: int,
        seed: int,
        choice: Comparison,
        balance: BalanceRules,
        progress: Progress | None = None,
    ) -> Candidates | None:
        if not self.chooses_strength or len(data) < self.choice.fewest_episodes:
            return None
        # Where states are few, equal episodes are no copies of each other.
        folds = content_folds(data, balance.folds, seed, "balance", together=choice.kind is not None)
        if choice.kind is None:
            settled = tuple(objective.with_strength(strength) for strength in (0.0, *balance.strengths))
            return TableCandidates.of(data, support, settled, horizon, folds, self.rules)
        base = _behavior_model(data, choice.kind, horizon, seed, self.rules, progress)
        context = FitContext.of(data, support, objective, horizon, seed, self.rules, progress)
        return choice.kind.candidates(context, base, folds, balance)


_BEHAVIOR_MODELS: WeakKeyDictionary[Trajectories, dict[Any, ContinuousModel]] = WeakKeyDictionary()


def _behavior_model(
    data: Trajectories, kind: DynamicsKind, horizon: int, seed: int, rules: FitRules, progress: Progress | None
) -> ContinuousModel:
    """The model that knows nothing of a policy: fitted once to a log, and for every policy the first candidate."""
    known, asked = _BEHAVIOR_MODELS.setdefault(data, {}), (kind, horizon, seed, rules)
    if asked not in known:
        known[asked] = kind.model(FitContext.of(data, None, AM, horizon, seed, rules, progress))
    return known[asked]


@dataclass(frozen=True)
class OneKindFit(AutoFit):
    """One kind of dynamics, the first of `kinds`, compared with nothing; objectives are taken as they are."""

    chooses_strength = False

    def choose(
        self,
        data: Trajectories,
        horizon: int,
        seed: int,
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> Comparison:
        return Comparison((), self.kinds[0])


@dataclass(frozen=True)
class PaperFit(ModelFit):
    """The published fit, setting by setting."""

    settings: PaperSettings = field(default_factory=PaperSettings)
    step_dtype = np.float32

    def __post_init__(self) -> None:
        needs_networks()

    def choose(
        self,
        data: Trajectories,
        horizon: int,
        seed: int,
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> Comparison:
        return Comparison((), None)

    def models(
        self,
        data: Trajectories,
        support: Support | None,
        objectives: Sequence[Objective],
        horizon: int,
        seed: int,
        choice: Comparison,
        progress: Progress | None = None,
    ) -> list[Model]:
        """All trained together, in one compiled call."""
        from repbm.models._paper_fit import fit_paper

        return list(fit_paper(data, support, objectives, horizon, seed, self.settings, progress))
