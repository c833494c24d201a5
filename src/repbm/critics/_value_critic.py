"""Fitted action values as a critic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from repbm.core import InputError, Label
from repbm.critics._action_values import ActionValues
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.estimators import Case, Critic, StateValues, acting


@runtime_checkable
class AnyStateCritic(Critic, Protocol):
    """A critic that knows more than the logged steps."""

    def values_at(
        self, case: Case, states: Float[np.ndarray, "some dimensions"], steps_left: Int[np.ndarray, " some"]
    ) -> Float[np.ndarray, " some"]:
        """V of any states, with so many steps left."""
        ...


def values_later(
    critics: CrossFittedCritic,
    case: Case,
    episodes: Int[np.ndarray, " some"],
    states: Float[np.ndarray, "some dimensions"],
    steps_left: Int[np.ndarray, " some"],
) -> Float[np.ndarray, " some"]:
    """V of states that these episodes came to, each by the critic that was fitted without the episode."""
    result = np.empty(len(episodes))
    for k, critic in enumerate(critics.critics):
        own = np.flatnonzero(critics.folds[episodes] == k)
        if len(own):
            assert isinstance(critic, AnyStateCritic)
            result[own] = critic.values_at(case, states[own], steps_left[own])
    return result


@dataclass(frozen=True, eq=False)
class ActionValueCritic:
    """Q_t(s, a) as fitted (MRDR, FQE); V_t(s) = sum_a pi(a | s) Q_t(s, a) with the case's policy, softened or not."""

    values: ActionValues
    name: str
    _known: dict[Case, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False)

    def alone(self) -> ActionValueCritic:
        """The same, without what it knows of any log."""
        return ActionValueCritic(self.values, self.name)

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        if case not in self._known:
            self._known[case] = self._at_steps(case)
        return self._known[case]

    def initial(self, case: Case) -> StateValues:
        return StateValues(self(case)[1][case.data.starts])

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        """V_0 of the case's policy for any initial states."""
        return StateValues(self.values_at(case, states, np.full(len(states), case.most_steps)))

    def values_at(
        self, case: Case, states: Float[np.ndarray, "some dimensions"], steps_left: Int[np.ndarray, " some"]
    ) -> Float[np.ndarray, " some"]:
        """V of any states, with so many steps left."""
        labels = case.decisions.labels
        policy = acting(case.policy, self.name).probabilities(states, labels)
        return np.einsum("ka,ka->k", policy, self.values(states, steps_left)[:, self._columns(labels, policy)])

    def _at_steps(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        data, decisions = case.data, case.decisions
        if decisions.matrix is None:
            raise InputError(f"{self.name} needs the policy's probabilities of all actions")
        policy = decisions.matrix()
        taken = policy.copy()
        taken[np.arange(len(taken)), data.actions.codes] = 1.0
        columns = self._columns(decisions.labels, taken)
        found = self.values(data.observations, case.steps_left)[:, columns]
        return found[np.arange(len(found)), data.actions.codes], np.einsum("ka,ka->k", policy, found)

    def _columns(self, labels: tuple[Label, ...], taken: Float[np.ndarray, "rows actions"]) -> list[int]:
        """Where the values of these actions are; an error for one that is `taken` and not known."""
        place = {label: k for k, label in enumerate(self.values.labels)}
        unknown = [label for k, label in enumerate(labels) if label not in place and taken[:, k].any()]
        if unknown:
            raise InputError(
                f"{self.name} knows no value of the action {unknown[0]!r}, which the log it was fitted to never shows",
                fix="log that action, or use importance sampling",
            )
        return [place.get(label, 0) for label in labels]
