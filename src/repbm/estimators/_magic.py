"""MAGIC: how far to follow the log before believing the critic (Thomas & Brunskill 2016)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import nnls

from repbm.core import InputError, middle, resampled_counts, say, stream
from repbm.data import StepValues
from repbm.estimators._case import Case
from repbm.estimators._critic import Critic
from repbm.estimators._estimate import Estimate
from repbm.estimators._normalized import NormalizedTerms
from repbm.estimators._role import Role
from repbm.estimators._weights import Weights

_MOST_RETURNS = 20
_DRAWS = 500
_MOST_GROUPS = 500
_TABLE_CELLS = 1 << 22
_LEVEL = 0.9


@dataclass(frozen=True)
class Magic:
    """A convex blend sum_j x_j g^(j) of j-step WDR returns, with the x of the least estimated mean squared error.

    g^(j) = sum_{t<=j} gamma^t [W_t r_t - (W_t Q_t - W_{t-1} V_t)] + gamma^(j+1) W_j V_{j+1}
    runs from the critic alone (j = -1) to WDR (j the last step at which any episode has weight). x minimizes
    x'(Omega + b b')x over x >= 0, sum_j x_j = 1: Omega is the covariance of the g^(j) over episodes, b_j the distance
    of g^(j) to a 90 % interval of WDR from resampled episodes (always the same draws: no chance is left in the answer).
    `steps` are the j; None: up to 20, closer at the start. Intervals of the estimate take the x as given.
    """

    critic: Critic
    softening: float = 0.0
    steps: tuple[int, ...] | None = None
    role = Role.BLEND

    def __post_init__(self) -> None:
        if self.steps is not None and (not self.steps or min(self.steps) < -1):
            raise InputError(f"MAGIC cannot blend the steps {self.steps}", fix="give whole numbers from -1 on")

    @property
    def name(self) -> str:
        return f"{'soft-' if self.softening else ''}magic({self.critic.name})"

    def __call__(self, case: Case) -> Estimate:
        case = case.softened(self.softening)
        weights = case.weights
        data = case.data
        logged, value = self.critic(case)
        surprise = data.discounted(lambda at: data.rewards[at] - logged[at], case.discount)
        expected = data.discounted(lambda at: value[at], case.discount)
        doubly = NormalizedTerms(weights, surprise, expected)
        last = int(np.count_nonzero(weights.sums)) - 1
        steps = chosen_steps(last) if self.steps is None else np.unique(np.minimum(self.steps, last))
        returns = step_returns(doubly, steps)
        low, high = resampled_interval(doubly, canonical_order(returns, weights.log_last))
        if not (np.isfinite(returns).all() and np.isfinite([low, high]).all()):
            note = say("notes", "sums_overflow")
            return Estimate(None, None, float(weights.effective_episodes[-1]), note)
        means = returns.mean(axis=0)
        bias = means - np.clip(means, low, high)
        blend = best_blend(returns, bias)
        estimate = blended(doubly, steps, blend).estimate()
        alone = float(blend[steps == -1].sum())
        return replace(estimate, note=_note(steps, blend, last, weights), model_only=bool(alone > 1 - 1e-9))


def chosen_steps(last: int) -> Int[np.ndarray, " returns"]:
    """-1, the last step, and steps between, closer at the start, where the weights still are many."""
    lengths = np.arange(1, last + 2)
    if len(lengths) >= _MOST_RETURNS:
        lengths = np.unique(np.round(np.geomspace(1, last + 1, _MOST_RETURNS - 1)).astype(np.int64))
    return np.concatenate([[-1], lengths - 1])


def blended(
    doubly: NormalizedTerms, steps: Int[np.ndarray, " returns"], blend: Float[np.ndarray, " returns"]
) -> NormalizedTerms:
    """sum_j x_j g^(j), which is WDR with its terms scaled down step by step:

    sum_t gamma^t [ X_t W_t (r_t - Q_t) + (X_t + x_{t-1}) W_{t-1} V_t ],   X_t = sum_{j>=t} x_j.
    """
    data = doubly.weights.data
    at_step = np.bincount(steps + 1, blend, data.longest + 1)
    # X_t + x_{t-1} = X_{t-1}.
    earlier = np.cumsum(at_step[::-1])[::-1]
    beyond = earlier[1:]

    def scaled(terms: StepValues, factors: np.ndarray) -> StepValues:
        return lambda at: terms(at) * factors[data.steps[at]]

    assert doubly.before is not None
    return NormalizedTerms(doubly.weights, scaled(doubly.after, beyond), scaled(doubly.before, earlier[:-1]))


def step_returns(doubly: NormalizedTerms, steps: Int[np.ndarray, " returns"]) -> Float[np.ndarray, "episodes returns"]:
    """Every episode's contribution to every g^(j); `steps` in rising order."""
    weights, data = doubly.weights, doubly.weights.data
    assert doubly.before is not None
    everything = slice(None)
    scale = weights.normalizers
    after = weights.scaled * doubly.after(everything) * scale[data.steps]
    before = weights.before(everything) * doubly.before(everything) * np.concatenate([[1.0], scale[:-1]])[data.steps]
    # A step belongs to the first return that reaches it; those after the last of them to none.
    width = len(steps) + 1
    first = np.searchsorted(steps, data.steps)
    cell = np.repeat(np.arange(len(data)) * width, data.lengths) + first
    sums = np.bincount(cell, after + before, len(data) * width).reshape(len(data), width)
    result = np.cumsum(sums, axis=1)[:, :-1]
    for k, j in enumerate(steps.tolist()):
        longer = np.flatnonzero(data.lengths > j + 1)
        result[longer, k] += before[data.starts[longer] + j + 1]
    return result


def canonical_order(
    returns: Float[np.ndarray, "episodes returns"], log_last: Float[np.ndarray, " episodes"]
) -> Int[np.ndarray, " episodes"]:
    """An order of the episodes by what they contribute, whatever the order of the log and the unit or sign of rewards.

    Rounded: the last digits of a sum depend on the order of its terms.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        sizes = np.abs(returns) / np.abs(returns).max()
    return np.lexsort((*np.round(sizes, 9).T, np.round(log_last, 9)))


def resampled_interval(doubly: NormalizedTerms, order: Int[np.ndarray, " episodes"]) -> tuple[float, float]:
    """A percentile interval of WDR over resampled episodes, of a long log over groups of them.

    Draws go to episodes by their place in `order`, so that the order of the log does not matter. Resampled logs
    in which no episode follows the policy are left out; NaN where none is left.
    """
    n, longest = len(order), doubly.weights.data.longest
    generator = stream(0, "magic")
    count = min(n, max(50, min(_MOST_GROUPS, _TABLE_CELLS // longest)))
    groups = np.empty(n, dtype=np.int64)
    groups[order] = generator.permutation(n) % count
    counts = resampled_counts(generator, count, _DRAWS).astype(np.float64)
    values = doubly.pool(groups, count).values(counts)
    values = values[np.isfinite(values)]
    return middle(values, _LEVEL) if len(values) else (np.nan, np.nan)


def best_blend(
    returns: Float[np.ndarray, "episodes returns"], bias: Float[np.ndarray, " returns"]
) -> Float[np.ndarray, " returns"]:
    """argmin x'(Omega + b b')x over x >= 0, sum x = 1, with Omega the covariance of the mean of `returns`.

    With A'A = Omega + b b', the minimizer of |A y|^2 + (1'y - 1)^2 over y >= 0 is proportional to x: on a ray y = s x
    the least of s^2 m + (s - 1)^2 is m / (1 + m), which grows with m = x'A'Ax. So non-negative least squares is exact.
    """
    n = len(returns)
    spread = (returns - returns.mean(axis=0)) / np.sqrt(n * max(n - 1, 1))
    rows = np.vstack([np.linalg.qr(spread, mode="r"), bias])
    sizes = (rows**2).sum(axis=0)
    if sizes.min() <= 1e-24 * max(sizes.max(), (returns**2).max()):
        # A return without any error, as far as floating point tells: nothing beats it, the longest first.
        return (np.arange(len(bias)) == np.flatnonzero(sizes <= sizes.min() * (1 + 1e-9))[-1]).astype(np.float64)
    system = np.vstack([rows / np.sqrt(sizes.min()), np.ones(len(bias))])
    found, _ = nnls(system, np.append(np.zeros(len(rows)), 1.0), maxiter=1000)
    return found / found.sum()


def _note(steps: np.ndarray, blend: np.ndarray, last: int, weights: Weights) -> str:
    """Where the weight lies, the most first."""
    keys = {0: "blend_one", last: "blend_last", -1: "blend_critic"}
    ranked = [(blend[k], int(steps[k])) for k in np.argsort(-blend, kind="stable") if blend[k] >= 0.005]
    shares = ", ".join(say("notes", keys.get(j, "blend"), share=share, count=j + 1) for share, j in ranked[:3])
    return f"{shares}; {weights.vanishing}" if weights.vanishes else shares
