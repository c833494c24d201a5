"""For every individual what the policy recommends first, what was given, and what became of similar ones."""

from __future__ import annotations

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from repbm.core import Thresholds
from repbm.estimators import Case
from repbm.policies import ObservationPolicy

_NEAREST = 3
"""So many of the similar individuals are named."""


def compared(
    case: Case,
    states: Float[np.ndarray, "individuals dimensions"],
    rows: Int[np.ndarray, " some"],
    thresholds: Thresholds,
    logged: bool,
) -> pl.DataFrame | None:
    """Columns for the table of individuals, filled at some rows; None where the policy cannot act in any state.

    Similar are the logged individuals whose first state is nearest, each column by its standard deviation. `logged`
    says that the individuals are those of the log: then nobody is similar to themselves.
    """
    data = case.data
    if not isinstance(case.policy, ObservationPolicy) or not data.observations.shape[1] or not len(rows):
        return None
    labels = tuple(dict.fromkeys([*data.actions.labels, *case.decisions.labels]))
    odds = case.policy.choices(states[rows], data.actions.labels).matrix(labels)
    first, starts = data.actions.codes[data.starts], data.initial_observations
    best = odds.argmax(axis=1)
    found: dict[str, list] = {"recommended": [str(labels[k]) for k in best]}
    found["given"] = [str(labels[k]) for k in first[rows]] if logged else [None] * len(rows)
    near = _nearest(starts, states[rows], rows if logged else None, thresholds)
    if near is not None:
        same = first[near] == best[:, None]
        returns = np.where(same, case.returns[near], 0.0).sum(axis=1)
        count = same.sum(axis=1)
        names = np.array([str(label) for label in data.labels_of().tolist()], dtype=object)
        found["similar"] = [near.shape[1]] * len(rows)
        found["similar_recommended"] = count.tolist()
        found["similar_return"] = [float(r / c) if c else None for r, c in zip(returns, count, strict=True)]
        found["nearest"] = [", ".join(names[own[:_NEAREST]]) for own in near]
    empty: dict[str, list] = {name: [None] * len(states) for name in COMPARED}
    for name, cells in found.items():
        for row, cell in zip(rows.tolist(), cells, strict=True):
            empty[name][row] = cell
    return pl.DataFrame(empty, schema=COMPARED)


COMPARED = {
    "recommended": pl.String,
    "given": pl.String,
    "similar": pl.Int64,
    "similar_recommended": pl.Int64,
    "similar_return": pl.Float64,
    "nearest": pl.String,
}


def _nearest(
    known: np.ndarray, states: np.ndarray, own: np.ndarray | None, thresholds: Thresholds
) -> Int[np.ndarray, "some neighbors"] | None:
    """The nearest logged individuals of each, by their place in the log; None where there is nobody else."""
    spread = known.std(axis=0)
    varies = spread > 0
    among = np.arange(len(known))[:: max(1, -(-len(known) // thresholds.novelty.most_states))]
    count = min(thresholds.individuals.neighbors, len(among) - 1)
    if count < 1 or not varies.any():
        return None
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=count + 1).fit(known[among][:, varies] / spread[varies])
    found = among[search.kneighbors(states[:, varies] / spread[varies])[1]]
    if own is None:
        return found[:, :count]
    # Nobody is similar to themselves: who is not found among the nearest loses the farthest.
    self_found = found == own[:, None]
    self_found[~self_found.any(axis=1), -1] = True
    return found[~self_found].reshape(len(found), count)
