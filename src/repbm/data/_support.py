"""How far the log follows a policy: factual and counterfactual steps, marginal weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from repbm.data._segments import cumulative_log
from repbm.data._trajectories import Trajectories


@dataclass(frozen=True, eq=False)
class Support:
    """Factual and counterfactual steps of a log under a policy.

    With p_t the probability that the policy gives the logged action of step t (0 or 1 for a deterministic
    policy), `factual` is f_t = p_0 ... p_t and `counterfactual` c_t = p_0 ... p_{t-1} (1 - p_t): for a
    deterministic policy, whether the log agrees with it up to and including t, and whether it first
    disagrees at t. Sums over episodes count only those that have a step t; u_t divides by all n episodes.
    """

    data: Trajectories
    factual: Float[np.ndarray, " steps"]
    counterfactual: Float[np.ndarray, " steps"]

    @cached_property
    def alive(self) -> Int[np.ndarray, " longest"]:
        return self.data.alive

    @cached_property
    def factual_count(self) -> Float[np.ndarray, " longest"]:
        """Sum over episodes of f_t."""
        return np.bincount(self.data.steps, self.factual, self.data.longest)

    @cached_property
    def counterfactual_count(self) -> Float[np.ndarray, " longest"]:
        """Sum over episodes of c_t."""
        return np.bincount(self.data.steps, self.counterfactual, self.data.longest)

    @property
    def u(self) -> Float[np.ndarray, " longest"]:
        """u_t = (sum over episodes of f_t) / n."""
        return self.factual_count / len(self.data)

    @cached_property
    def marginal_weights(self) -> Float[np.ndarray, " steps"]:
        """f_t / u_t of every logged step; 0 where u_t is 0."""
        u = self.u[self.data.steps]
        return np.divide(self.factual, u, out=np.zeros_like(u), where=u > 0)

    @property
    def last_supported_step(self) -> int | None:
        """The last step that some episode still reaches by the policy's own actions; None if not even step 0."""
        reached = np.flatnonzero(self.factual_count > 0)
        return int(reached[-1]) if len(reached) else None


def support(data: Trajectories, logged: Float[np.ndarray, " steps"]) -> Support:
    """The support of a policy that gives the logged action of each step the probability `logged`."""
    factual = np.exp(cumulative_log(logged, data.offsets))
    before = np.empty_like(factual)
    before[1:] = factual[:-1]
    before[data.starts] = 1.0
    # The product, not the difference of the two running products: exactly 0 where p_t is 1.
    return Support(data, factual, before * (1.0 - logged))
