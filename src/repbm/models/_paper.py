"""The settings of the published fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repbm.models.objectives._distances import LinearMMD
from repbm.models.objectives._objective import Objective


@dataclass(frozen=True)
class PaperSettings:
    """The settings behind the published figures: CartPole by default.

    MountainCar: alpha 0.1, batch 16, batches 50, input_scales (1, 10), weight_decay 5e-5. HIV: representation 64,
    layers 2, alpha 0.1, batch 40, standard_rewards (to mean 0 and deviation 1 over the training episodes; as published
    with data of the evaluated policy, which nobody has). `alpha` is for objectives with both risks that bring no
    distance of their own.
    """

    representation: int = 16
    layers: int = 1
    alpha: float = 0.01
    batch: int = 64
    epochs: int = 100
    batches: int = 100
    learning_rate: float = 0.01
    input_scales: tuple[float, ...] | None = None
    weight_decay: float = 0.0
    standard_rewards: bool = False
    training_share: float = 0.9

    def completed(self, objective: Objective) -> Objective:
        """RepBM's objective with the published distance, the squared linear discrepancy; AM and AM(pi) have none."""
        if objective.ipm is not None or not (objective.behavior and objective.target):
            return objective
        return replace(objective, alpha=self.alpha, ipm=LinearMMD(squared=True))
