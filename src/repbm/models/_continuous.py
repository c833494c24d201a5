"""A model of continuous states: dynamics, saturation, reward, termination and noise, and values by rollouts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import NoveltyRules, SideBySide, stream
from repbm.data import Trajectories
from repbm.models._drawn_returns import drawn_returns
from repbm.models._errors import one_step_losses, path_error
from repbm.models._model import Model, ModelValues
from repbm.models._novelty import first_novel_steps
from repbm.models._rollout import roll_out
from repbm.models.dynamics._base import Dynamics
from repbm.models.dynamics._functions import NetworkDynamics
from repbm.models.parts._noise import Noise
from repbm.models.parts._part import one_and_the_same, static
from repbm.models.parts._reward import NetworkReward, Reward
from repbm.models.parts._reward_noise import RewardNoise
from repbm.models.parts._saturation import Saturation
from repbm.models.parts._termination import Termination
from repbm.models.transitions._arrays import AnyArray, module_of
from repbm.policies import ObservationPolicy

_NOTED = 0.005
"""From this share of rollouts on it is noted that they leave the range of the log."""
_TOGETHER = 1 << 18
"""So many rollouts from logged steps are under way at a time: what fits into memory many times over."""


class ContinuousModel(Model):
    """Dynamics, saturation, reward, termination and noise, fitted to one log."""

    dynamics: Dynamics
    saturation: Saturation
    reward: Reward
    termination: Termination
    noise: Noise | None
    low: Float[AnyArray, " dimensions"]
    high: Float[AnyArray, " dimensions"]
    """The box of logged states; infinite where a column has two values only."""
    ends_on_arrival: bool = static(default=True)
    """Whether termination looks at the state after a step, or at the one before."""
    reward_noise: RewardNoise | None = None
    """What single rewards are; None where it is not known, as in models as published."""

    @property
    def exact(self) -> bool:
        return False

    @property
    def effort(self) -> int:
        return self.dynamics.effort

    @property
    def stochastic(self) -> bool:
        return self.noise is not None

    def step(
        self,
        states: Float[AnyArray, "batch dimensions"],
        actions: Int[AnyArray, " batch"],
        key: AnyArray | np.random.Generator | SideBySide,
    ) -> tuple[
        Float[AnyArray, "batch dimensions"],
        Float[AnyArray, " batch"],
        Float[AnyArray, " batch"],
    ]:
        """The next states, the rewards, and the probabilities that the episode ends there."""
        rows = module_of(states).arange(states.shape[0])
        both = _telling_both(self.dynamics, self.reward)
        if both is None:
            following, rewards = self.dynamics.taken(states, actions), None
        else:
            predicted = both.network.predicted(states)
            following, rewards = both.moved(states, predicted)[rows, actions], predicted[rows, actions, 0]
        if self.noise is not None:
            following = following + self.noise.draw(key, actions, states)
        following = self.saturation(following)
        if rewards is None:
            rewards = self.reward(states, following)[rows, actions]
        ending = self.termination.ending(following if self.ends_on_arrival else states, actions)
        return following, rewards, ending

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
        left = np.full(len(states), horizon or self.horizon)
        given = {"discount": discount, "rollouts": rollouts, "seed": seed, "rewards": rewards}
        found = roll_out(self, policy, states, left, **given)
        outside = float(found.left_range.mean())
        notes = [f"{outside:.0%} of rollouts leave the range of the log"] if outside > _NOTED else []
        return replace(found, note="; ".join([*notes, found.note] if found.note else notes))

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
        return drawn_returns(self, policy, states, horizon or self.horizon, discount, rollouts, seed)

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
        """Means over rollouts. One that begins with the given action counts for Q as for V; where none does, another.

        So their errors cancel in doubly robust estimates, but for the surprise of the logged action. First actions are
        spread evenly over the policy's: each is taken as often as it is probable, but for the remainder. Where Q needs
        rollouts of its own the action is one that the policy hardly takes, and a quarter of them will do.
        """

        def rolled(rows: np.ndarray, first: np.ndarray, part: int) -> np.ndarray:
            own = int(stream(seed, "rollouts", part).integers(1 << 31)) if part else seed
            given = {"first_actions": first, "discount": discount, "seed": own, "dtype": dtype, "rewards": rewards}
            return roll_out(self, policy, states[rows], steps_left[rows], **given).values

        count = len(states)
        logged, value, alike = np.zeros(count), np.zeros(count), np.zeros(count)
        marks = stream(seed, "first-actions", 0).random((count, 1))
        # Many rollouts go together: batches are full, and of one length.
        together = max(_TOGETHER // max(count, 1), 1)
        for start in range(0, rollouts, together):
            numbers = np.arange(start, min(start + together, rollouts))
            first = np.concatenate([_first_actions(odds, (marks + k / rollouts) % 1.0) for k in numbers])
            found = rolled(np.tile(np.arange(count), len(numbers)), first, start).reshape(-1, count)
            same = first.reshape(-1, count) == actions
            value += found.sum(axis=0) / rollouts
            logged += np.where(same, found, 0.0).sum(axis=0)
            alike += same.sum(axis=0)
        logged /= np.maximum(alike, 1)
        other = np.flatnonzero(alike == 0)
        if len(other):
            times = -(-rollouts // 4)
            found = rolled(np.tile(other, times), np.tile(actions[other], times), rollouts)
            logged[other] = found.reshape(times, -1).mean(axis=0)
        return logged, value

    def losses(self, data: Trajectories) -> Float[np.ndarray, " steps"]:
        """(r_hat - r)^2 + |s_hat' - s'|^2 of every logged step; only the first part where s' was not logged."""
        return one_step_losses(self, data)

    def path_error(self, data: Trajectories, ahead: int, most_windows: int = 4096) -> float:
        return path_error(self.dynamics, self.saturation, data, ahead, most_windows)

    def knows(self, states: Float[np.ndarray, "states dimensions"]) -> Bool[np.ndarray, " states"]:
        return np.ones(len(states), dtype=bool)

    def novelty(
        self, data: Trajectories, policy: ObservationPolicy, horizon: int, rules: NoveltyRules, seed: int = 0
    ) -> Float[np.ndarray, " horizon"]:
        generator = stream(seed, "novelty")
        starts = np.resize(generator.permutation(len(data)), rules.individuals)
        first = first_novel_steps(self, data, policy, data.initial_observations[starts], horizon, rules, generator)
        return np.cumsum(np.bincount(first, minlength=horizon + 1)[:horizon]) / rules.individuals

    def support_probability(
        self,
        data: Trajectories,
        policy: ObservationPolicy,
        states: Float[np.ndarray, "individuals dimensions"],
        horizon: int,
        rules: NoveltyRules,
        seed: int = 0,
    ) -> Float[np.ndarray, " individuals"]:
        """1 or 0, from one path in the model each."""
        generator = stream(seed, "support-probability")
        first = first_novel_steps(self, data, policy, states, horizon, rules, generator)
        return (first == horizon).astype(np.float64)


def _telling_both(dynamics: Dynamics, reward: Reward) -> NetworkDynamics | None:
    """The dynamics, where their network is that of the rewards, too: it is asked once for both."""
    if type(dynamics) is not NetworkDynamics or type(reward) is not NetworkReward:
        return None
    return dynamics if one_and_the_same(dynamics.network, reward.network) else None


def _first_actions(
    odds: Float[np.ndarray, "states actions"], marks: Float[np.ndarray, "states 1"]
) -> Int[np.ndarray, " states"]:
    """An action a state; -1, for the rollout to decide, where the policy most likely takes one that is not logged."""
    cumulative = np.cumsum(odds, axis=1)
    drawn = (cumulative <= marks * cumulative[:, -1:]).sum(axis=1).clip(0, odds.shape[1] - 1)
    return np.where(cumulative[:, -1] < 0.5, -1, drawn)
