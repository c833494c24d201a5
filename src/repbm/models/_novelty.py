"""How far a policy leads away from what the log shows, as a fitted model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import FailsElsewhere, InputError, Label, NoveltyRules, draw
from repbm.data import Trajectories
from repbm.models._stepwise import step_rows
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models._continuous import ContinuousModel

_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class NeighborMap:
    """What the log shows, action by action: some of its states, and how near to each other these usually are."""

    data: Trajectories
    rules: NoveltyRules

    def novel(
        self, states: Float[np.ndarray, "batch dimensions"], actions: Int[np.ndarray, " batch"]
    ) -> Bool[np.ndarray, " batch"]:
        """Whether the log shows nothing like this; -1 is an action that it never shows."""
        result = np.ones(len(states), dtype=bool)
        for action, (neighbors, usual) in self._actions.items():
            asked = np.flatnonzero(actions == action)
            if len(asked) and neighbors is not None:
                result[asked] = _distances(neighbors, self._placed(states[asked])) > self.rules.far * usual
        return result

    @cached_property
    def _units(self) -> tuple[np.ndarray, np.ndarray]:
        spread = self.data.observations.std(axis=0)
        varies = spread > 0
        return varies, spread[varies]

    def _placed(self, states: np.ndarray) -> np.ndarray:
        varies, spread = self._units
        return states[:, varies] / spread if varies.any() else np.zeros((len(states), 1))

    @cached_property
    def _actions(self) -> dict[int, tuple]:
        """For every action the logged states, ready to be searched, and the usual distance to them."""
        from sklearn.neighbors import NearestNeighbors

        data, rules = self.data, self.rules
        # Half of the episodes are the map, the other half tells how far from it the log's own steps lie.
        half = np.repeat(np.arange(len(data)) % 2, data.lengths)
        found = {}
        for action in range(len(data.actions.labels)):
            own = data.actions.codes == action
            mapped, others = (_thinned(np.flatnonzero(own & (half == side)), rules.most_states) for side in (0, 1))
            if len(mapped) < rules.neighbor or not len(others):
                found[action] = (None, 0.0)
                continue
            neighbors = NearestNeighbors(n_neighbors=rules.neighbor).fit(self._placed(data.observations[mapped]))
            away = _distances(neighbors, self._placed(data.observations[others]))
            found[action] = (neighbors, float(np.quantile(away, rules.usual_quantile)))
        return found


def first_novel_steps(
    model: ContinuousModel,
    data: Trajectories,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "individuals dimensions"],
    horizon: int,
    rules: NoveltyRules,
    generator: np.random.Generator,
) -> Int[np.ndarray, " individuals"]:
    """The step at which each individual first meets something novel; the horizon for those who never do."""
    around, count = NeighborMap(data, rules), len(states)
    first = np.full(count, horizon)
    going = np.ones(count, dtype=bool)
    for t in range(horizon):
        asked = np.flatnonzero(going)
        if not len(asked):
            break
        actions = np.zeros(count, dtype=np.int64)
        taken = _drawn(logged_odds(policy, states[asked], model.labels), generator)
        met = asked[around.novel(states[asked], taken)]
        first[met], going[met] = t, False
        actions[asked] = np.maximum(taken, 0)
        following, _, ending = step_rows(model, states, actions, generator)
        states = np.where(going[:, None], following, states)
        going &= generator.random(count) >= ending
    return first


def logged_odds(
    policy: ObservationPolicy, states: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]
) -> Float[np.ndarray, "batch actions"]:
    """The probabilities of the log's actions: rows sum to less than 1 where the policy may take others."""
    try:
        choices = policy.choices(states, labels)
    except InputError as fault:
        raise FailsElsewhere(fault) from fault
    return choices.matrix(tuple(dict.fromkeys([*labels, *choices.labels])))[:, : len(labels)]


def _thinned(rows: Int[np.ndarray, " rows"], most: int) -> Int[np.ndarray, " some"]:
    return rows[:: max(1, -(-len(rows) // most))]


def _distances(neighbors, places: np.ndarray) -> Float[np.ndarray, " batch"]:
    return neighbors.kneighbors(places)[0][:, -1]


def _drawn(odds: Float[np.ndarray, "batch actions"], generator: np.random.Generator) -> Int[np.ndarray, " batch"]:
    """An action each; -1 for one that is not among the log's."""
    rest = 1 - odds.sum(axis=1, keepdims=True)
    taken = draw(np.hstack([odds, np.where(rest > _ROUNDING, rest, 0.0)]), generator)
    return np.where(taken < odds.shape[1], taken, np.where(rest[:, 0] > _ROUNDING, -1, odds.shape[1] - 1))
