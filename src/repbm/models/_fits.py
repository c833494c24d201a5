"""How models are fitted: everything chosen from the log, one given kind, or as published."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from repbm.core import ChoiceRules, FitRules, needs_networks
from repbm.data import Support, Trajectories, few_states
from repbm.engines import Engine
from repbm.models._choice import Comparison, compare
from repbm.models._model import Model
from repbm.models._paper import PaperSettings
from repbm.models._tabular import fit_tabular
from repbm.models.dynamics._closed_form import CLOSED_FORM
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._kind import DynamicsKind
from repbm.models.dynamics._network_fit import NetworkKind
from repbm.models.objectives._objective import Objective
from repbm.models.training._progress import Progress

KINDS: tuple[DynamicsKind, ...] = (CLOSED_FORM,)
"""The kinds of dynamics that are compared by default. `AutoFit(kinds=(*KINDS, NETWORK))` compares a network, too: half
a minute of training, which the answer no longer rests on."""


class ModelFit(ABC):
    """A way to fit models. What is chosen from the whole log is chosen once, and serves all models of that log."""

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


@dataclass(frozen=True)
class AutoFit(ModelFit):
    """Everything chosen from the log alone, on held-out episodes: the default.

    A table where states are few; else the first of the `kinds` that is nearly exact, or the one that goes least wrong
    several steps ahead.
    """

    kinds: tuple[DynamicsKind, ...] = KINDS
    choice: ChoiceRules = field(default_factory=ChoiceRules)
    rules: FitRules = field(default_factory=FitRules)

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
        return [
            choice.kind.model(FitContext.of(data, support, objective, horizon, seed, self.rules, progress))
            for objective in objectives
        ]


@dataclass(frozen=True)
class OneKindFit(AutoFit):
    """One kind of dynamics, the first of `kinds`, compared with nothing."""

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
