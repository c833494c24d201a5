"""What is done now, as a policy that can also act where no log is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.core import Label, stream
from repbm.data import Trajectories
from repbm.policies._base import Choices, ObservationPolicy
from repbm.policies._behavior_kinds import KINDS, Chances, by_frequencies

_LEARNED_STEPS = 20_000
_SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class Imitation(ObservationPolicy):
    """Does in every state what the log does in states like it, as often."""

    kind: str
    chances: Chances
    labels: tuple[Label, ...]

    @property
    def name(self) -> str:
        return "what is done now"

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        return Choices(self.labels, np.asarray(self.chances(observations), dtype=np.float64))


def imitate(data: Trajectories, seed: int = 0) -> Imitation:
    """The kind under which the actions of a held-out fifth of the steps are most likely, learned from the others."""
    chosen = np.sort(stream(seed, "imitation").permutation(len(data.rewards))[:_LEARNED_STEPS])
    x, codes, actions = data.observations[chosen], data.actions.codes[chosen], len(data.actions.labels)
    # Whole stretches of the log are held out: neighbors in time are too much alike.
    kept = np.arange(len(chosen)) * 5 // len(chosen) == 4
    if kept.all() or not kept.any():
        return Imitation("frequencies", by_frequencies(x, codes, actions), data.actions.labels)
    fitted = {name: kind(x[~kept], codes[~kept], actions) for name, kind in KINDS.items()}
    odds = {name: chances(x[kept])[np.arange(kept.sum()), codes[kept]] for name, chances in fitted.items()}
    best = max(odds, key=lambda name: np.log(np.maximum(odds[name], _SMALLEST)).mean())
    return Imitation(best, fitted[best], data.actions.labels)
