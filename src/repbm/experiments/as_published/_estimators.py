"""The published estimators, mistakes included; an individual value is the contribution of the one logged episode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from jaxtyping import Float

from repbm.critics import ModelCritic
from repbm.data import totals
from repbm.estimators import Case, Critic, Estimate, Role, Weights
from repbm.experiments.as_published._weights import forgetful_sums

CriticValues = tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]
"""Q_t of the logged action and V_t at every logged step."""

Values = Callable[[Case, float], CriticValues]
"""The values behind a doubly robust row, from the case and the softening of its weights."""


@dataclass(frozen=True)
class LengthSampling:
    """IS and WIS as published: the *length* of an episode times its weight, whatever its rewards.

    Right where every reward is 1 (CartPole); of the wrong sign where every reward is -1 (MountainCar).
    """

    name: str
    normalized: bool
    softening: float
    role = Role.WEIGHTING

    def __call__(self, case: Case) -> Estimate:
        weights = case.softened(self.softening).weights
        last, effective = np.exp(weights.log_last), float(weights.effective_episodes[-1])
        if self.normalized:
            if not last.any():
                return Estimate(None, None, effective, f"not defined: {weights.vanishing}")
            last = last * (len(last) / last.sum())
        return _answered(last * case.data.lengths, effective)


@dataclass(frozen=True, eq=False)
class StepSampling:
    """DR and WDR as published, and PDIS and WPDIS, where Q and V are 0: undiscounted, per episode

    sum_t [ w_t (r_t - Q_t) + w_{t-1} V_t ];   normalized: w_t times n / D_t, with D_t the `forgetful_sums`.

    A step at which no episode has weight counts 0: the normalized forms are always defined.
    """

    name: str
    values: Values
    normalized: bool
    softening: float
    weighting: Callable[[Case], Weights] = attrgetter("weights")
    role = Role.DOUBLY_ROBUST

    def __call__(self, case: Case) -> Estimate:
        data, weights = case.data, self.weighting(case.softened(self.softening))
        logged, value = self.values(case, self.softening)
        after = weights.plain(slice(None))
        if self.normalized:
            sums = forgetful_sums(weights)
            after = after * np.divide(len(data), sums, out=np.zeros_like(sums), where=sums > 0)[data.steps]
        before = data.delayed(after, 1.0)(slice(None))
        terms = after * (data.rewards - logged) + before * value
        return _answered(totals(lambda at: terms[at], data.offsets), float(weights.effective_episodes[-1]))


def no_values(case: Case, softening: float) -> CriticValues:
    """Those of PDIS and WPDIS."""
    nothing = np.zeros(len(case.data.rewards))
    return nothing, nothing


def hard_values(critic: Critic) -> Values:
    """Those of a critic as published: of the policy itself, also where the weights are those of the softened one."""
    return lambda case, softening: critic(case)


def hard_model_values(critic: ModelCritic) -> Values:
    """The same of a model, wherever the weights matter: those of the softened policy do in more places."""
    known: dict[float, CriticValues] = {}

    def values(case: Case, softening: float) -> CriticValues:
        if softening not in known:
            known[softening] = critic.at_steps(case, critic.rows_of(case.softened(softening)))
        return known[softening]

    return values


def _answered(contributions: Float[np.ndarray, " episodes"], effective: float) -> Estimate:
    return Estimate.of_contributions(contributions, effective, individual=contributions)
