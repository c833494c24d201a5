"""Models whose form a sample of a log has chosen, fitted to all of its steps: from sums that add up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import reduce
from operator import add
from typing import Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float

from repbm.data import Block, Trajectories, over_blocks
from repbm.models._model import Model
from repbm.models.objectives._objective import Objective


@runtime_checkable
class FitSums(Protocol):
    """Sums over steps of a log; those of its parts add up, in any cut."""

    @property
    def steps(self) -> int:
        """Over how many."""
        ...

    def __add__(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=FitSums)


class WholeFit(ABC, Generic[S]):
    """A model in closed form. What was chosen stays as the sample told it; sums are those of all steps."""

    objective: Objective

    def sums(self, data: Trajectories, marginal: Float[np.ndarray, " steps"] | None) -> S:
        """Of some episodes, whose actions have the codes of the sample; `marginal` is how much each step counts in the
        risk under the policy, None where that does not count."""

        def work(block: Block) -> S:
            own = data.take(np.arange(block.segments.start, block.segments.stop))
            return self._sums(own, None if marginal is None else marginal[block.entries])

        return reduce(add, over_blocks(work, data.offsets))

    @abstractmethod
    def _sums(self, data: Trajectories, marginal: Float[np.ndarray, " steps"] | None) -> S:
        """The same of few episodes, all at once."""

    @abstractmethod
    def model(self, sums: S) -> Model | None:
        """The model of all steps that are in the sums; None where the form does not suit them."""

    @property
    @abstractmethod
    def effort(self) -> int:
        """About how many times as long a step takes as to read and to correct it."""

    @property
    def complete(self) -> bool:
        """Whether nothing of the model stays as the sample alone tells it."""
        return False

    def weights(self, count: int, marginal: Float[np.ndarray, " steps"] | None) -> Float[np.ndarray, " steps"]:
        """How much every step counts in the objective."""
        own = np.full(count, float(self.objective.behavior))
        return own if marginal is None else own + self.objective.target * marginal
