"""The fit of a residual network: standard units, sampled risks, a cosine rate, heads in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import stream
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._jumps import outlying
from repbm.models.training._batches import HeldOutRisk, SampledBatches
from repbm.models.training._head_refit import changes_of, refit_heads
from repbm.models.training._loop import Cosine, Trained, TrainingOptions, train
from repbm.models.training._networks import ResidualNetwork, ScaledNetwork, Units
from repbm.models.training._rows import Members, Rows, distances_of
from repbm.models.transitions._table import TransitionTable

if TYPE_CHECKING:
    from repbm.models.dynamics._network_fit import NetworkSettings

_MOST_JUDGED = 1 << 15


def trained_network(context: FitContext, settings: NetworkSettings) -> ScaledNetwork:
    """The network of the best epoch, its heads fitted to all episodes where the settings say so."""
    network = _trained(context, settings)
    return _refitted(network, context) if settings.refit else network


def network_residuals(
    network: ScaledNetwork, context: FitContext, rows: Int[np.ndarray, " some"]
) -> Float[np.ndarray, "some dimensions"]:
    """What the network misses of the change of state at these steps."""
    table = context.table
    return context.changes[rows] - changes_of(network, table.states[rows], table.actions[rows])


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
        TrainingOptions(settings.epochs, settings.batches, settings.learning_rate, Cosine()),
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
