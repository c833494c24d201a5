"""Few array lengths for compiled code: every new one is compiled anew."""

from __future__ import annotations

import numpy as np

_LEAST = 1 << 10
"""Padding costs next to nothing, a compilation costs seconds: small logs of any size share one."""


def bucket(count: int, least: int = _LEAST) -> int:
    """The next power of two, from `least` on."""
    return max(least, 1 << max(count - 1, 0).bit_length())


def padded(values: np.ndarray, length: int, fill: int = 0) -> np.ndarray:
    """The values, followed by `fill` up to the length."""
    result = np.full((length, *values.shape[1:]), fill, dtype=values.dtype)
    result[: len(values)] = values
    return result
