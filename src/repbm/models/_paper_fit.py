"""The published fit of RepBM, AM and AM(pi), setting by setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from repbm.core import InputError, stream
from repbm.data import Support, Trajectories
from repbm.models._continuous import ContinuousModel
from repbm.models._paper import PaperSettings
from repbm.models.dynamics._functions import NetworkDynamics
from repbm.models.objectives._objective import Objective
from repbm.models.parts._reward import NetworkReward
from repbm.models.parts._saturation import Saturation
from repbm.models.training._batches import PaperBatches
from repbm.models.training._loop import Plateau, TrainingOptions, train
from repbm.models.training._networks import PaperNetwork, ScaledNetwork, Units
from repbm.models.training._progress import Progress
from repbm.models.training._rows import Members, Rows, distances_of
from repbm.models.training._termination_training import fit_termination_network
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable


def fit_paper(
    data: Trajectories,
    support: Support | None,
    objectives: Sequence[Objective],
    horizon: int,
    seed: int = 0,
    settings: PaperSettings = PaperSettings(),  # noqa: B008 - frozen
    progress: Progress | None = None,
) -> list[ContinuousModel]:
    """One model an objective, all trained together and from the same start on the same batches.

    States are not standardised, the arithmetic is float32, the last weights are kept. Faithful to the published code
    also where that is no virtue: a tenth of the episodes is set aside and never looked at, an episode that the log cut
    off counts as one that went on ("not terminal"), and so does one that the world ended at the last step of the
    horizon. The models share one termination network.
    """
    used = support if any(objective.target or objective.balances for objective in objectives) else None
    table = TransitionTable.of(data, used)
    dimensions = table.states.shape[1]
    kept = _training_part(data, table, settings.training_share, seed)
    rewards = table.rewards[kept] if settings.standard_rewards else None
    units = Units.multiplied(settings.input_scales or (1.0,) * dimensions, rewards)
    if len(units.spread) != dimensions:
        raise InputError(f"{len(units.spread)} input scales for {dimensions} observations", fix="give one for each")
    batch = min(settings.batch, len(np.unique(table.episodes[kept])))
    outcomes = units.outcomes(np.column_stack([table.rewards, table.next_states - table.states]))
    # f / u is counted anew among the episodes that are kept; importance weights are what they are.
    given = None if used is None or used.deterministic else table.marginal
    rows = Rows.of(table, kept, units.states(table.states), outcomes, table.followed, batch, given)
    objectives = [settings.completed(objective) for objective in objectives]
    _check(objectives, rows)
    # All members start and draw alike: their difference is that of the objectives, and none depends on the others.
    start, descent, ending = jax.random.split(jax.random.key(int(stream(seed, "paper").integers(1 << 31))), 3)
    widths = (settings.representation,) * settings.layers
    network = PaperNetwork.random(start, dimensions, table.action_count, widths)
    several = len(objectives)
    trained = train(
        PaperBatches(batch, distances_of(objectives)),
        jax.tree.map(lambda leaf: jnp.repeat(leaf[None], several, axis=0), network),
        Members.of(objectives, data.longest, len(rows.chosen), int(rows.offsets[1])),
        rows,
        jnp.repeat(descent[None], several),
        _options(settings),
        progress=progress,
    ).checked()
    judged = replace(table, ended=table.ended & (table.steps < horizon - 1))
    termination = fit_termination_network(judged, kept, ending, _termination_options(settings), batch)
    low, high = Range.of(table).counted(table.states)
    networks = [ScaledNetwork(units, trained.member(k)) for k in range(several)]
    return [
        ContinuousModel(
            dynamics=NetworkDynamics(network),
            saturation=_nothing(dimensions),
            reward=NetworkReward(network),
            termination=termination,
            noise=None,
            low=low,
            high=high,
            labels=data.actions.labels,
            horizon=horizon,
            observation_names=data.observation_names,
        )
        for network in networks
    ]


def _training_part(data: Trajectories, table: TransitionTable, share: float, seed: int) -> Bool[np.ndarray, " steps"]:
    count = max(1, round(share * len(data)))
    chosen = np.zeros(len(data), dtype=bool)
    chosen[stream(seed, "training-part").permutation(len(data))[:count]] = True
    return chosen[table.episodes]


def _check(objectives: Sequence[Objective], rows: Rows) -> None:
    followed = rows.marginal.any()
    for objective in objectives:
        if not objective.behavior and not followed:
            raise InputError(
                f"{objective.name} is not defined: no episode follows the policy even at its first step",
                fix="use repbm or am, which also learn from the other episodes",
            )


def _nothing(dimensions: int) -> Saturation:
    unbounded, unset = np.full(dimensions, np.inf), np.full((dimensions, dimensions), np.nan)
    return Saturation(-unbounded, unbounded, unset, unset, ())


def _options(settings: PaperSettings) -> TrainingOptions:
    return TrainingOptions(
        settings.epochs,
        settings.batches,
        settings.learning_rate,
        Plateau(0.9),
        1.0,
        settings.weight_decay,
        restart=True,
    )


def _termination_options(settings: PaperSettings) -> TrainingOptions:
    """Those of the termination network: one Adam throughout, and no clamp."""
    return TrainingOptions(settings.epochs, settings.batches, 0.01, Plateau(0.9))
