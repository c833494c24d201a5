"""Doubly robust: a critic, corrected by re-weighted surprises."""

from __future__ import annotations

from dataclasses import dataclass

from repbm.data import totals
from repbm.estimators._case import Case
from repbm.estimators._critic import Critic
from repbm.estimators._estimate import Estimate
from repbm.estimators._importance import unnormalized
from repbm.estimators._normalized import CRITIC_ALONE, NormalizedTerms
from repbm.estimators._role import Role


@dataclass(frozen=True)
class DoublyRobust:
    """DR: the mean of sum_t discount^t [ w_t (r_t - Q_t) + w_{t-1} V_t ]. Normalized (WDR): w_t over its mean.

    `softening` evaluates the policy mixed with that much uniform noise, V and Q included (Jiang & Li 2016,
    Thomas & Brunskill 2016).
    """

    critic: Critic
    normalized: bool = False
    softening: float = 0.0
    role = Role.DOUBLY_ROBUST

    @property
    def name(self) -> str:
        return f"{'soft-' if self.softening else ''}{'w' if self.normalized else ''}dr({self.critic.name})"

    def __call__(self, case: Case) -> Estimate:
        case = case.softened(self.softening)
        data, weights = case.data, case.weights
        logged, value = self.critic(case)
        surprise = data.discounted(lambda at: data.rewards[at] - logged[at], case.discount)
        expected = data.discounted(lambda at: value[at], case.discount)
        if self.normalized:
            return NormalizedTerms(weights, surprise, expected).estimate()
        before = weights.plain_before
        contributions = totals(lambda at: weights.plain(at) * surprise(at) + before(at) * expected(at), data.offsets)
        return unnormalized(weights, contributions, CRITIC_ALONE)
