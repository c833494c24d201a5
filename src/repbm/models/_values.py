"""Values of states in a fitted model of either kind."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from repbm.models._model import Model
from repbm.models._rollout import Rolled, roll_out
from repbm.models._tabular import TabularModel
from repbm.policies import ObservationPolicy


def values_in(
    model: Model | TabularModel,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "states dimensions"],
    *,
    discount: float = 1.0,
    horizon: int | None = None,
    rollouts: int = 32,
    seed: int = 0,
) -> Rolled:
    """V of the policy for initial states: by dynamic programming in a table, else by rollouts.

    One rollout is enough where neither the model nor the policy, as far as these states show, draws at random.
    """
    if isinstance(model, TabularModel):
        choices = policy.probabilities(model.states, model.labels)
        table = np.einsum("sa,sa->s", choices, model.action_values(policy, discount, horizon)[-1])
        count = len(states)
        unknown = np.full(count, -1)
        return Rolled(table[model.find(states)], np.zeros(count), np.zeros(count, dtype=bool), unknown)
    certain = not model.stochastic and bool(np.isin(policy.probabilities(states, model.labels), (0.0, 1.0)).all())
    left = np.full(len(states), horizon or model.horizon)
    return roll_out(model, policy, states, left, discount=discount, rollouts=1 if certain else rollouts, seed=seed)
