"""The direct method: believe the critic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.estimators._case import Case
from repbm.estimators._critic import Critic
from repbm.estimators._estimate import Estimate
from repbm.estimators._role import Role


@dataclass(frozen=True)
class DirectMethod:
    """The mean over episodes of V_0(s_0); V_0(s_0) is also the individual value of each."""

    critic: Critic
    role = Role.MODEL

    @property
    def name(self) -> str:
        return self.critic.name

    def __call__(self, case: Case) -> Estimate:
        initial = self.critic.initial(case)
        values = initial.values
        return Estimate.of_contributions(values, float(len(values)), initial.note, values, model_only=True)

    def values_of(
        self, case: Case, states: Float[np.ndarray, "individuals dimensions"]
    ) -> Float[np.ndarray, " individuals"]:
        """The values of initial states that are not in the log."""
        return self.critic.values_of(case, states).values
