"""One question: a log, a policy on it, and a discount."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import InputError, Label
from repbm.data import LARGEST_NUMBER, LARGEST_OBSERVATION, StepValues, Support, Trajectories, over_blocks, support
from repbm.estimators._weights import Weights
from repbm.policies import Decisions, ObservationPolicy, Policy, Softened


@dataclass(frozen=True, eq=False)
class Case:
    """What estimators are asked about: logged episodes, what the policy does at each step, the discount.

    Weights and softened forms are computed once and shared by all estimators of the case.
    """

    data: Trajectories
    policy: Policy
    decisions: Decisions
    discount: float = 1.0
    horizon: int | None = None
    """The longest that an episode may take; None: the longest logged."""
    behavior: Float[np.ndarray, "steps actions"] | None = None
    """The behavior's probabilities of all actions of the log, where more is known than those of the logged ones."""
    _softened: dict[float, Case] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        data: Trajectories,
        policy: Policy,
        discount: float = 1.0,
        horizon: int | None = None,
        behavior: Float[np.ndarray, "steps actions"] | None = None,
    ) -> Case:
        if max(-data.rewards.min(), data.rewards.max()) > LARGEST_NUMBER:
            raise InputError(
                f"rewards are beyond {LARGEST_NUMBER:g}: squares of their sums would exceed floating point",
                fix="give rewards in larger units",
            )
        if data.observations.size and max(-data.observations.min(), data.observations.max()) > LARGEST_OBSERVATION:
            raise InputError(f"observations are beyond {LARGEST_OBSERVATION:g}", fix="give them in larger units")
        policy = policy.bind(data.names, data.encoding)
        return cls(data, policy, policy.decisions(data), discount, horizon, behavior)

    def __getstate__(self) -> dict[str, Any]:
        """For another process: decisions as arrays, and nothing that can be computed again."""
        kept = {one.name: getattr(self, one.name) for one in fields(self)}
        told = self.decisions
        arrays = told.logged(slice(None)), None if told.matrix is None else told.matrix()
        return kept | {"decisions": (told.labels, *arrays), "_softened": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        labels, logged, matrix = state["decisions"]
        decisions = Decisions(labels, lambda at: logged[at], None if matrix is None else lambda: matrix)
        self.__dict__.update(state | {"decisions": decisions})

    @cached_property
    def unseen(self) -> tuple[Label, ...]:
        """Actions that the policy takes in logged states and the log never shows."""
        known, matrix = len(self.data.actions.labels), self.decisions.matrix
        others = self.decisions.labels[known:]
        if not others or matrix is None:
            return others
        taken = np.asarray((matrix()[:, known:] > 0).any(axis=0))
        return tuple(label for label, once in zip(others, taken, strict=True) if once)

    def take(self, episodes: Int[np.ndarray, " m"]) -> Case:
        """The same question about some of the episodes, with the same horizon; the policy is not asked again."""
        steps = self.data.positions(episodes)
        return replace(
            self,
            data=self.data.take(episodes),
            decisions=self.decisions.take(steps),
            horizon=self.most_steps,
            behavior=None if self.behavior is None else self.behavior[steps],
            _softened={},
        )

    @property
    def most_steps(self) -> int:
        """The longest that an episode may take."""
        return self.horizon or self.data.longest

    def softened(self, epsilon: float) -> Case:
        """The case of the policy mixed with a uniform draw of probability `epsilon`; itself for 0."""
        if epsilon == 0:
            return self
        if epsilon not in self._softened:
            policy = self.policy
            self._softened[epsilon] = replace(
                self,
                policy=Softened(policy, epsilon) if isinstance(policy, ObservationPolicy) else policy,
                decisions=self.decisions.softened(epsilon),
                _softened={},
            )
        return self._softened[epsilon]

    @cached_property
    def weights(self) -> Weights:
        """The importance weights; an error where the log has no behavior probabilities."""
        logged, behavior = self.decisions.logged, self.data.behavior
        if behavior is None:
            raise InputError(
                "importance sampling needs the probability with which each logged action was taken",
                fix="add a column behavior_prob, or name yours with --column behavior_prob=THEIRS",
            )
        return Weights.of_ratios(self.data, lambda at: logged(at) / behavior[at])

    @property
    def whole(self) -> Bool[np.ndarray, " episodes"]:
        """The episodes that the log shows to their end, or as long as they may take; it lost sight of the others."""
        return self.data.terminated | (self.data.lengths >= self.most_steps)

    @property
    def steps_left(self) -> Int[np.ndarray, " steps"]:
        """How many steps the episode may still take, at every logged step, this one included."""
        return self.most_steps - self.data.steps

    @cached_property
    def deterministic(self) -> bool:
        """Whether the policy gives every logged action the probability 0 or 1."""
        logged = self.decisions.logged
        parts = over_blocks(lambda block: bool(np.isin(logged(block.entries), (0.0, 1.0)).all()), self.data.offsets)
        return all(parts)

    @cached_property
    def support(self) -> Support:
        """How far the log follows the policy, and how much each of its steps counts under the policy."""
        found = support(self.data, self.decisions.logged)
        if self.deterministic:
            return found
        known = self.data.behavior is not None
        return replace(found, deterministic=False, importance=self.weights.normalized if known else None)

    @cached_property
    def returns(self) -> Float[np.ndarray, " episodes"]:
        return self.data.returns(self.discount)

    @property
    def rewards(self) -> StepValues:
        """discount^t r_t of every step."""
        return self.data.discounted(lambda at: self.data.rewards[at], self.discount)
