"""Tables that count steps which the policy would take more or less."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from repbm.core import FitRules
from repbm.data import Support, Trajectories
from repbm.models._candidates import Candidates, Followed
from repbm.models._tabular import Counts, TabularModel
from repbm.models.objectives._objective import Objective
from repbm.models.transitions._table import TransitionTable


@dataclass(frozen=True, eq=False)
class TableCandidates(Candidates):
    """All of the same states; what is expected of a step is exact."""

    counts: Counts

    @classmethod
    def of(
        cls,
        data: Trajectories,
        support: Support,
        objectives: tuple[Objective, ...],
        horizon: int,
        folds: Int[np.ndarray, " episodes"],
        rules: FitRules,
    ) -> TableCandidates:
        table = TransitionTable.of(data, support, rules.trust, horizon, weight_limit=rules.weight_limit)
        return cls(table, objectives, folds, Counts.of(data, table, horizon))

    @property
    def exact(self) -> bool:
        return True

    def model(self, number: int) -> TabularModel:
        return self.counts.model(self.objectives[number].weights(self.table))

    @cached_property
    def _fold(self) -> Int[np.ndarray, " steps"]:
        return self.folds[self.table.episodes]

    def surprises(self, rows: Int[np.ndarray, " some"], asked: Followed) -> Float[np.ndarray, "candidates some"]:
        table, counts = self.table, self.counts
        left = asked.horizon - table.steps[rows]
        goes_on = (table.followed & ~table.ended)[rows]
        first = self.model(0)
        choices = asked.policy.probabilities(first.states, first.labels)
        found = np.einsum("sa,hsa->hs", choices, first.action_values(asked.policy, asked.discount, asked.horizon))
        values = np.concatenate([np.zeros((1, len(choices))), found])
        later = np.where(goes_on, values[left - 1, counts.following[rows]], 0.0)
        seen = table.rewards[rows] + asked.discount * later
        expected = np.empty((len(self.objectives), len(rows)))
        for number, objective in enumerate(self.objectives):
            weights = objective.weights(table)
            for k in np.unique(self._fold[rows]):
                own = np.flatnonzero(self._fold[rows] == k)
                model = counts.model(np.where(self._fold == k, 0.0, weights))
                for steps in np.unique(left[own]):
                    here = own[left[own] == steps]
                    one = model.backed_up(values[steps - 1], asked.discount).reshape(-1)
                    expected[number, here] = one[counts.pairs[rows[here]]]
        return seen - expected
