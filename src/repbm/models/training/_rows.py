"""Logged steps as compiled training code takes them: grouped by step, padded to few lengths, ready to be drawn from."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from repbm.models.objectives._objective import Objective
from repbm.models.transitions._padding import bucket, padded
from repbm.models.transitions._table import TransitionTable

_TICKS = (1 << 31) - 1


class Draws(eqx.Module):
    """Rows drawn in proportion to their mass, by the inverse of the distribution function in whole ticks.

    Ticks of 2^-31 stay exact where a float32 sum over millions of rows would not. The rows of step t hold the ticks
    from `low[t]` to `high[t]`.
    """

    ends: Int[Array | np.ndarray, " rows"]
    low: Int[Array | np.ndarray, " longest"]
    high: Int[Array | np.ndarray, " longest"]

    @classmethod
    def of(cls, mass: Float[np.ndarray, " steps"], offsets: Int[np.ndarray, " ends"], length: int) -> Draws:
        total = mass.sum()
        ends = np.rint(np.cumsum(mass) / (total if total > 0 else 1.0) * _TICKS).astype(np.int32)
        before = np.concatenate([[0], ends]).astype(np.int32)
        return cls(padded(ends, length, _TICKS), before[offsets[:-1]], before[offsets[1:]])

    def __call__(self, key: Array, count: int, step: Int[Array, ""] | None = None) -> Int[Array, " count"]:
        """Rows, of all steps or of one; where no row has any mass, some row, for the caller to give no weight."""
        low = 0 if step is None else jnp.asarray(self.low)[step]
        high = _TICKS if step is None else jnp.asarray(self.high)[step]
        ticks = jax.random.randint(key, (count,), low, high, jnp.int32)
        return jnp.clip(jnp.searchsorted(self.ends, ticks, side="right"), 0, len(self.ends) - 1)


class Rows(eqx.Module):
    """Logged steps, those of step t from `offsets[t]` on. `outcomes` is the reward and the change of state.

    `followed` says where the change of state is known. `chosen[:choices]` are the steps from which batches of one step
    are drawn, `compared[:comparisons]` those that have factual and counterfactual episodes.
    """

    states: Float[Array | np.ndarray, "rows dimensions"]
    actions: Int[Array | np.ndarray, " rows"]
    outcomes: Float[Array | np.ndarray, "rows outputs"]
    followed: Bool[Array | np.ndarray, " rows"]
    marginal: Float[Array | np.ndarray, " rows"]
    factual: Float[Array | np.ndarray, " rows"]
    counterfactual: Float[Array | np.ndarray, " rows"]
    count: Int[Array | np.ndarray, ""]
    offsets: Int[Array | np.ndarray, " ends"]
    chosen: Int[Array | np.ndarray, " longest"]
    choices: Int[Array | np.ndarray, ""]
    compared: Int[Array | np.ndarray, " longest"]
    comparisons: Int[Array | np.ndarray, ""]
    factual_draws: Draws
    counterfactual_draws: Draws

    @classmethod
    def of(
        cls,
        table: TransitionTable,
        kept: Bool[np.ndarray, " steps"],
        states: Float[np.ndarray, "steps dimensions"],
        outcomes: Float[np.ndarray, "steps outputs"],
        followed: Bool[np.ndarray, " steps"],
        least_alive: int = 1,
        marginal: Float[np.ndarray, " steps"] | None = None,
        dtype: type = np.float32,
    ) -> Rows:
        """The kept steps of a table, with states and outcomes in the units of the network.

        Without given `marginal` weights they are f_t / u_t with u of the kept episodes alone. Batches of one step come
        from those with `least_alive` kept episodes or more.
        """
        order = np.flatnonzero(kept)[np.argsort(table.steps[kept], kind="stable")]
        steps = table.steps[order]
        longest, length = bucket(int(steps.max()) + 1), bucket(len(order))
        alive = np.bincount(steps, minlength=longest)
        offsets = np.concatenate([[0], np.cumsum(alive)])
        factual, counterfactual = table.factual[order], table.counterfactual[order]
        u = np.bincount(steps, factual, longest) / len(np.unique(table.episodes[order]))
        marginal = _shares(factual, u[steps]) if marginal is None else marginal[order]
        other = _shares(counterfactual, np.bincount(steps, counterfactual, longest)[steps])
        draws = [Draws.of(mass, offsets, length) for mass in (marginal, other)]
        comparable = np.flatnonzero((draws[0].high > draws[0].low) & (draws[1].high > draws[1].low))
        eligible = np.flatnonzero(alive >= least_alive)

        def column(values: np.ndarray, kind: type) -> np.ndarray:
            return padded(np.asarray(values[order], kind), length)

        known = followed[:, None] | (np.arange(outcomes.shape[1]) == 0)
        return cls(
            states=column(states, dtype),
            actions=column(table.actions, np.int32),
            outcomes=column(np.where(known, outcomes, 0.0), dtype),
            followed=column(followed, np.bool_),
            marginal=padded(marginal.astype(dtype), length),
            factual=padded(factual.astype(dtype), length),
            counterfactual=padded(counterfactual.astype(dtype), length),
            count=np.asarray(len(order), np.int32),
            offsets=offsets.astype(np.int32),
            chosen=padded(eligible.astype(np.int32), longest),
            choices=np.asarray(len(eligible), np.int32),
            compared=padded(comparable.astype(np.int32), longest),
            comparisons=np.asarray(len(comparable), np.int32),
            factual_draws=draws[0],
            counterfactual_draws=draws[1],
        )


def _shares(values: np.ndarray, totals: np.ndarray) -> np.ndarray:
    return np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)


class Members(eqx.Module):
    """What differs between models that are trained together: one entry an objective."""

    behavior: Float[Array | np.ndarray, " members"]
    target: Float[Array | np.ndarray, " members"]
    alpha: Float[Array | np.ndarray, "members distances longest"]
    penalty: Float[Array | np.ndarray, " members"]

    @classmethod
    def of(
        cls, objectives: Sequence[Objective], longest: int, padded_longest: int, episodes: int, dtype: type = np.float32
    ) -> Members:
        distances = distances_of(objectives)
        alpha = np.zeros((len(objectives), len(distances), padded_longest), dtype)
        for k, objective in enumerate(objectives):
            if objective.ipm is not None and objective.balances:
                # The longest episode may be among those set aside: then there are fewer steps to train on.
                each = objective.alphas(longest)[:padded_longest]
                alpha[k, distances.index(objective.ipm), : len(each)] = each
        return cls(
            behavior=np.asarray([objective.behavior for objective in objectives], dtype),
            target=np.asarray([objective.target for objective in objectives], dtype),
            alpha=alpha,
            penalty=np.asarray([objective.regularization for objective in objectives], dtype) / episodes ** (3 / 8),
        )


def distances_of(objectives: Sequence[Objective]) -> tuple:
    """The different distances that the objectives weigh."""
    return tuple(dict.fromkeys(objective.ipm for objective in objectives if objective.balances))
