"""A fitted model of the world as a critic: values by rolling the policy out in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from repbm.core import stream
from repbm.estimators._case import Case
from repbm.estimators._critic import StateValues, acting

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
    step_rollouts: int = 1
    negligible: float | None = 1e-6
    """V_t = Q_t = 0 at the steps that together carry at most this share of the weight w_{t-1} of their step t; None: no
    step is left out. What goes before the action chooses them, so that DR stays unbiased, and nothing is rolled out in
    vain: past the first departure from a deterministic policy all weights are 0."""
    step_dtype: type[np.floating] = np.float64
    """That of the arithmetic of `step_rollouts`; float32 is enough for a model that was trained in it."""
    _known: dict[Case, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False)

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        if case not in self._known:
            self._known[case] = self._values(case)
        return self._known[case]

    def initial(self, case: Case) -> StateValues:
        return self.values_of(case, case.data.initial_observations)

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        """V_0 of the case's policy for any initial states."""
        left = np.full(len(states), case.horizon or case.data.longest)
        rolled = self._rolled(case, states, left, None, self._draws(case, self.individual_rollouts), 0)
        outside = float(rolled.left_range.mean())
        note = f"{outside:.0%} of rollouts leave the range of the log" if outside > 0.005 else ""
        return StateValues(rolled.values, note)

    def _values(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        return self.at_steps(case, self.rows_of(case))

    def rows_of(self, case: Case) -> Int[np.ndarray, " some"]:
        """The steps that matter: all but those whose weights are negligible."""
        if self.negligible is None or case.data.behavior is None:
            return np.arange(len(case.data.rewards))
        return np.flatnonzero(case.weights.non_negligible(self.negligible))

    def at_steps(
        self, case: Case, rows: Int[np.ndarray, " some"]
    ) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        """Q_t of the logged action and V_t at some steps, 0 at the others.

        Means over rollouts. One that begins with the logged action counts for Q as for V; where none does, another. So
        their errors cancel in DR, but for the surprise of the logged action.
        """
        data = case.data
        logged, value = np.zeros(len(data.rewards)), np.zeros(len(data.rewards))
        if not len(rows):
            return logged, value
        states, left, taken = data.observations[rows], case.steps_left[rows], data.actions.codes[rows].astype(np.int64)
        odds = self._odds(case, rows)
        alike = np.zeros(len(rows))
        draws = self._draws(case, self.step_rollouts)
        for draw in range(draws):
            first = _drawn(odds, stream(self.seed, "first-actions", draw))
            found = self._rolled(case, states, left, first, 1, draw, self.step_dtype).values
            value[rows] += found / draws
            logged[rows] += np.where(first == taken, found, 0.0)
            alike += first == taken
        logged[rows] /= np.maximum(alike, 1)
        other = alike == 0
        if other.any():
            found = self._rolled(case, states[other], left[other], taken[other], draws, draws, self.step_dtype)
            logged[rows[other]] = found.values
        return logged, value

    def _odds(self, case: Case, rows: np.ndarray) -> Float[np.ndarray, "some actions"]:
        """The policy's probabilities of the log's actions, at some logged steps."""
        acting(case.policy, self.name)
        assert case.decisions.matrix is not None
        return case.decisions.matrix()[rows, : len(case.data.actions.labels)]

    def _draws(self, case: Case, rollouts: int) -> int:
        return 1 if case.deterministic and not self.model.stochastic else rollouts

    def _rolled(
        self,
        case: Case,
        states: np.ndarray,
        left: np.ndarray,
        first: np.ndarray | None,
        rollouts: int,
        part: int,
        dtype: type[np.floating] = np.float64,
    ) -> Rolled:
        from repbm.models import roll_out

        return roll_out(
            self.model,
            acting(case.policy, self.name),
            np.asarray(states, dtype=np.float64),
            left,
            first_actions=first,
            discount=case.discount,
            rollouts=rollouts,
            seed=int(stream(self.seed, "rollouts", part).integers(1 << 31)) if part else self.seed,
            dtype=dtype,
        )


def _drawn(odds: Float[np.ndarray, "states actions"], generator: np.random.Generator) -> np.ndarray:
    """An action a state; -1, for the rollout to decide, where the policy most likely takes one that is not logged."""
    mass = odds.sum(axis=1)
    marks = generator.random(len(odds)) * mass
    drawn = (np.cumsum(odds, axis=1) <= marks[:, None]).sum(axis=1).clip(0, odds.shape[1] - 1)
    return np.where(mass < 0.5, -1, drawn)
