"""Policies made of policies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from repbm.core import Label
from repbm.data import Encoding, Informative
from repbm.policies._base import Choices, ObservationPolicy


@dataclass(frozen=True)
class Softened(ObservationPolicy):
    """With probability `epsilon` a uniform draw among all actions (the policy's own included), else the policy."""

    policy: ObservationPolicy
    epsilon: float

    @property
    def name(self) -> str:
        return f"{self.policy.name}, softened"

    @property
    def text(self) -> str | None:
        return self.policy.text

    @property
    def by_order(self) -> bool:
        return self.policy.by_order

    @property
    def by_column(self) -> str | None:
        return self.policy.by_column

    def bind(self, observation_names: tuple[str, ...], encoding: Encoding | None = None) -> Softened:
        return replace(self, policy=self.policy.bind(observation_names, encoding))

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        inner = self.policy.choices(observations, labels)
        every = dict.fromkeys(labels) | dict.fromkeys(inner.labels)
        return inner.softened(self.epsilon, tuple(every))


@dataclass(frozen=True)
class Greedy(ObservationPolicy):
    """Always the most probable action of another policy."""

    policy: ObservationPolicy

    @property
    def name(self) -> str:
        return f"{self.policy.name}, greedy"

    @property
    def text(self) -> str | None:
        return self.policy.text

    @property
    def by_order(self) -> bool:
        return self.policy.by_order

    @property
    def by_column(self) -> str | None:
        return self.policy.by_column

    def bind(self, observation_names: tuple[str, ...], encoding: Encoding | None = None) -> Greedy:
        return replace(self, policy=self.policy.bind(observation_names, encoding))

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        return self.policy.choices(observations, labels).greedy()


def epsilon_greedy(policy: ObservationPolicy, epsilon: float) -> Softened:
    """The most probable action of `policy`, or with probability `epsilon` a uniform draw among all."""
    return Softened(Greedy(policy), epsilon)


@dataclass(frozen=True)
class FirstColumns(ObservationPolicy):
    """A policy in a log that has further columns, after its own, which it does not look at."""

    policy: ObservationPolicy
    count: int

    @property
    def name(self) -> str:
        return self.policy.name

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        return self.policy.choices(np.ascontiguousarray(observations[:, : self.count]), labels)


@dataclass(frozen=True)
class Widened(ObservationPolicy):
    """A policy where columns that tell nothing are left out: it is shown states as the log has them."""

    policy: ObservationPolicy
    columns: Informative

    @property
    def name(self) -> str:
        return self.policy.name

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        return self.policy.choices(self.columns.widened(observations), labels)
