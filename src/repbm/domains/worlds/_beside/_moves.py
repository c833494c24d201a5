"""Where tables of chances lead: expectations and draws that cost what is possible, not what is written down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False)
class Moves:
    """Rows of chances, most of them 0."""

    chances: csr_matrix
    ladder: Float[np.ndarray, " rungs"]
    """All chances that are not 0, one row after the other, summed up from 0 on."""

    @classmethod
    def of(cls, rows: Float[np.ndarray, "rows states"]) -> Moves:
        chances = csr_matrix(rows)
        return cls(chances, np.concatenate([[0.0], np.cumsum(chances.data)]))

    def expected(self, values: Float[np.ndarray, " states"]) -> Float[np.ndarray, " rows"]:
        """The mean of the values of where each row leads."""
        return self.chances @ values

    def drawn(self, rows: Int[np.ndarray, " batch"], generator: np.random.Generator) -> Int[np.ndarray, " batch"]:
        """Where these rows lead."""
        starts = self.chances.indptr
        low, high = self.ladder[starts[rows]], self.ladder[starts[rows + 1]]
        height = low + generator.random(len(rows)) * (high - low)
        found = np.searchsorted(self.ladder, height, side="right") - 1
        # Rounding may lift the last heights of a row to the first of the next.
        return self.chances.indices[np.minimum(found, starts[rows + 1] - 1)]
