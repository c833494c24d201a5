"""A fitted model of the world, of whatever kind: what it can be asked."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import Label, NoveltyRules
from repbm.data import Trajectories
from repbm.models._question import ModelQuestion
from repbm.models.parts._part import Part, static
from repbm.policies import ObservationPolicy


@dataclass(frozen=True, eq=False)
class ModelValues:
    """Values of states, their standard deviation over rollouts, whether a rollout left the range of the log, and what
    is to be noted of them."""

    values: Float[np.ndarray, " states"]
    spread: Float[np.ndarray, " states"]
    left_range: Bool[np.ndarray, " states"]
    note: str = ""


class Model(Part):
    """What the world does, fitted to a log: tables and continuous states alike."""

    labels: tuple[Label, ...] = static()
    """The actions of the log, in the order of its codes."""
    horizon: int = static()
    """The longest that an episode may take."""
    observation_names: tuple[str, ...] = static()

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether values are computed without rollouts, for all steps at once."""

    @property
    @abstractmethod
    def stochastic(self) -> bool:
        """Whether two rollouts of the same actions may differ."""

    @property
    def effort(self) -> int:
        """About how many times as long a step takes as one of polynomials."""
        return 1

    @abstractmethod
    def values(
        self,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "states dimensions"],
        *,
        horizon: int | None = None,
        discount: float = 1.0,
        rollouts: int = 32,
        seed: int = 0,
        rewards: tuple[float, float] | None = None,
    ) -> ModelValues:
        """V(s) of the policy for `horizon` steps (that of the model without), where needed the mean of rollouts.

        With `rewards`, the lowest and the highest one there is, no rollout is worth more or less than these allow.
        """

    @abstractmethod
    def returns(
        self,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "states dimensions"],
        *,
        horizon: int | None = None,
        discount: float = 1.0,
        rollouts: int = 1,
        seed: int = 0,
    ) -> Float[np.ndarray, "{rollouts} states"]:
        """What single episodes from these states earn that follow the policy: with the noise of states and of rewards,
        and ends drawn. An error where the model does not know what single rewards are."""

    @abstractmethod
    def step_values(
        self,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "states dimensions"],
        steps_left: Int[np.ndarray, " states"],
        actions: Int[np.ndarray, " states"],
        odds: Float[np.ndarray, "states actions"],
        *,
        discount: float = 1.0,
        rollouts: int = 1,
        seed: int = 0,
        dtype: type[np.floating] = np.float64,
        rewards: tuple[float, float] | None = None,
    ) -> tuple[Float[np.ndarray, " states"], Float[np.ndarray, " states"]]:
        """Q(s, a) of the given actions and V(s), with so many steps left; `odds` are the policy's probabilities there.

        `dtype` is that of the arithmetic of rollouts; `rewards` as in `values`.
        """

    @abstractmethod
    def losses(self, data: Trajectories) -> Float[np.ndarray, " steps"]:
        """How far the model misses each logged step: the squared error of the reward, plus that of the next state."""

    @abstractmethod
    def path_error(self, data: Trajectories, ahead: int, most_windows: int = 4096) -> float:
        """How far the expected state `ahead` steps on misses the logged one, as a share of how far states really move.

        Along the logged actions; NaN where no episode is that long, or states have no distance (in a table).
        """

    @abstractmethod
    def knows(self, states: Float[np.ndarray, "states dimensions"]) -> Bool[np.ndarray, " states"]:
        """Whether the model can be asked about these states at all."""

    @abstractmethod
    def novelty(
        self, data: Trajectories, policy: ObservationPolicy, horizon: int, rules: NoveltyRules, seed: int = 0
    ) -> Float[np.ndarray, " horizon"]:
        """The share of individuals who, by step t, have met a state and an action that the log shows nothing like.

        They start as logged individuals do and follow the policy in the model.
        """

    @abstractmethod
    def support_probability(
        self,
        data: Trajectories,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "individuals dimensions"],
        horizon: int,
        rules: NoveltyRules,
        seed: int = 0,
    ) -> Float[np.ndarray, " individuals"]:
        """For everyone who starts in these states, the chance to meet nothing but what the log shows."""

    def save(self, path: str | Path, question: ModelQuestion | None = None) -> None:
        """Write the model, and what it was asked, to one `.npz` file; `load_model` and `load_asked` read it."""
        from repbm.models._store import save_model

        save_model(self, path, question)
