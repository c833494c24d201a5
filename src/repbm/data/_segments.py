"""Operations within the segments of a flat array: segment k is `values[offsets[k]:offsets[k + 1]]`.

No segment is empty. All sums run in float64. Long arrays are worked through in blocks of whole segments small enough
for the processor's cache: what lies between input and result never exists at full length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float, Int, Num, Shaped

from repbm.core import in_threads

_BLOCK = 1 << 16

Result = TypeVar("Result")

StepValues = Callable[[slice], Num[np.ndarray, " block"]]
"""The entries of a flat array at a slice of it, computed when asked for."""


class Block(NamedTuple):
    """A run of whole segments: which segments, which entries, and their offsets counted from the block's start."""

    segments: slice
    entries: slice
    offsets: Int[np.ndarray, " ends"]


def blocks(offsets: Int[np.ndarray, " ends"], size: int) -> Iterator[Block]:
    """Cut the segments into runs of about `size` entries (a longer segment is a block of its own)."""
    marks = np.arange(size, int(offsets[-1]), size)
    borders = each_once(np.concatenate([[0], np.searchsorted(offsets, marks), [len(offsets) - 1]]))
    for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        start, stop = int(offsets[first]), int(offsets[last])
        yield Block(slice(first, last), slice(start, stop), offsets[first : last + 1] - start)


def over_blocks(
    work: Callable[[Block], Result], offsets: Int[np.ndarray, " ends"], size: int = _BLOCK
) -> Iterator[Result]:
    """`work` on every block, results in order; NumPy lets go of the interpreter, so threads share the work."""
    cut = list(blocks(offsets, size))
    if len(cut) == 1:
        return iter([work(cut[0])])
    return in_threads(work, cut)


def totals(terms: StepValues, offsets: Int[np.ndarray, " ends"]) -> Float[np.ndarray, " n"]:
    """The sum of every segment; terms beyond floating point give inf or NaN, without a warning."""

    def work(block: Block) -> Float[np.ndarray, " m"]:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.add.reduceat(terms(block.entries), block.offsets[:-1], dtype=np.float64)

    return np.concatenate(list(over_blocks(work, offsets)))


def cumulative_products(terms: StepValues, offsets: Int[np.ndarray, " ends"]) -> Float[np.ndarray, " steps"]:
    """Running products of factors >= 0 that start anew in every segment, summed as logarithms.

    A product is exactly 0 once a factor was 0, exactly 1 while all factors are 1, and inf beyond floating point.
    """
    result = np.empty(int(offsets[-1]))

    def work(block: Block) -> None:
        with np.errstate(over="ignore"):
            np.exp(log_products(terms(block.entries), block.offsets), out=result[block.entries])

    list(over_blocks(work, offsets))
    return result


def log_products(
    factors: Float[np.ndarray, " steps"], offsets: Int[np.ndarray, " ends"]
) -> Float[np.ndarray, " steps"]:
    """Logarithms of running products that start anew in every segment; -inf once a factor was 0."""
    zero = factors == 0
    if not zero.any():
        return _cumulate(np.log(factors), offsets)
    if np.count_nonzero(zero) + np.count_nonzero(factors == 1) == len(factors):
        logs = np.zeros(len(factors))
    else:
        logs = _cumulate(np.log(np.where(zero, 1.0, factors)), offsets)
    logs[_cumulate(zero.astype(np.float64), offsets) > 0.5] = -np.inf
    return logs


def _cumulate(values: Float[np.ndarray, " steps"], offsets: Int[np.ndarray, " ends"]) -> np.ndarray:
    """Running sums that start anew in every segment, in place.

    Each segment's first entry also takes back the total of the segment before it. The running sum
    then returns to zero at every border, and rounding stays of the size of one segment's sum however
    long the array is, where a running sum minus its value at the border loses digits with the length.
    """
    sums = np.add.reduceat(values, offsets[:-1])
    values[offsets[1:-1]] -= sums[:-1]
    return np.cumsum(values, out=values)


def indices(offsets: Int[np.ndarray, " ends"]) -> Int[np.ndarray, " steps"]:
    """The place of every entry within its own segment: 0, 1, 2, ..., 0, 1, ..."""
    result = np.empty(int(offsets[-1]), dtype=np.int32)

    def work(block: Block) -> None:
        place = result[block.entries]
        place[:] = 1
        place[0] = 0
        place[block.offsets[1:-1]] = 1 - np.diff(block.offsets[:-1])
        np.cumsum(place, out=place)

    list(over_blocks(work, offsets))
    return result


def each_once(values: Int[np.ndarray, " n"]) -> Int[np.ndarray, " distinct"]:
    """Values that are in order already, each once: `np.unique` takes ten times as long."""
    return values[np.append(True, values[1:] != values[:-1])]


def gather(offsets: Int[np.ndarray, " ends"], chosen: Shaped[np.ndarray, " m"]) -> Int[np.ndarray, " picked"]:
    """Flat positions of the entries of the chosen segments, in the order chosen."""
    starts, lengths = offsets[chosen], np.diff(offsets)[chosen]
    fresh = np.concatenate([[0], np.cumsum(lengths)])
    return indices(fresh) + np.repeat(starts, lengths)


def added(one: Shaped[np.ndarray, " n"], other: Shaped[np.ndarray, " m"]) -> Shaped[np.ndarray, " longer"]:
    """Entry by entry, the shorter filled up with 0."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return longer + np.pad(shorter, (0, len(longer) - len(shorter)))
