"""Several random streams at once: rows that belong to different streams go together in one array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Generators, each for its own rows, one after the other: it draws what it would draw alone."""

    generators: Sequence[np.random.Generator]
    counts: Int[np.ndarray, " generators"]
    """How many rows each of them has."""

    def random(self, shape: tuple[int, ...]) -> Float[np.ndarray, " rows *rest"]:
        return self._joined(lambda generator, count: generator.random((count, *shape[1:])))

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Int[np.ndarray, " rows *rest"]:
        return self._joined(lambda generator, count: generator.integers(low, high, (count, *shape[1:])))

    def _joined(self, drawn: Callable[[np.random.Generator, int], np.ndarray]) -> np.ndarray:
        return np.concatenate([drawn(*pair) for pair in zip(self.generators, self.counts.tolist(), strict=True)])
