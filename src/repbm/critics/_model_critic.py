"""A fitted model of the world as a critic."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int

from repbm.estimators import Case, StateValues, acting
from repbm.models import Model, Objective


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
    step_rollouts: int = 16
    most_steps: int = 1 << 24
    """Fewer rollouts a logged step where all would take more steps than this in the model; at least one."""
    most_individual_steps: int = 1 << 23
    """The same for rollouts of individuals."""
    negligible: float | None = 1e-6
    """V_t = Q_t = 0 at the steps that together carry at most this share of the weight w_{t-1} of their step t; None: no
    step is left out. What goes before the action chooses them, so that DR stays unbiased, and nothing is rolled out in
    vain: past the first departure from a deterministic policy all weights are 0. Exact models leave nothing out."""
    negligible_at_most: tuple[float, ...] = (1e-4, 1e-2, 0.1)
    """What is left out of long logs, the first of them that does."""
    rewards: tuple[float, float] | None = None
    """The lowest and the highest logged reward: no rollout is worth more or less than these allow. None: as it is."""
    step_dtype: type[np.floating] = np.float64
    """That of the arithmetic of `step_rollouts`; float32 is enough for a model that was trained in it."""
    note: str = ""
    """What is to be said of how the model was fitted."""
    objective: Objective | None = None
    """What it was fitted to be good at, where that is known."""
    _known: dict[Case, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False)
    _initial: dict[Case, StateValues] = field(default_factory=dict, repr=False)

    def with_model(self, model: Model) -> ModelCritic:
        """The same inside another model."""
        return replace(self, model=model, _known={}, _initial={})

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        if case not in self._known:
            self._known[case] = self.at_steps(case, self.rows_of(case))
        return self._known[case]

    def initial(self, case: Case) -> StateValues:
        if case not in self._initial:
            self._initial[case] = self.values_of(case, case.data.initial_observations)
        return self._initial[case]

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        """V_0 of the case's policy for any initial states."""
        path_steps = len(states) * case.most_steps
        several = int(np.clip(self.most_individual_steps // max(path_steps, 1), 1, self.individual_rollouts))
        found = self.model.values(
            acting(case.policy, self.name),
            np.asarray(states, dtype=np.float64),
            horizon=case.most_steps,
            discount=case.discount,
            rollouts=self._rollouts(case, several),
            seed=self.seed,
            rewards=self.rewards,
        )
        few = several < self.individual_rollouts and self._rollouts(case, several) == several
        told = f"each individual by {several} of {self.individual_rollouts} rollouts" if few else ""
        return StateValues(found.values, "; ".join(note for note in (self.note, found.note, told) if note))

    def rows_of(self, case: Case) -> Int[np.ndarray, " some"]:
        """The steps that matter: all but those whose weights are negligible.

        Of a log so long that one rollout for V and one for Q would take more than `most_steps`, more is negligible:
        the estimate stays unbiased, and what varies most is corrected still.
        """
        if self.negligible is None or self.model.exact or case.data.behavior is None:
            return np.arange(len(case.data.rewards))
        rows = np.arange(len(case.data.rewards))
        for share in (self.negligible, *(more for more in self.negligible_at_most if more > self.negligible)):
            rows = np.flatnonzero(case.weights.non_negligible(share))
            if 2 * int(case.steps_left[rows].sum()) <= self.most_steps:
                break
        return rows

    def at_steps(
        self, case: Case, rows: Int[np.ndarray, " some"]
    ) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        """Q_t of the logged action and V_t at some steps, 0 at the others."""
        data, policy = case.data, acting(case.policy, self.name)
        logged, value = np.zeros(len(data.rewards)), np.zeros(len(data.rewards))
        if not len(rows):
            return logged, value
        assert case.decisions.matrix is not None
        logged[rows], value[rows] = self.model.step_values(
            policy,
            np.asarray(data.observations[rows], dtype=np.float64),
            case.steps_left[rows],
            data.actions.codes[rows].astype(np.int64),
            case.decisions.matrix()[rows, : len(data.actions.labels)],
            discount=case.discount,
            rollouts=self._rollouts(case, self._affordable(case, rows)),
            seed=self.seed,
            dtype=self.step_dtype,
            rewards=self.rewards,
        )
        return logged, value

    def values_at(
        self, case: Case, states: Float[np.ndarray, "some dimensions"], steps_left: Int[np.ndarray, " some"]
    ) -> Float[np.ndarray, " some"]:
        """V of any states, with so many steps left."""
        policy = acting(case.policy, self.name)
        _, value = self.model.step_values(
            policy,
            np.asarray(states, dtype=np.float64),
            steps_left,
            np.zeros(len(states), dtype=np.int64),
            policy.probabilities(states, self.model.labels),
            discount=case.discount,
            rollouts=self._rollouts(case, self.step_rollouts),
            seed=self.seed,
            dtype=self.step_dtype,
            rewards=self.rewards,
        )
        return value

    def _affordable(self, case: Case, rows: Int[np.ndarray, " some"]) -> int:
        return int(np.clip(self.most_steps // max(int(case.steps_left[rows].sum()), 1), 1, self.step_rollouts))

    def _rollouts(self, case: Case, several: int) -> int:
        """One where nothing is drawn at random."""
        return 1 if case.deterministic and not self.model.stochastic else several
