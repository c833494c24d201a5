"""Residual networks as a kind of dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repbm.core import BalanceRules, FitRules, needs_networks
from repbm.data import Support, Trajectories
from repbm.models._continuous import ContinuousModel
from repbm.models.dynamics._base import Dynamics
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._functions import NetworkDynamics
from repbm.models.dynamics._kind import DynamicsKind
from repbm.models.objectives._distances import LinearMMD, RadialMMD
from repbm.models.objectives._objective import Objective
from repbm.models.training._progress import Progress


@dataclass(frozen=True)
class NetworkSettings:
    """The size of the network and the length of its training."""

    hidden: int = 64
    layers: int = 1
    rectified: bool = False
    batch: int = 256
    epochs: int = 100
    batches: int = 100
    learning_rate: float = 0.005
    refit: bool = True


class NetworkKind(DynamicsKind):
    """A residual network with a representation of the state.

    A tenth of the episodes chooses the epoch whose parameters are kept. Saturation, termination and reward are those of
    the fits in closed form; the heads are at last fitted to all episodes, without the rare jumps that no smooth model
    follows.
    """

    name = "network"

    def __init__(self, settings: NetworkSettings = NetworkSettings()) -> None:  # noqa: B008 - frozen
        self.settings = settings

    def fit(self, context: FitContext) -> Dynamics:
        needs_networks()
        from repbm.models.dynamics._network_training import trained_network

        return NetworkDynamics(trained_network(context, self.settings))

    def objectives(self, wanted: Objective, rules: BalanceRules) -> tuple[Objective, ...]:
        """With each distance between representations, too, and without: every candidate is a training."""
        distances = (LinearMMD(scale_free=True), RadialMMD(scale_free=True))
        balanced = (wanted.with_strength(wanted.target, rules.alpha, distance) for distance in distances)
        return wanted.with_strength(0.0), wanted.with_strength(wanted.target), *balanced

    def model(self, context: FitContext) -> ContinuousModel:
        needs_networks()
        from repbm.models.dynamics._network_training import network_residuals, trained_network

        network = trained_network(context, self.settings)
        held = np.flatnonzero(context.held_out & context.smooth)
        return context.model(NetworkDynamics(network), context.noise(held, network_residuals(network, context, held)))


NETWORK = NetworkKind()


def fit_network(
    data: Trajectories,
    support: Support | None,
    objective: Objective,
    horizon: int,
    seed: int = 0,
    settings: NetworkSettings = NetworkSettings(),  # noqa: B008 - frozen
    progress: Progress | None = None,
    rules: FitRules = FitRules(),  # noqa: B008 - frozen
) -> ContinuousModel:
    """A model of the log with a representation, good at the objective for the policy with this support."""
    return NetworkKind(settings).model(FitContext.of(data, support, objective, horizon, seed, rules, progress))
