"""What is expected of policies that others wrote, and kept from doing harm."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label

if TYPE_CHECKING:
    from repbm.policies._base import ObservationPolicy

_ASKED_AGAIN = 512
_ROUNDING = 1e-3
_TIES = 0.01
"""Of single precision, in other batches: how far probabilities may move, and the share of rows that may change."""


@contextmanager
def prints_aside() -> Iterator[None]:
    """What is printed goes to standard error: standard output is for results."""
    with redirect_stdout(sys.stderr):
        yield


def check_repeats(
    policy: ObservationPolicy, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]
) -> None:
    """Refuse a policy that answers otherwise when some of these observations are asked about again, in another batch.

    Usually it draws actions at random instead of giving their probabilities.
    """
    count = min(len(observations), _ASKED_AGAIN)
    some = observations[np.linspace(0, len(observations) - 1, count).astype(int)]
    once, again = policy.choices(some.copy(), labels), policy.choices(some[::-2].copy(), labels)
    every = tuple(dict.fromkeys([*once.labels, *again.labels]))
    apart = np.abs(once.matrix(every)[::-2] - again.matrix(every)).max(axis=1, initial=0.0) > _ROUNDING
    if apart.mean() > _TIES:
        raise InputError(
            f"policy {policy.name} answers differently when it is asked again about the same observations",
            fix="let each answer depend on its own observation alone; where it draws at random, return the "
            "probabilities of all actions instead",
        )
