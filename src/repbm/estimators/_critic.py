"""Critics: what doubly robust estimators lean on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from repbm.core import InputError
from repbm.estimators._case import Case
from repbm.policies import ObservationPolicy, Policy


@runtime_checkable
class Critic(Protocol):
    """Knows, or has learned, what actions are worth. `name` is its label in tables."""

    @property
    def name(self) -> str: ...

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        """At every logged step, Q_t of the logged action and V_t of the case's policy from t on."""
        ...

    def initial(self, case: Case) -> StateValues:
        """V_0 of the case's policy for the initial state of every episode."""
        ...

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        """V_0 of the case's policy for any initial states."""
        ...


@dataclass(frozen=True, eq=False)
class StateValues:
    """Values of initial states, and what is to be noted of them."""

    values: Float[np.ndarray, " episodes"]
    note: str = ""


@dataclass(frozen=True)
class ZeroCritic:
    """Knows nothing: doubly robust estimators become per-decision importance sampling."""

    name: str = "zero"

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        return np.zeros(len(case.data.rewards)), np.zeros(len(case.data.rewards))

    def initial(self, case: Case) -> StateValues:
        return self.values_of(case, case.data.initial_observations)

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        return StateValues(np.zeros(len(states)))


@dataclass(frozen=True)
class FunctionCritic:
    """Q_t(s, a) from a function of (n, d) observations and n steps t to (n, A) values in the log's action codes.

    V_t(s) = sum_a pi(a | s) Q_t(s, a).
    """

    function: Callable[
        [Float[np.ndarray, "batch dimensions"], Int[np.ndarray, " batch"]],
        Float[np.ndarray, "batch actions"],
    ]
    name: str = "critic"

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        data, decisions = case.data, case.decisions
        if decisions.matrix is None:
            raise InputError("a doubly robust estimator needs the policy's probabilities of all actions")
        values = np.asarray(self.function(data.observations, data.steps), dtype=np.float64)
        expected = (len(data.rewards), len(decisions.labels))
        if values.shape != expected:
            raise InputError(f"critic {self.name} returns shape {values.shape}", fix=f"return shape {expected}")
        if not np.isfinite(values).all():
            raise InputError(f"critic {self.name} returns a value that is not a finite number")
        logged = values[np.arange(len(values)), data.actions.codes]
        return logged, np.einsum("ka,ka->k", decisions.matrix(), values)

    def initial(self, case: Case) -> StateValues:
        return StateValues(self(case)[1][case.data.starts])

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        return StateValues(
            np.einsum(
                "ka,ka->k",
                acting(case.policy, self.name).probabilities(states, case.decisions.labels),
                self.function(states, np.zeros(len(states), dtype=np.int64)),
            )
        )


def acting(policy: Policy, who: str) -> ObservationPolicy:
    """The policy, if it can act in states that are not in the log."""
    if isinstance(policy, ObservationPolicy):
        return policy
    raise InputError(
        f"{who} needs a policy that can act in any state, and this one is known at logged steps only",
        fix="give the policy as a function, or use importance sampling",
    )
