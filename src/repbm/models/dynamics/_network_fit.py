"""The fit of a residual network: standard units, sampled risks, a cosine rate, heads in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Bool, Float

from repbm.core import BalanceRules, FitRules, stream
from repbm.data import Support, Trajectories
from repbm.models._continuous import ContinuousModel
from repbm.models.dynamics._base import Dynamics
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._functions import NetworkDynamics
from repbm.models.dynamics._jumps import outlying
from repbm.models.dynamics._kind import DynamicsKind
from repbm.models.objectives._distances import LinearMMD, RadialMMD
from repbm.models.objectives._objective import Objective
from repbm.models.training._batches import HeldOutRisk, SampledBatches
from repbm.models.training._head_refit import changes_of, refit_heads
from repbm.models.training._loop import Cosine, Progress, Trained, TrainingOptions, train
from repbm.models.training._networks import ResidualNetwork, ScaledNetwork, Units
from repbm.models.training._rows import Members, Rows, distances_of
from repbm.models.transitions._table import TransitionTable

_MOST_JUDGED = 1 << 15


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

    @property
    def options(self) -> TrainingOptions:
        return TrainingOptions(self.epochs, self.batches, self.learning_rate, Cosine())


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
        return NetworkDynamics(self._network(context))

    def objectives(self, wanted: Objective, rules: BalanceRules) -> tuple[Objective, ...]:
        """With each distance between representations, too, and without: every candidate is a training."""
        distances = (LinearMMD(scale_free=True), RadialMMD(scale_free=True))
        balanced = (wanted.with_strength(wanted.target, rules.alpha, distance) for distance in distances)
        return wanted.with_strength(0.0), wanted.with_strength(wanted.target), *balanced

    def model(self, context: FitContext) -> ContinuousModel:
        network = self._network(context)
        table, held = context.table, np.flatnonzero(context.held_out & context.smooth)
        residuals = context.changes[held] - changes_of(network, table.states[held], table.actions[held])
        return context.model(NetworkDynamics(network), context.noise(held, residuals))

    def _network(self, context: FitContext) -> ScaledNetwork:
        network = _trained(context, self.settings)
        return _refitted(network, context) if self.settings.refit else network


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


def _trained(context: FitContext, settings: NetworkSettings) -> ScaledNetwork:
    table, smooth, held_out, objective = context.table, context.smooth, context.held_out, context.objective
    outcomes = np.column_stack([table.rewards, table.next_states - table.states])
    units = standard_units(table, outcomes, smooth)
    scaled = (units.states(table.states), units.outcomes(outcomes), smooth, 1, table.marginal)
    fitted = Rows.of(table, ~held_out if (~held_out).any() else held_out, *scaled)
    judged = Rows.of(table, _thinned(held_out if held_out.any() else ~held_out), *scaled)
    if not objective.behavior and not fitted.marginal.any():
        # The few episodes that follow the policy were all set aside.
        fitted = Rows.of(table, np.ones(len(table), dtype=bool), *scaled)
    one, two = jax.random.split(jax.random.key(int(stream(context.seed, "network").integers(1 << 31))))
    widths = (settings.hidden,) * settings.layers
    start = ResidualNetwork.random(one, table.states.shape[1], table.action_count, widths, settings.rectified)
    longest, episodes = int(table.steps.max()) + 1, int(table.episodes[-1]) + 1
    result: Trained = train(
        SampledBatches(settings.batch, distances_of([objective])),
        jax.tree.map(lambda leaf: leaf[None], start),
        Members.of([objective], longest, len(fitted.chosen), episodes),
        fitted,
        two[None],
        settings.options,
        HeldOutRisk(),
        judged,
        context.progress,
    )
    return ScaledNetwork(units, result.checked().member(0))


def standard_units(
    table: TransitionTable, outcomes: Float[np.ndarray, "steps outputs"], smooth: Bool[np.ndarray, " steps"]
) -> Units:
    """Mean 0 and deviation 1 for states, rewards, and the changes of state that a smooth model can learn from."""
    changes = outcomes[smooth, 1:] if smooth.any() else np.zeros((1, table.states.shape[1]))
    center = np.append(table.rewards.mean(), changes.mean(axis=0))
    return Units(
        table.states.mean(axis=0),
        _positive(table.states.std(axis=0)),
        center,
        _positive(np.append(table.rewards.std(), changes.std(axis=0))),
    )


def _positive(spread: Float[np.ndarray, " columns"]) -> Float[np.ndarray, " columns"]:
    return np.where(spread > 0, spread, 1.0)


def _thinned(rows: Bool[np.ndarray, " steps"]) -> Bool[np.ndarray, " steps"]:
    """At most some tens of thousands of the rows, evenly spread: enough to tell epochs apart."""
    found = np.flatnonzero(rows)
    result = np.zeros_like(rows)
    result[found[:: -(-len(found) // _MOST_JUDGED)]] = True
    return result


def _refitted(network: ScaledNetwork, context: FitContext) -> ScaledNetwork:
    table, weights = context.table, context.weights
    outcomes = np.column_stack([table.rewards, context.changes])
    each = np.where(context.smooth, weights, 0.0)

    def refit(each: np.ndarray) -> ScaledNetwork:
        both = np.column_stack([weights, each])
        return refit_heads(network, table.states, table.actions, outcomes, both)

    result = refit(each)
    kept = each > 0
    residuals = np.zeros(table.states.shape)
    residuals[kept] = outcomes[kept, 1:] - changes_of(result, table.states[kept], table.actions[kept])
    jumps = outlying(residuals, kept, context.rules)
    return refit(np.where(jumps, 0.0, each)) if jumps.any() else result
