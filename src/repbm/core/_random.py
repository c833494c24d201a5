"""Random streams: the same seed and name give the same numbers, in any order of use."""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """An independent generator for the purpose `name` under `seed`."""
    digest = hashlib.sha256("/".join(map(str, name)).encode()).digest()
    words = np.frombuffer(digest[:16], dtype=np.uint32).tolist()
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))
