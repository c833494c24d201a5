"""Products of Chebyshev polynomials up to a total degree."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from jaxtyping import Float, Int

_MOST_FEATURES = 400


@cache
def exponents(dimensions: int, degree: int) -> Int[np.ndarray, "features dimensions"]:
    """The degree of every dimension in every feature, features in order of their total degree."""
    rows = [
        np.bincount(np.asarray(chosen, dtype=np.int64), minlength=dimensions)
        for total in range(degree + 1)
        for chosen in combinations_with_replacement(range(dimensions), total)
    ]
    return np.asarray(rows).reshape(len(rows), dimensions)


def highest_degree(dimensions: int, observations: int, limit: int = 12) -> int:
    """The highest degree whose features are not too many: for the log's size, and at all."""
    most = min(_MOST_FEATURES, observations // 10)
    degree = 1
    while degree < limit and _count(dimensions, degree + 1) <= most:
        degree += 1
    return degree


def _count(dimensions: int, degree: int) -> int:
    """How many monomials of `dimensions` variables have a total degree of at most `degree`."""
    result = 1
    for k in range(1, degree + 1):
        result = result * (dimensions + k) // k
    return result


def features(positions: Any, powers: Any, numpy: Any, highest: int | None = None) -> Any:
    """Every feature at positions in the box, in NumPy or in JAX; positions outside count as its border.

    Computed feature by feature as long rows, which is fast to run and small to compile. `highest` is the largest power,
    where the powers are not known when the code is compiled.
    """
    inside = numpy.clip(positions, -1.0, 1.0).T
    chebyshev = [numpy.ones_like(inside), inside]
    for _ in range((int(powers.max(initial=0)) if highest is None else highest) - 1):
        chebyshev.append(2 * inside * chebyshev[-1] - chebyshev[-2])
    if numpy is np:
        return _products(chebyshev, powers).T
    stacked = numpy.stack(chebyshev)
    result = stacked[powers[:, 0], 0]
    for k in range(1, powers.shape[1]):
        result = result * stacked[powers[:, k], k]
    return result.T


def _products(
    chebyshev: list[Float[np.ndarray, "dimensions batch"]], powers: Int[np.ndarray, "features dimensions"]
) -> Float[np.ndarray, "features batch"]:
    result = np.empty((len(powers), chebyshev[0].shape[1]))
    for f, (shorter, factors) in enumerate(_recipe(powers.astype(np.int64).tobytes(), powers.shape)):
        known = 1.0 if shorter is None else result[shorter]
        if not factors:
            result[f] = known
        for power, column in factors:
            known = np.multiply(known, chebyshev[power][column], out=result[f])
    return result


@lru_cache(maxsize=1 << 8)
def _recipe(stored: bytes, shape: tuple[int, int]) -> list[tuple[int | None, list[tuple[int, int]]]]:
    """One multiplication a feature: the one without its last dimension, times that; more where that one is missing.

    For every feature an earlier one to start from, if there is, and the powers and columns that it lacks.
    """
    rows = [tuple(row) for row in np.frombuffer(stored, np.int64).reshape(shape).tolist()]
    place = {row: f for f, row in enumerate(rows)}
    result: list[tuple[int | None, list[tuple[int, int]]]] = []
    for f, row in enumerate(rows):
        used = [(power, column) for column, power in enumerate(row) if power]
        shorter = f
        if len(used) > 1:
            last = used[-1][1]
            shorter = place.get((*row[:last], *(0 for _ in row[last:])), f)
        result.append((shorter, used[-1:]) if shorter < f else (None, used))
    return result
