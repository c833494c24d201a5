"""How far a policy leads away from what the log shows, as a fitted model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from repbm.core import Label, stream
from repbm.data import Trajectories
from repbm.models._model import Model
from repbm.models._tabular import TabularModel
from repbm.policies import ObservationPolicy

_INDIVIDUALS = 256
_NEIGHBOR = 3
"""A pair is as strange as its third nearest is far: one odd step in the log makes nothing familiar. In a table, a pair
is strange that the log shows less often."""
_USUAL = 0.99
_FAR = 2.0
"""Strange is what lies so many times as far away as all but the oddest hundredth of the log's own steps."""
_MOST = 5000


def novelty(
    model: Model | TabularModel, data: Trajectories, policy: ObservationPolicy, horizon: int, seed: int = 0
) -> Float[np.ndarray, " horizon"]:
    """The share of individuals who, by step t, have met a state and an action that the log shows nothing like.

    They start as logged individuals do and follow the policy in the model. In a table, strange is a pair that the log
    shows less than three times; else one far from all logged steps with that action.
    """
    if isinstance(model, TabularModel):
        return _in_table(model, data, policy, horizon)
    generator = stream(seed, "novelty")
    starts = np.resize(generator.permutation(len(data)), _INDIVIDUALS)
    first = _on_paths(model, data, policy, data.initial_observations[starts], horizon, generator)
    return np.cumsum(np.bincount(first, minlength=horizon + 1)[:horizon]) / _INDIVIDUALS


def support_probability(
    model: Model | TabularModel,
    data: Trajectories,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "individuals dimensions"],
    horizon: int,
    seed: int = 0,
) -> Float[np.ndarray, " individuals"]:
    """For everyone who starts in these states, the chance to meet nothing but what the log shows.

    Exact in a table; else 1 or 0, from one path in the model each.
    """
    if isinstance(model, TabularModel):
        return _familiar_in_table(model, policy, horizon)[model.find(states)]
    generator = stream(seed, "support_probability")
    return (_on_paths(model, data, policy, states, horizon, generator) == horizon).astype(np.float64)


def _in_table(
    model: TabularModel, data: Trajectories, policy: ObservationPolicy, horizon: int
) -> Float[np.ndarray, " horizon"]:
    size, actions = model.rewards.shape
    choices = _odds(policy, model.states, model.labels)
    seen = model.visits >= _NEIGHBOR
    here = np.bincount(model.find(data.initial_observations), minlength=size) / len(data)
    met = np.zeros(horizon)
    for t in range(horizon):
        taken = here[:, None] * choices
        # What the policy does beyond the log's actions is missing from the choices: that is strange, too.
        met[t] = here.sum() - (taken * seen).sum()
        here = model.moves.T @ (taken * seen).reshape(size * actions)
    return np.cumsum(met).clip(0.0, 1.0)


def _familiar_in_table(model: TabularModel, policy: ObservationPolicy, horizon: int) -> Float[np.ndarray, " states"]:
    """The chance, from every state, to meet only pairs that the log shows often enough."""
    size, actions = model.rewards.shape
    taken = _odds(policy, model.states, model.labels) * (model.visits >= _NEIGHBOR)
    ending = 1 - np.asarray(model.moves.sum(axis=1)).reshape(size, actions)
    familiar = np.ones(size)
    for _ in range(horizon):
        familiar = (taken * (ending + (model.moves @ familiar).reshape(size, actions))).sum(axis=1)
    return familiar.clip(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class NeighborMap:
    """What the log shows, action by action: some of its states, and how near to each other these usually are."""

    data: Trajectories

    @cached_property
    def _units(self) -> tuple[np.ndarray, np.ndarray]:
        spread = self.data.observations.std(axis=0)
        varies = spread > 0
        return varies, spread[varies]

    def strange(
        self, states: Float[np.ndarray, "batch dimensions"], actions: Int[np.ndarray, " batch"]
    ) -> Bool[np.ndarray, " batch"]:
        """Whether the log shows nothing like this; -1 is an action that it never shows."""
        result = np.ones(len(states), dtype=bool)
        for action, (nearest, usual) in self._actions.items():
            asked = np.flatnonzero(actions == action)
            if len(asked) and nearest is not None:
                result[asked] = _distances(nearest, self._placed(states[asked])) > _FAR * usual
        return result

    def _placed(self, states: np.ndarray) -> np.ndarray:
        varies, spread = self._units
        return states[:, varies] / spread if varies.any() else np.zeros((len(states), 1))

    @cached_property
    def _actions(self) -> dict[int, tuple]:
        from sklearn.neighbors import NearestNeighbors

        data = self.data
        # Half of the episodes are the map, the other half tells how far from it the log's own steps lie.
        half = np.repeat(np.arange(len(data)) % 2, data.lengths)
        found = {}
        for action in range(len(data.actions.labels)):
            own = data.actions.codes == action
            mapped, others = (_some(np.flatnonzero(own & (half == side))) for side in (0, 1))
            if len(mapped) < _NEIGHBOR or not len(others):
                found[action] = (None, 0.0)
                continue
            nearest = NearestNeighbors(n_neighbors=_NEIGHBOR).fit(self._placed(data.observations[mapped]))
            away = _distances(nearest, self._placed(data.observations[others]))
            found[action] = (nearest, float(np.quantile(away, _USUAL)))
        return found


def _some(rows: Int[np.ndarray, " rows"]) -> Int[np.ndarray, " some"]:
    return rows[:: max(1, -(-len(rows) // _MOST))]


def _distances(nearest, places: np.ndarray) -> Float[np.ndarray, " batch"]:
    return nearest.kneighbors(places)[0][:, -1]


def _on_paths(
    model: Model,
    data: Trajectories,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "individuals dimensions"],
    horizon: int,
    generator: np.random.Generator,
) -> Int[np.ndarray, " individuals"]:
    """The step at which each first meets something strange; the horizon for those who never do."""
    around, count = NeighborMap(data), len(states)
    first = np.full(count, horizon)
    going = np.ones(count, dtype=bool)
    key = jax.random.key(int(generator.integers(1 << 31)))
    for t in range(horizon):
        asked = np.flatnonzero(going)
        if not len(asked):
            break
        actions = np.zeros(count, dtype=np.int64)
        drawn = _drawn(_odds(policy, states[asked], model.labels), generator)
        met = asked[around.strange(states[asked], drawn)]
        first[met], going[met] = t, False
        actions[asked] = np.maximum(drawn, 0)
        with jax.enable_x64(True):
            following, ending = map(np.asarray, _moved(model, states, actions, jax.random.fold_in(key, t)))
        states = np.where(going[:, None], following, states)
        going &= generator.random(count) >= ending
    return first


def _odds(
    policy: ObservationPolicy, states: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]
) -> Float[np.ndarray, "batch actions"]:
    """The probabilities of the log's actions: rows sum to less than 1 where the policy may take others."""
    choices = policy.choices(states, labels)
    return choices.matrix(tuple(dict.fromkeys([*labels, *choices.labels])))[:, : len(labels)]


def _drawn(odds: Float[np.ndarray, "batch actions"], generator: np.random.Generator) -> Int[np.ndarray, " batch"]:
    """An action each; -1 for one that is not among them."""
    mass = odds.sum(axis=1, keepdims=True)
    marks = generator.random((len(odds), 1)) * np.where(mass > 1 - 1e-6, mass, 1.0)
    drawn = (np.cumsum(odds, axis=1) <= marks).sum(axis=1)
    return np.where((drawn == odds.shape[1]) & (mass[:, 0] <= 1 - 1e-6), -1, drawn.clip(0, odds.shape[1] - 1))


@eqx.filter_jit
def _moved(
    model: Model,
    states: Float[Array | np.ndarray, "batch dimensions"],
    actions: Int[Array | np.ndarray, " batch"],
    key: Array,
) -> tuple[Float[Array, "batch dimensions"], Float[Array, " batch"]]:
    following, _, ending = model.step(jnp.asarray(states), jnp.asarray(actions), key)
    return following, ending
