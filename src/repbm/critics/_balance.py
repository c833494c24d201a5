"""How much the risk under the policy counts in a model: chosen by its values on held-out episodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import BalanceRules, FailsElsewhere, stream
from repbm.estimators import Case, acting
from repbm.models import Candidates, Followed, Model, Objective

_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class ValueErrors:
    """What each candidate's value misses, as far as the log can check it: one contribution an episode that judges."""

    contributions: Float[np.ndarray, "candidates episodes"]

    @property
    def means(self) -> Float[np.ndarray, " candidates"]:
        return self.contributions.mean(axis=1)

    def nearest(self, evidence: float) -> int:
        """The candidate whose value misses least; the first, unless another is nearer by so many standard errors.

        With m_k the mean of candidate k, m_0^2 - m_k^2 = (m_0 - m_k)(m_0 + m_k). How far two models are apart is known
        well; whether the truth lies beyond half the way between them is not, and (m_0 + m_k) / 2 says how far it does.
        """
        means, first = self.means, self.contributions[0]
        halfway = (self.contributions + first) / 2
        count = halfway.shape[1]
        error = halfway.std(axis=1, ddof=1) / np.sqrt(count) if count > 1 else np.full(len(means), np.inf)
        gains = means[0] ** 2 - means**2
        gains[~(np.abs(halfway.mean(axis=1)) > evidence * error)] = 0.0
        # Of equal gains the first: no more weight than is of use.
        return int(np.argmax(np.maximum(gains, 0.0)))


def balanced(
    case: Case, candidates: Candidates, rewards: tuple[float, float], seed: int, rules: BalanceRules
) -> tuple[Model, Objective, str]:
    """The candidate whose value for the policy misses least on held-out episodes, what it is good at, and that in
    words."""
    weights = _weights(case)
    try:
        errors = None if weights is None else value_errors(case, candidates, weights, rewards, seed, rules)
    except FailsElsewhere:
        # The policy fails in a state that only a model imagines: whoever asks for values is told.
        errors = None
    number = 0 if errors is None else errors.nearest(rules.evidence)
    chosen = candidates.objectives[number]
    if number == 0:
        return candidates.model(0), chosen, "the same model as am: held-out episodes speak for no other"
    told = f"steps like the policy's count {1 + chosen.target / chosen.behavior:g} times"
    if chosen.balances and chosen.ipm is not None:
        told += f", representations balanced by {type(chosen.ipm).__name__}"
    return candidates.model(number), chosen, told


def value_errors(
    case: Case,
    candidates: Candidates,
    weights: Float[np.ndarray, " steps"],
    rewards: tuple[float, float],
    seed: int,
    rules: BalanceRules,
) -> ValueErrors:
    """sum_t discount^t W_t d_t of every episode that judges, d_t the surprise that a candidate leaves.

    Contributions are linearized: weights are over their mean at every step, and take from each other.
    """
    data = case.data
    rows = np.flatnonzero(candidates.judged(case.most_steps) & (weights > 0))
    weight, used = weights[rows], np.flatnonzero(candidates.folds >= 0)
    if not len(rows):
        # Nobody follows the policy: there is nothing to judge by.
        return ValueErrors(np.zeros((len(candidates.objectives), len(used))))
    if not candidates.exact:
        # Of what was seen, and of what each candidate expects.
        most = rules.most_steps / candidates.effort / (1 + len(candidates.objectives))
        rows, weight = _drawn(case, rows, weight, seed, most)
        if candidates.model(0).stochastic or not case.deterministic:
            several = int(np.clip(most // max(case.steps_left[rows].sum(), 1), 1, rules.rollouts))
            rows, weight = np.tile(rows, several), np.tile(weight / several, several)
    asked = Followed(acting(case.policy, "repbm"), case.most_steps, case.discount, rewards, seed)
    with np.errstate(over="ignore", invalid="ignore"):
        found = candidates.surprises(rows, asked)
    # What leaves the range of returns is as wrong as can be.
    most = 2 * case.most_steps * max(-rewards[0], rewards[1], 0.0)
    found = np.clip(np.nan_to_num(found, nan=most), -most, most)
    steps, powers = data.steps[rows], case.discount ** np.arange(data.longest)
    episodes = np.repeat(np.arange(len(data)), data.lengths)[rows]
    mass = np.bincount(steps, weight, data.longest) / len(used)
    result = np.empty((len(found), len(data)))
    for number, each in enumerate(found):
        mean = np.bincount(steps, weight * each, data.longest) / len(used)
        own = powers[steps] * weight * (each - mean[steps])
        result[number] = np.bincount(episodes, own, len(data)) + powers @ (mass * mean)
    return ValueErrors(result[:, used])


def _weights(case: Case) -> Float[np.ndarray, " steps"] | None:
    """How much every step counts under the policy; None where the policy does what is done anyway.

    By logged or learned probabilities of the actions, else by whether actions so far are those of the policy. A weight
    beyond the root of the number of episodes is cut off there.
    """
    if case.deterministic and bool((case.support.factual == 1).all()):
        return None
    found = case.support.policy_weights if case.data.behavior is None else case.weights.normalized
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.nan_to_num(found.weights, nan=0.0, posinf=0.0)
    if np.abs(weights - 1).max() < _SAME:
        return None
    return np.minimum(weights, np.sqrt(len(case.data)))


def _drawn(
    case: Case,
    rows: Int[np.ndarray, " some"],
    weight: Float[np.ndarray, " some"],
    seed: int,
    most: float,
) -> tuple[Int[np.ndarray, " fewer"], Float[np.ndarray, " fewer"]]:
    """Rows from which rollouts take at most so many steps, in proportion to their weights, and what each stands for."""
    cost = float(case.steps_left[rows].sum())
    if cost <= most:
        return rows, weight
    share = np.minimum(weight / weight.mean() * most / cost, 1.0)
    kept = stream(seed, "balance-rows").random(len(rows)) < share
    return rows[kept], weight[kept] / share[kept]
