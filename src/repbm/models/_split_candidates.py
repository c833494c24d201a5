"""Models of any kind, compared by fits to most of the episodes: what costs a training each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from repbm.models._candidates import ContinuousCandidates
from repbm.models._continuous import ContinuousModel
from repbm.models.objectives._objective import Objective

Fitted = Callable[[Objective, int | None], ContinuousModel]
"""The model of an objective, without a fold or of all episodes."""


@dataclass(frozen=True, eq=False)
class SplitCandidates(ContinuousCandidates):
    """Every model fitted anew, once without the episodes that judge and, if it is chosen, once with all."""

    fitted: Fitted
    _known: dict[tuple[int, int | None], ContinuousModel] = field(default_factory=dict)

    def model(self, number: int) -> ContinuousModel:
        return self._of(number, None)

    def without(self, number: int, fold: int) -> ContinuousModel:
        return self._of(number, fold)

    def _of(self, number: int, without: int | None) -> ContinuousModel:
        key = number, without
        if key not in self._known:
            self._known[key] = self.fitted(self.objectives[number], without)
        return self._known[key]
