"""What a model says about episodes that it was not fitted to, beside what the log says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from repbm.data import Trajectories
from repbm.policies import imitate

if TYPE_CHECKING:
    from repbm.models import Model, TabularModel

_MOST_INDIVIDUALS = 256
_PATHS = 4
_AHEAD = (1, 2, 5, 10, 20, 50, 100, 200)
_MOST_BINS = 8
_FEWEST_IN_BIN = 10


@dataclass(frozen=True, eq=False)
class Backtest:
    """A model fitted to some of the episodes, asked about the others.

    `ahead`: the error of the state so many steps later, along the logged actions, as a share of how far it really moves
    (1 is as bad as saying that nothing changes); empty for a table, whose states have no distance. `said`: for held-out
    individuals, the value of what is done now in the model (what is done is learned, too, from the same episodes).
    `seen`: their logged returns.
    """

    ahead: Mapping[int, float]
    said: Float[np.ndarray, " individuals"]
    seen: Float[np.ndarray, " individuals"]

    @property
    def gap(self) -> tuple[float, float]:
        """The mean of what the model says minus that of the log, and its standard error."""
        away = self.said - self.seen
        return float(away.mean()), float(away.std(ddof=1) / np.sqrt(len(away)))

    def bins(self) -> list[tuple[float, float, float, int]]:
        """Groups of equally many individuals by what the model says: its mean, that of the log, its error, how many."""
        count = int(np.clip(len(self.said) // _FEWEST_IN_BIN, 1, _MOST_BINS))
        found = []
        for rows in np.array_split(np.argsort(self.said, kind="stable"), count):
            error = float(self.seen[rows].std(ddof=1) / np.sqrt(len(rows))) if len(rows) > 1 else 0.0
            found.append((float(self.said[rows].mean()), float(self.seen[rows].mean()), error, len(rows)))
        return found


def backtest(
    model: Model | TabularModel,
    fitted: Trajectories,
    kept: Trajectories,
    discount: float,
    horizon: int,
    seed: int = 0,
) -> Backtest:
    """Follow what is done now in a model of the episodes `fitted`, from where the episodes `kept` begin.

    Episodes that the log cuts off before the horizon have no whole return and are left out.
    """
    from repbm.models import TabularModel, path_error, values_in

    whole = kept.terminated | (kept.lengths >= horizon)
    ahead: dict[int, float] = {}
    if isinstance(model, TabularModel):
        whole &= model.knows(kept.initial_observations)
    else:
        ahead = {steps: path_error(model, kept, steps) for steps in _AHEAD if steps < kept.longest}
    rows = np.flatnonzero(whole)[:_MOST_INDIVIDUALS]
    practice = imitate(fitted, seed)
    # All paths of an individual side by side: practice is asked once a step.
    states = np.repeat(kept.initial_observations[rows], _PATHS, axis=0)
    said = np.empty(0)
    if len(rows):
        rolled = values_in(model, practice, states, discount=discount, horizon=horizon, rollouts=1, seed=seed)
        said = rolled.values.reshape(len(rows), _PATHS).mean(axis=1)
    return Backtest(ahead, said, kept.returns(discount)[rows])
