"""What an estimator answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from repbm.core import say
from repbm.estimators._case import Case
from repbm.estimators._individuals import IndividualValues
from repbm.estimators._role import Role


@runtime_checkable
class Pooled(Protocol):
    """Sums over groups of episodes, from which the estimate can be made again with the groups re-counted."""

    def values(self, counts: Float[np.ndarray, "draws groups"]) -> Float[np.ndarray, " draws"]:
        """The estimate if group g were in the log `counts[:, g]` times; NaN where it is not defined."""
        ...


@dataclass(frozen=True, eq=False)
class Estimate:
    """The value of a policy: the mean of one contribution an episode.

    `value` is None where the log does not define it; `note` then says why. Contributions are independent
    where none depends on other episodes; self-normalised ones are not, and carry `pool`, which sums them over
    groups of episodes (given one group number an episode and the number of groups) so that episodes can be
    resampled. `individual` values are there where the estimator answers for a single initial state. An estimate that is
    `model_only` rests on a critic alone: its contributions tell nothing of the critic's own error.
    """

    value: float | None
    contributions: Float[np.ndarray, " episodes"] | None
    effective_episodes: float
    note: str = ""
    pool: Callable[[Int[np.ndarray, " episodes"], int], Pooled] | None = None
    individual: Float[np.ndarray, " episodes"] | None = None
    model_only: bool = False
    critic_error: float = 0.0
    """A standard error that the contributions do not show: that of the critic behind them."""

    individuals: IndividualValues | None = None
    """More about the individual values, where it is known without fitting again."""
    linearized: bool = False
    """Contributions of a normalized estimate that contain what normalizing does: they are nearly independent."""

    @property
    def independent(self) -> bool:
        return self.pool is None and not self.linearized

    @classmethod
    def of_contributions(
        cls,
        contributions: Float[np.ndarray, " episodes"],
        effective_episodes: float,
        note: str = "",
        individual: Float[np.ndarray, " episodes"] | None = None,
        model_only: bool = False,
        critic_error: float = 0.0,
        linearized: bool = False,
    ) -> Estimate:
        """An estimate whose contributions are independent."""
        with np.errstate(invalid="ignore"):
            value = float(contributions.mean())
        if not np.isfinite(value):
            return cls(None, None, effective_episodes, say("notes", "weights_overflow"))
        return cls(
            value,
            contributions,
            effective_episodes,
            note,
            individual=individual,
            model_only=model_only,
            critic_error=critic_error,
            linearized=linearized,
        )


@runtime_checkable
class Estimator(Protocol):
    """`name` is its label in tables, `role` says what it is: answers, defaults and reports go by it."""

    @property
    def name(self) -> str: ...

    @property
    def role(self) -> Role: ...

    def __call__(self, case: Case) -> Estimate: ...
