"""A column of labels, kept as small integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Integer

from repbm.core import Label, as_label

_TABLE_SPAN = 1 << 16


@dataclass(frozen=True, eq=False)
class Categorical:
    """Labels of any kind as codes: entry k stands for `labels[codes[k]]`."""

    codes: Integer[np.ndarray, " entries"]
    labels: tuple[Label, ...]

    def __repr__(self) -> str:
        more = ", ..." if len(self.labels) > 6 else ""
        return f"Categorical({len(self.codes)} of {', '.join(map(repr, self.labels[:6]))}{more})"

    @classmethod
    def of(cls, values: Any, labels: Sequence[Label] = ()) -> Categorical:
        """Code `values`; the given labels keep their codes, labels not among them follow in sorted order.

        Raises ValueError when a value is neither a whole number nor text.
        """
        array = np.asarray(values)
        if array.dtype == object:
            array = np.asarray([as_label(value) for value in array.tolist()])
        if array.dtype.kind == "f":
            whole = np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2.0**63)
            if not whole.all():
                raise ValueError(f"{array[~whole][0].item()!r}, which is neither a whole number nor text")
            array = array.astype(np.int64)
        if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
            raise ValueError(f"{array.max()}, which is beyond 64 bits")
        if array.dtype.kind not in "biuUT" and array.size:
            raise ValueError(f"values of type {array.dtype} are neither whole numbers nor text")
        distinct, inverse = _distinct(array)
        found = [as_label(value) for value in distinct.tolist()]
        known = {label: code for code, label in enumerate(labels)}
        new = sorted((label for label in found if label not in known), key=lambda x: (isinstance(x, str), x))
        known |= {label: len(labels) + k for k, label in enumerate(new)}
        recode = np.asarray([known[label] for label in found], dtype=np.int32)
        return cls(recode[inverse] if len(found) else inverse.astype(np.int32), tuple(known))

    def onto(self, labels: Sequence[Label]) -> Categorical:
        """The same entries in the codes of `labels`, extended by own labels that are not among them."""
        if self.labels == tuple(labels):
            return self
        known = {label: code for code, label in enumerate(labels)}
        for label in self.labels:
            known.setdefault(label, len(known))
        recode = np.asarray([known[label] for label in self.labels], dtype=np.int32)
        return Categorical(recode[self.codes], tuple(known))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: Any) -> Categorical:
        return Categorical(self.codes[index], self.labels)

    def decoded(self) -> list[Label]:
        return [self.labels[code] for code in self.codes.tolist()]


def _distinct(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted distinct values and each entry's place among them; by table for integers of small span."""
    if array.dtype.kind == "b":
        array = array.astype(np.int8)
    if array.dtype.kind in "iu" and array.size:
        low, high = int(array.min()), int(array.max())
        if high - low < _TABLE_SPAN:
            # Small types wrap around; read as unsigned, the difference is right.
            shifted = (array - array.dtype.type(low)).view(f"u{array.itemsize}") if low else array
            present = np.zeros(high - low + 1, dtype=bool)
            present[shifted] = True
            place = (np.cumsum(present) - 1).astype(np.int32)
            return np.flatnonzero(present) + low, place[shifted]
    distinct, inverse = np.unique(array, return_inverse=True)
    return distinct, inverse
