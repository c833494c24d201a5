"""Sums of importance weights over groups of episodes, all in one pass over the steps, while these are at hand.

Weights that must be kept by scales (see `Weights`) are left to those that look at every step several times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from repbm.data import Block, followed, log_products, over_blocks
from repbm.estimators._case import Case
from repbm.estimators._weights import LARGEST_LOG, carried_weights, log_reach

_BLOCK_STEPS = 1 << 16


class PlainSums(NamedTuple):
    """Of one softening: w_t and discount^t w_t r_t by group and step, w_t^2 by step, w_{L-1} of every episode."""

    sums: Float[np.ndarray, "groups longest"]
    after: Float[np.ndarray, "groups longest"]
    squares: Float[np.ndarray, " longest"]
    last: Float[np.ndarray, " episodes"]


class OnePass(NamedTuple):
    """Sums of f_t and c_t (see `Support`), and of weights by softening."""

    factual: Float[np.ndarray, " longest"]
    counterfactual: Float[np.ndarray, " longest"]
    weights: dict[float, PlainSums]


def one_pass(
    case: Case, groups: Int[np.ndarray, " episodes"], count: int, softenings: tuple[float, ...]
) -> OnePass | None:
    """None where weights are too far from 1 to be summed as they are."""
    data, behavior, longest = case.data, case.data.behavior, case.data.longest
    assert behavior is not None
    steps, rewards, own = data.steps, case.rewards, case.decisions.logged
    logged = [case.softened(each).decisions.logged for each in softenings]
    last = np.empty((len(logged), len(data)))
    shapes = [(longest,), (longest,), *[(count, longest), (count, longest), (longest,)] * len(logged)]

    def work(block: Block) -> list[np.ndarray] | None:
        at = block.entries
        step = steps[at].astype(np.intp)
        cell = np.repeat(groups[block.segments] * longest, np.diff(block.offsets)) + step
        earned, known = rewards(at), behavior[at]
        result = [np.bincount(step, part, longest) for part in followed(own(at), block.offsets)]
        for k, probability in enumerate(logged):
            weights = log_products(probability(at) / known, block.offsets)
            if log_reach(weights) > LARGEST_LOG:
                return None
            with np.errstate(over="ignore", invalid="ignore"):
                np.exp(weights, out=weights)
                last[k, block.segments] = weights[block.offsets[1:] - 1]
                result += [np.bincount(cell, part, count * longest) for part in (weights, weights * earned)]
                result.append(np.bincount(step, weights**2, longest))
        return result

    totals = [np.zeros(shape) for shape in shapes]
    # Blocks much larger than the tables that each of them fills.
    for parts in over_blocks(work, data.offsets, size=max(_BLOCK_STEPS, 4 * count * longest)):
        if parts is None:
            return None
        for total, part in zip(totals, parts, strict=True):
            total += part.reshape(total.shape)
    found = {}
    for k, each in enumerate(softenings):
        sums, after, squares = totals[2 + 3 * k : 5 + 3 * k]
        sums += carried_weights(data, last[k], groups, count)
        squares += carried_weights(data, last[k] ** 2, np.zeros_like(groups), 1)[0]
        found[each] = PlainSums(sums, after, squares, last[k])
    return OnePass(totals[0], totals[1], found)
