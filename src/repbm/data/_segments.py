"""Operations within the segments of a flat array: segment k is `values[offsets[k]:offsets[k + 1]]`.

No segment is empty. All sums run in float64.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int, Num, Shaped


def totals(values: Num[np.ndarray, " steps"], offsets: Int[np.ndarray, " ends"]) -> Float[np.ndarray, " n"]:
    """The sum of every segment."""
    return np.add.reduceat(values, offsets[:-1], dtype=np.float64)


def cumulative(
    values: Num[np.ndarray, " steps"], offsets: Int[np.ndarray, " ends"]
) -> Float[np.ndarray, " steps"]:
    """Running sums that start anew in every segment.

    Each segment's first entry also takes back the total of the segment before it. The running sum
    then returns to zero at every border, and rounding stays of the size of one segment's sum however
    long the array is, where a running sum minus its value at the border loses digits with the length.
    """
    restarted = np.array(values, dtype=np.float64)
    restarted[offsets[1:-1]] -= totals(values, offsets)[:-1]
    return np.cumsum(restarted, out=restarted)


def cumulative_log(
    factors: Float[np.ndarray, " steps"], offsets: Int[np.ndarray, " ends"]
) -> Float[np.ndarray, " steps"]:
    """The logarithm of running products that start anew in every segment; -inf once a factor was 0."""
    zero = factors == 0
    if not zero.any():
        return cumulative(np.log(factors), offsets)
    logs = cumulative(np.log(np.where(zero, 1.0, factors)), offsets)
    logs[cumulative(zero, offsets) > 0.5] = -np.inf
    return logs


def indices(offsets: Int[np.ndarray, " ends"]) -> Int[np.ndarray, " steps"]:
    """The place of every entry within its own segment: 0, 1, 2, ..., 0, 1, ..."""
    place = np.ones(int(offsets[-1]), dtype=np.int64)
    place[0] = 0
    place[offsets[1:-1]] = 1 - np.diff(offsets[:-1])
    return np.cumsum(place, out=place)


def gather(offsets: Int[np.ndarray, " ends"], chosen: Shaped[np.ndarray, " m"]) -> Int[np.ndarray, " picked"]:
    """Flat positions of the entries of the chosen segments, in the order chosen."""
    starts, lengths = offsets[chosen], np.diff(offsets)[chosen]
    fresh = np.concatenate([[0], np.cumsum(lengths)])
    return indices(fresh) + np.repeat(starts, lengths)
