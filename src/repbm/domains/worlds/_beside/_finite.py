"""Finite worlds given as tables: somebody logs them, and the policy does more of what pays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.data import Trajectories
from repbm.domains._sepsis import Sepsis
from repbm.domains._tabular import TabularWorld
from repbm.domains.worlds._beside._moves import Moves
from repbm.domains.worlds._world import World

_HORIZONS = (30, 50)
_SHARES = (0.05, 0.3)
_PILOT, _LOG = 6000, 200
"""So many episodes, in logs of so many, say how far a policy is from the log: one log alone may hold a rare weight."""
_STRENGTHS = (1e-2, 1e3)
"""Per standard deviation of advantages: from hardly a change to the best action alone."""
_HALVINGS = 40

Table = Float[np.ndarray, "states actions"]
States = Float[np.ndarray, "batch 1"]


def icu_sepsis(generator: np.random.Generator) -> World:
    """Sepsis in intensive care (extra `repbm[sepsis]`), logged by clinicians; the policy is theirs, tilted."""
    sepsis = Sepsis.load(int(generator.integers(*_HORIZONS, endpoint=True)))
    share = float(np.exp(generator.uniform(*np.log(_SHARES))))
    return finite(sepsis.world, sepsis.clinician, share, generator)


def finite(table: TabularWorld, behavior: Table, share: float, generator: np.random.Generator) -> World:
    """The table as a world whose one column is the number of the state.

    The policy is the behavior, its log-odds tilted by advantage so strongly that this share of episodes is effective.
    """
    starts, moves = Moves.of(table.initial[None]), Moves.of(table.transitions.reshape(-1, len(table.initial)))
    # Functions below that name the table would keep all of it.
    rewards, terminal, actions = table.rewards, table.terminal, table.rewards.shape[1]
    arrivals = np.zeros(len(terminal)) if table.arrivals is None else table.arrivals

    def initial(count: int, generator: np.random.Generator) -> States:
        return starts.drawn(np.zeros(count, dtype=np.int64), generator)[:, None].astype(np.float64)

    def step(
        states: States, taken: Int[np.ndarray, " batch"], generator: np.random.Generator
    ) -> tuple[States, Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        place = states[:, 0].astype(np.int64)
        following = moves.drawn(place * actions + taken, generator)
        earned = rewards[place, taken] + arrivals[following]
        return following[:, None].astype(np.float64), earned, terminal[following]

    usual = _looked_up(behavior)
    logged = World(table.horizon, actions, initial, step, behavior=usual, policy=usual)
    pilot, _ = logged.log(_PILOT, generator)
    earned = rewards + moves.expected(arrivals).reshape(rewards.shape)
    advantages, value = np.zeros_like(earned), np.zeros(len(terminal))
    for _ in range(table.horizon):
        worth = earned + moves.expected(np.where(terminal, 0.0, value)).reshape(rewards.shape)
        value = (behavior * worth).sum(axis=1)
        advantages = worth - value[:, None]
    policy = _looked_up(_tilted_to(share, behavior, advantages, pilot))
    return World(table.horizon, actions, initial, step, behavior=usual, policy=policy)


def tilted(behavior: Table, advantages: Table, strength: float) -> Table:
    """Probabilities in proportion to behavior * exp(strength * advantage): only what the behavior does, too."""
    best = np.where(behavior > 0, advantages, -np.inf).max(axis=1, keepdims=True)
    odds = behavior * np.exp(np.minimum(strength * (advantages - best), 0.0))
    return odds / odds.sum(axis=1, keepdims=True)


def effective_share(policy: Table, behavior: Table, log: Trajectories) -> float:
    """(sum of weights)^2 / (sum of squared weights) of whole episodes, per episode: the median over logs of 200."""
    place = log.observations[:, 0].astype(np.int64), np.asarray(log.actions.codes)
    with np.errstate(divide="ignore"):
        ratios = np.log(policy[place] / behavior[place])
    sums = np.add.reduceat(ratios, log.offsets[:-1]).reshape(-1, _LOG)
    largest = sums.max(axis=1, keepdims=True)
    weights = np.exp(sums - np.where(np.isfinite(largest), largest, 0.0))
    # Where nobody did what the policy does, no episode is effective.
    squares = np.maximum((weights**2).sum(axis=1), np.finfo(np.float64).tiny)
    return float(np.median(weights.sum(axis=1) ** 2 / squares) / _LOG)


def _tilted_to(share: float, behavior: Table, advantages: Table, pilot: Trajectories) -> Table:
    """Tilted as strongly as leaves this effective share of episodes, found by halving."""
    seen = advantages[pilot.observations[:, 0].astype(np.int64), np.asarray(pilot.actions.codes)]
    low, high = np.log(_STRENGTHS) - np.log(seen.std() or 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        left = effective_share(tilted(behavior, advantages, np.exp(middle)), behavior, pilot)
        low, high = (middle, high) if left > share else (low, middle)
    return tilted(behavior, advantages, np.exp(low))


def _looked_up(chances: Table) -> Callable[[States], Float[np.ndarray, "batch actions"]]:
    return lambda seen: chances[np.clip(np.rint(seen[:, 0]), 0, len(chances) - 1).astype(np.int64)]
