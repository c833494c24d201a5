"""The direct method: believe the critic."""

from __future__ import annotations

from dataclasses import dataclass

from repbm.estimators._case import Case
from repbm.estimators._critics import Critic
from repbm.estimators._estimate import Estimate


@dataclass(frozen=True)
class DirectMethod:
    """The mean over episodes of V_0(s_0); V_0(s_0) is also the individual value of each."""

    critic: Critic

    @property
    def name(self) -> str:
        return self.critic.name

    def __call__(self, case: Case) -> Estimate:
        _, value = self.critic(case)
        initial = value[case.data.starts]
        return Estimate.of_contributions(initial, float(len(initial)), individual=initial)
