"""How far the log follows a policy: factual and counterfactual steps, marginal weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from repbm.core import InputError
from repbm.data._segments import Block, StepValues, cumulative_products, log_products, over_blocks
from repbm.data._trajectories import Trajectories


class ImportanceWeights(NamedTuple):
    """w_t = prod pi / mu over steps 0 ... t, over its mean at every step, finished episodes with their last weight."""

    weights: Float[np.ndarray, " steps"]
    effective_episodes: Float[np.ndarray, " longest"]


@dataclass(frozen=True, eq=False)
class Support:
    """Factual and counterfactual steps of a log under a policy.

    With p_t the probability that the policy gives the logged action of step t (0 or 1 for a deterministic
    policy), f_t = p_0 ... p_t and c_t = p_0 ... p_{t-1} (1 - p_t): for a deterministic policy, whether the log agrees
    with it up to and including t, and whether it first disagrees at t. Sums over episodes count only those
    that have a step t; u_t divides by all n episodes.
    """

    data: Trajectories
    logged: StepValues
    factual_count: Float[np.ndarray, " longest"]
    counterfactual_count: Float[np.ndarray, " longest"]
    factual_squares: Float[np.ndarray, " longest"]
    """Sums over episodes of f_t, c_t and f_t^2."""
    deterministic: bool = True
    """Whether the policy gives every logged action the probability 0 or 1."""
    importance: ImportanceWeights | None = None
    """Of a policy that draws its actions, where the probabilities of the logged ones are known."""

    @property
    def alive(self) -> Int[np.ndarray, " longest"]:
        return self.data.alive

    @property
    def u(self) -> Float[np.ndarray, " longest"]:
        """u_t = (sum over episodes of f_t) / n."""
        return self.factual_count / len(self.data)

    @property
    def effective_episodes(self) -> Float[np.ndarray, " longest"]:
        """(sum f_t)^2 / sum f_t^2 over the episodes that have a step t; 0 where none follows the policy."""
        zeros = np.zeros_like(self.factual_squares)
        return np.divide(self.factual_count**2, self.factual_squares, out=zeros, where=self.factual_squares > 0)

    @cached_property
    def factual(self) -> Float[np.ndarray, " steps"]:
        """f_t of every logged step."""
        return cumulative_products(self.logged, self.data.offsets)

    @cached_property
    def counterfactual(self) -> Float[np.ndarray, " steps"]:
        """c_t of every logged step."""
        return _counterfactual(self.factual, self.logged(slice(None)), self.data.starts)

    @cached_property
    def marginal_weights(self) -> Float[np.ndarray, " steps"]:
        """f_t / u_t of every logged step; 0 where u_t is 0."""
        u = self.u[self.data.steps]
        return np.divide(self.factual, u, out=np.zeros_like(u), where=u > 0)

    @property
    def policy_weights(self) -> ImportanceWeights:
        """How much every logged step counts in the risk under the policy, and how many episodes that rests on.

        f_t / u_t for a deterministic policy, which needs no behavior. For one that draws its actions the probability of
        the logged ones alone would count likely actions twice: there the importance weights. They are 1 where policy
        and behavior are the same, so that both risks are.
        """
        if self.deterministic:
            return ImportanceWeights(self.marginal_weights, self.effective_episodes)
        if self.importance is None:
            raise InputError(
                "the risk under a policy that draws its actions needs the probability of each logged action",
                fix="add a column behavior_prob, or ask for am, which needs none",
            )
        return self.importance

    @property
    def last_supported_step(self) -> int | None:
        """The last step that some episode still reaches by the policy's own actions; None if not even step 0."""
        reached = np.flatnonzero(self.factual_count > 0)
        return int(reached[-1]) if len(reached) else None


def support(data: Trajectories, logged: StepValues) -> Support:
    """The support of a policy that gives the logged action of each step the probability `logged`."""
    steps, longest = data.steps, data.longest

    def work(block: Block) -> np.ndarray:
        factual, counterfactual = followed(logged(block.entries), block.offsets)
        parts = (factual, counterfactual, factual**2)
        return np.stack([np.bincount(steps[block.entries], part, longest) for part in parts])

    factual, counterfactual, squares = sum(over_blocks(work, data.offsets), start=np.zeros((3, longest)))
    return Support(data, logged, factual, counterfactual, squares)


def followed(
    logged: Float[np.ndarray, " steps"], offsets: Int[np.ndarray, " ends"]
) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
    """f_t and c_t of steps whose logged actions the policy gives these probabilities."""
    factual = np.exp(log_products(logged, offsets))
    return factual, _counterfactual(factual, logged, offsets[:-1])


def _counterfactual(
    factual: Float[np.ndarray, " steps"], logged: Float[np.ndarray, " steps"], starts: Int[np.ndarray, " n"]
) -> Float[np.ndarray, " steps"]:
    # A product, not the difference of two running products: exactly 0 where p_t is 1.
    before = np.empty_like(factual)
    before[1:] = factual[:-1]
    before[starts] = 1.0
    return before * (1.0 - logged)
