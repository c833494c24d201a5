"""A fitted table as a critic: values by dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from repbm.estimators._case import Case
from repbm.estimators._critic import StateValues, acting

if TYPE_CHECKING:
    from repbm.models import TabularModel


@dataclass(frozen=True, eq=False)
class TabularCritic:
    """V_t and Q_t of a policy in a tabular model, exact for that model."""

    model: TabularModel
    name: str
    _known: dict[Case, np.ndarray] = field(default_factory=dict, repr=False)

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        data, table = case.data, self._table(case)
        place, left = self.model.find(data.observations), case.steps_left
        policy = acting(case.policy, self.name).probabilities(self.model.states, self.model.labels)
        values = np.einsum("sa,hsa->hs", policy, table)
        return table[left - 1, place, data.actions.codes], values[left - 1, place]

    def initial(self, case: Case) -> StateValues:
        return self.values_of(case, case.data.initial_observations)

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        policy = acting(case.policy, self.name)
        choices = policy.probabilities(self.model.states, self.model.labels)
        values = np.einsum("sa,sa->s", choices, self._table(case)[-1])
        unseen = self.model.unseen(policy)
        note = f"at {unseen:.0%} of visits the policy does what the log never shows there" if unseen > 0.005 else ""
        return StateValues(values[self.model.find(states)], note)

    def _table(self, case: Case) -> Float[np.ndarray, "horizon states actions"]:
        if case not in self._known:
            horizon = case.horizon or case.data.longest
            policy = acting(case.policy, self.name)
            self._known[case] = self.model.action_values(policy, case.discount, horizon)
        return self._known[case]
