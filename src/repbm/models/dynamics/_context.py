"""What every precise fit starts from, and what it adds to its dynamics to make a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from repbm.core import InputError, stream
from repbm.data import Support, Trajectories
from repbm.models._model import Dynamics, Model, Noise
from repbm.models.objectives._objective import Objective
from repbm.models.parts._reward_fit import fit_reward
from repbm.models.parts._saturation import Saturation, find_saturation
from repbm.models.parts._termination import ends_are_shown, fit_termination
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TRUST, TransitionTable


@dataclass(frozen=True, eq=False)
class FitContext:
    """The transitions of a log with their weights, a tenth of its episodes held out, and its saturation.

    `smooth` says from which steps a smooth model can learn what follows: it was logged, and no stop decided it.
    """

    data: Trajectories
    sample: TransitionTable
    weights: Float[np.ndarray, " steps"]
    held_out: Bool[np.ndarray, " steps"]
    smooth: Bool[np.ndarray, " steps"]
    saturation: Saturation
    box: Range

    @classmethod
    def of(
        cls, data: Trajectories, support: Support | None, objective: Objective, horizon: int, seed: int
    ) -> FitContext:
        sample = TransitionTable.of(data, support if objective.target or objective.balances else None, TRUST, horizon)
        weights = objective.weights(sample)
        if not (weights > 0).any():
            raise InputError(
                f"{objective.name} is not defined: no episode follows the policy even at its first step",
                fix="use repbm or am, which also learn from the other episodes",
            )
        saturation, decided = find_saturation(sample)
        smooth = sample.followed & ~decided.any(axis=1)
        return cls(data, sample, weights, _held_out(data, sample, seed), smooth, saturation, Range.of(sample))

    def model(self, dynamics: Dynamics, noise: Noise | None, horizon: int) -> Model:
        """The dynamics with saturation, reward and termination of the log."""
        on_arrival = ends_are_shown(self.sample)
        return Model(
            dynamics=dynamics,
            saturation=self.saturation,
            reward=fit_reward(self.sample, self.weights, self.held_out, self.box),
            termination=fit_termination(self.sample, self.box, on_arrival),
            noise=noise,
            low=self.box.center - self.box.reach,
            high=self.box.center + self.box.reach,
            labels=self.data.actions.labels,
            observation_names=self.data.observation_names,
            ends_on_arrival=on_arrival,
            horizon=horizon,
        )


def _held_out(data: Trajectories, sample: TransitionTable, seed: int, share: float = 0.1) -> Bool[np.ndarray, " steps"]:
    """A random tenth of the episodes, at least one; of a single episode, a tenth of its steps."""
    generator = stream(seed, "held-out")
    if len(data) == 1:
        return generator.random(len(sample)) < share
    chosen = np.zeros(len(data), dtype=bool)
    chosen[generator.permutation(len(data))[: max(1, round(share * len(data)))]] = True
    return chosen[sample.episodes]
