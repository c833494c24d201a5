"""The variance of the doubly robust estimator, as a quadratic function of the critic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import InputError
from repbm.data import Trajectories, log_products
from repbm.policies import Decisions

_NEGLIGIBLE = 1e-30
_TIE = 1e-6
"""How much (V_t - Rbar_t)^2 counts beside the variance, which leaves V_t open: it decides among minimizers only."""


@dataclass(frozen=True, eq=False)
class VarianceProblem:
    """The objective as sum_k Q_k' K_k Q_k - 2 Q_k' l_k over the `rows` of the log that matter, Q_k one value an action.

    K = omega (diag(pi^2 / mu) - (1 - tie) pi pi'),  l = omega Rbar (1{a = a_t} pi / mu - (1 - tie) pi), with
    omega = gamma^(2t) w_{t-1}^2 rho_t relative to its largest.
    """

    rows: Int[np.ndarray, " rows"]
    weights: Float[np.ndarray, " rows"]
    policy: Float[np.ndarray, "rows actions"]
    inverse: Float[np.ndarray, "rows actions"]
    """pi / mu; 0 where pi is 0."""
    actions: Int[np.ndarray, " rows"]
    returns: Float[np.ndarray, " rows"]

    def quadratic(self, one: int, other: int, at: Int[np.ndarray, " block"]) -> Float[np.ndarray, " block"]:
        """K of two actions."""
        own = self.policy[at, one] * (self.inverse[at, one] if one == other else 0.0)
        return self.weights[at] * (own - (1 - _TIE) * self.policy[at, one] * self.policy[at, other])

    def linear(self, action: int, at: Int[np.ndarray, " block"]) -> Float[np.ndarray, " block"]:
        """l of an action."""
        own = np.where(self.actions[at] == action, self.inverse[at, action], 0.0)
        return self.weights[at] * self.returns[at] * (own - (1 - _TIE) * self.policy[at, action])

    @property
    def effective_rows(self) -> float:
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())


def variance_problem(
    data: Trajectories,
    decisions: Decisions,
    discount: float,
    normalized: bool = False,
    behavior: Float[np.ndarray, "steps actions"] | None = None,
) -> VarianceProblem:
    """The objective of MRDR on a log."""
    mu = _logged_behavior(data, behavior)
    ratios = decisions.logged(slice(None)) / mu
    logs = log_products(ratios, data.offsets)
    factors = ratios
    if normalized:
        sums = _log_sums(data, logs)
        ease = np.exp(np.subtract(sums[:-1], sums[1:], out=np.zeros(len(sums) - 1), where=np.isfinite(sums[1:])))
        factors = ratios * np.concatenate([[1.0], ease])[data.steps]
    returns = _weighted_returns(data, factors, discount)

    with np.errstate(divide="ignore", invalid="ignore"):
        fading = np.where(data.steps > 0, 2.0 * data.steps * np.log(discount), 0.0)
        # w_{t-1}^2 rho_t = w_t^2 / rho_t.
        weights = np.where(np.isfinite(logs), fading + 2 * logs - np.log(ratios), -np.inf)
    if not (weights > -np.inf).any():
        raise InputError(
            "MRDR is not defined: no episode follows the policy even at its first step",
            fix="use repbm, am or fqe, which also learn from the other episodes",
        )
    weights = np.exp(weights - weights.max())
    rows = np.flatnonzero(weights > _NEGLIGIBLE)
    if not np.isfinite(returns[rows]).all():
        raise InputError("MRDR is not defined: its weights exceed floating point", fix="use the normalized form")
    policy, every = _probabilities(data, decisions, rows, mu, behavior)
    inverse = np.divide(policy, every, out=np.zeros_like(policy), where=policy > 0)
    return VarianceProblem(rows, weights[rows], policy, inverse, data.actions.codes[rows], returns[rows])


def _logged_behavior(data: Trajectories, behavior: np.ndarray | None) -> np.ndarray:
    if data.behavior is not None:
        return data.behavior
    if behavior is None:
        raise InputError(
            "MRDR needs the probability with which each logged action was taken",
            fix="add a column behavior_prob, or name yours with --column behavior_prob=THEIRS",
        )
    return behavior[np.arange(len(behavior)), data.actions.codes]


def _probabilities(
    data: Trajectories, decisions: Decisions, rows: np.ndarray, mu: np.ndarray, behavior: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """pi and mu of the log's actions at these rows; pi is 0 for what the behavior never does, mu 0 where not needed."""
    if decisions.matrix is None:
        raise InputError("MRDR needs the policy's probabilities of all actions")
    count, codes, line = len(data.actions.labels), data.actions.codes[rows], np.arange(len(rows))
    policy = decisions.matrix()[rows, :count]
    others = policy.copy()
    others[line, codes] = 0.0
    if behavior is not None:
        if behavior.shape != (len(data.rewards), count):
            expected = (len(data.rewards), count)
            raise InputError(f"behavior probabilities of shape {behavior.shape}", fix=f"give shape {expected}")
        every = behavior[rows].astype(np.float64)
    elif count == 2:
        every = np.repeat(1 - mu[rows, None], 2, axis=1)
    elif not others.any():
        every = np.zeros_like(policy)
    else:
        raise InputError(
            "MRDR of a policy that is not deterministic needs the behavior probability of every action,"
            " and the log tells that of the logged one only",
            fix="give `behavior`, one row a step and one column an action, or use a deterministic policy",
        )
    every[line, codes] = mu[rows]
    return np.where(every > 0, policy, 0.0), every


def _log_sums(data: Trajectories, logs: Float[np.ndarray, " steps"]) -> Float[np.ndarray, " longest"]:
    """log sum_i w_t for every step, finished episodes with their last weight; -inf where no weight is left."""

    def pooled(place: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
        tops = np.full(count, -np.inf)
        np.maximum.at(tops, place, values)
        base = np.where(np.isfinite(tops), tops, 0.0)
        with np.errstate(divide="ignore"):
            return base + np.log(np.bincount(place, np.exp(values - base[place]), count))

    finished = pooled(data.lengths, logs[data.lasts], data.longest + 1)
    return np.logaddexp(pooled(data.steps, logs, data.longest), np.logaddexp.accumulate(finished)[:-1])


def _weighted_returns(
    data: Trajectories, factors: Float[np.ndarray, " steps"], discount: float
) -> Float[np.ndarray, " steps"]:
    """Rbar_t = r_t + gamma factor_{t+1} Rbar_{t+1}, all steps at once: after round k, of the next 2^k steps.

    Every round joins a step's sum with that of the step 2^k later; a last step carries the factor 0.
    """
    result = data.rewards.astype(np.float64)
    carry = np.empty(len(result))
    carry[:-1] = discount * factors[1:]
    carry[data.lasts] = 0.0
    span = 1
    while span < data.longest:
        with np.errstate(over="ignore", invalid="ignore"):
            further = np.where(carry[:-span] > 0, carry[:-span] * result[span:], 0.0)
            onward = np.where(carry[:-span] > 0, carry[:-span] * carry[span:], 0.0)
        result[:-span] += further
        carry[:-span] = onward
        span *= 2
    return result
