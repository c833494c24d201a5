"""Models of one log that differ in how strongly the risk under the policy counts, and what each gets wrong."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import stream
from repbm.models._continuous import ContinuousModel
from repbm.models._model import Model
from repbm.models._rollout import roll_out
from repbm.models._stepwise import step_rows
from repbm.models.objectives._objective import Objective
from repbm.models.transitions._table import TransitionTable
from repbm.policies import ObservationPolicy


@dataclass(frozen=True, eq=False)
class Followed:
    """What is followed in a model: a policy, for so many steps and with a discount, once from each state.

    `rewards` are the lowest and the highest there are: no rollout is worth more or less than these allow.
    """

    policy: ObservationPolicy
    horizon: int
    discount: float
    rewards: tuple[float, float]
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Candidates(ABC):
    """One model an objective; the first objective knows nothing of the policy (AM).

    `folds` is the part of the log that an episode is in, -1 where it judges nothing.
    """

    table: TransitionTable
    objectives: tuple[Objective, ...]
    folds: Int[np.ndarray, " episodes"]

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether surprises are computed without rollouts."""

    @abstractmethod
    def model(self, number: int) -> Model:
        """The model that is good at this objective, fitted to all episodes."""

    @abstractmethod
    def surprises(self, rows: Int[np.ndarray, " some"], asked: Followed) -> Float[np.ndarray, "candidates some"]:
        """What steps brought beyond what was expected by each candidate, fitted without the fold of the step.

        d = r + discount V(s') - (r^ + discount E V(s^')): the step in the candidate, and V of the first model, for all
        the same. By the simulation lemma the value of a model is off by minus the sum of these over the states and
        actions of the policy, as far as V is that of the model itself.
        """

    def judged(self, horizon: int) -> Bool[np.ndarray, " steps"]:
        """Steps whose surprise is known: the next state was logged, or nothing follows."""
        table = self.table
        known = table.ended | table.followed | (table.steps == horizon - 1)
        return known & (self.folds[table.episodes] >= 0)


class ContinuousCandidates(Candidates):
    """Models of continuous states."""

    @property
    def exact(self) -> bool:
        return False

    @abstractmethod
    def model(self, number: int) -> ContinuousModel: ...

    @abstractmethod
    def without(self, number: int, fold: int) -> ContinuousModel:
        """The model that is good at this objective, fitted to the episodes of other folds."""

    def surprises(self, rows: Int[np.ndarray, " some"], asked: Followed) -> Float[np.ndarray, "candidates some"]:
        """By rollouts in the first model, which draw alike for all candidates."""
        table = self.table
        states, actions = table.states[rows], table.actions[rows].astype(np.int64)
        left = asked.horizon - table.steps[rows]
        goes_on = (table.followed & ~table.ended)[rows]
        fold = self.folds[table.episodes[rows]]
        first = self.model(0)

        def values(at: np.ndarray, steps: np.ndarray) -> np.ndarray:
            own = int(stream(asked.seed, "balance").integers(1 << 31))
            given = {"discount": asked.discount, "seed": own, "rewards": asked.rewards}
            return roll_out(first, asked.policy, at, steps, **given).values

        following = np.where(goes_on[:, None], table.next_states[rows], states)
        seen = table.rewards[rows] + asked.discount * values(following, np.where(goes_on, left - 1, 0))
        result = np.empty((len(self.objectives), len(rows)))
        for number in range(len(self.objectives)):
            reached, paid, ending = np.empty_like(states), np.empty(len(rows)), np.empty(len(rows))
            for k in np.unique(fold):
                model, own = self.without(number, int(k)), np.flatnonzero(fold == k)
                generator = stream(asked.seed, "balance-step", int(k))
                reached[own], paid[own], ending[own] = step_rows(model, states[own], actions[own], generator)
            result[number] = seen - paid - asked.discount * (1 - ending) * values(reached, left - 1)
        return result
