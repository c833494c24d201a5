"""A fitted model of the world as a critic: values by rolling the policy out in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from repbm.estimators._case import Case
from repbm.estimators._critics import Initial, acting

if TYPE_CHECKING:
    from repbm.models import Model, Rolled


@dataclass(frozen=True, eq=False)
class ModelCritic:
    """V_t and Q_t of a policy inside a fitted model.

    Where policy or model draw at random, a value is the mean of several rollouts: `individual_rollouts` for initial
    states, `step_rollouts` for each logged step.
    """

    model: Model
    name: str
    seed: int = 0
    individual_rollouts: int = 32
    step_rollouts: int = 2
    _known: dict[Case, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False)

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        if case not in self._known:
            self._known[case] = self._values(case)
        return self._known[case]

    def initial(self, case: Case) -> Initial:
        return self.values_of(case, case.data.initial_observations)

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> Initial:
        """V_0 of the case's policy for any initial states."""
        left = np.full(len(states), case.horizon or case.data.longest)
        rolled = self._rolled(case, states, left, None, self.individual_rollouts)
        outside = float(rolled.left_range.mean())
        note = f"{outside:.0%} of rollouts leave the range of the log" if outside > 0.005 else ""
        return Initial(rolled.values, note)

    def _values(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        data = case.data
        states, left = data.observations, case.steps_left
        taken = data.actions.codes.astype(np.int64)
        rolled = self._rolled(case, states, left, None, self.step_rollouts)
        # Rollouts that happen to begin with the logged action are rollouts of Q too: only other steps need their own.
        other = rolled.first != taken
        value, logged = rolled.values, rolled.values.copy()
        if other.any():
            logged[other] = self._rolled(case, states[other], left[other], taken[other], self.step_rollouts).values
        return logged, value

    def _rolled(
        self, case: Case, states: np.ndarray, left: np.ndarray, first: np.ndarray | None, rollouts: int
    ) -> Rolled:
        from repbm.models import roll_out

        return roll_out(
            self.model,
            acting(case.policy, self.name),
            np.asarray(states, dtype=np.float64),
            left,
            first_actions=first,
            discount=case.discount,
            rollouts=1 if case.deterministic and not self.model.stochastic else rollouts,
            seed=self.seed,
        )
