"""What a model predicts for episodes that it was not fitted to, beside what the log observed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from repbm.core import BacktestRules, InputError
from repbm.data import Trajectories
from repbm.inference import largest_gap
from repbm.policies import imitate

if TYPE_CHECKING:
    from repbm.models import Model

_MOST_BINS = 8
_FEWEST_IN_BIN = 10
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Backtest:
    """A model fitted to some of the episodes, asked about the others.

    `ahead`: the error of the state so many steps later, along the logged actions, as a share of how far it really moves
    (1 is as bad as saying that nothing changes); empty for a table, whose states have no distance. `predicted`: for
    held-out individuals, the value of what is done now in the model (what is done is learned, too, from the same
    episodes). `observed`: their logged returns.
    """

    ahead: Mapping[int, float]
    predicted: Float[np.ndarray, " individuals"]
    observed: Float[np.ndarray, " individuals"]
    limit: float = 3.0
    """A gap of more standard errors than this is beyond chance."""
    distance: float | None = None
    """How far the distributions of predicted and of observed returns are apart (Kolmogorov-Smirnov); None where the
    model does not tell single returns."""
    largest_distance: float | None = None
    """More is beyond chance."""

    def __repr__(self) -> str:
        away, error = self.gap
        return f"Backtest({len(self.predicted)} individuals, off by {away:.4g}, standard error {error:.4g})"

    @property
    def gap(self) -> tuple[float, float]:
        """The mean of what the model predicts minus that of the log, and its standard error."""
        away = self.predicted - self.observed
        return float(away.mean()), float(away.std(ddof=1) / np.sqrt(len(away)))

    @property
    def beyond_chance(self) -> bool:
        away, error = self.gap
        return abs(away) > self.limit * error

    def bins(self) -> list[tuple[float, float, float, int]]:
        """Groups of equally many individuals by what is predicted: its mean, that of the log, its error, how many."""
        count = int(np.clip(len(self.predicted) // _FEWEST_IN_BIN, 1, _MOST_BINS))
        found = []
        for rows in np.array_split(np.argsort(self.predicted, kind="stable"), count):
            error = float(self.observed[rows].std(ddof=1) / np.sqrt(len(rows))) if len(rows) > 1 else 0.0
            found.append((float(self.predicted[rows].mean()), float(self.observed[rows].mean()), error, len(rows)))
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; `of` makes the same of them."""
        return {
            "ahead": {str(steps): error if np.isfinite(error) else None for steps, error in self.ahead.items()},
            "predicted": self.predicted.tolist(),
            "observed": self.observed.tolist(),
            "limit": self.limit,
            "distance": self.distance,
            "largest_distance": self.largest_distance,
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Backtest:
        ahead = {int(steps): float("nan") if error is None else error for steps, error in stored["ahead"].items()}
        predicted, observed = (np.asarray(stored[name], dtype=np.float64) for name in ("predicted", "observed"))
        further = stored.get("distance"), stored.get("largest_distance")
        return cls(ahead, predicted, observed, stored["limit"], *further)


def backtest(
    model: Model,
    fitted: Trajectories,
    kept: Trajectories,
    discount: float,
    horizon: int,
    seed: int = 0,
    rules: BacktestRules = BacktestRules(),  # noqa: B008 - frozen
) -> Backtest:
    """Follow what is done now in a model of the episodes `fitted`, from where the episodes `kept` begin.

    Episodes that the log cuts off before the horizon have no whole return and are left out, as are those that begin
    where the model cannot be asked.
    """
    whole = (kept.terminated | (kept.lengths >= horizon)) & model.knows(kept.initial_observations)
    errors = {steps: model.path_error(kept, steps) for steps in rules.ahead if steps < kept.longest}
    # A table has no distances at all.
    ahead = errors if any(np.isfinite(error) for error in errors.values()) else {}
    rows = np.flatnonzero(whole)[: rules.most_individuals]
    now = imitate(fitted, seed)
    # All paths of an individual side by side: what is done now is asked once a step.
    states = np.repeat(kept.initial_observations[rows], rules.paths, axis=0)
    predicted, observed = np.empty(0), kept.returns(discount)[rows]
    distance = largest = None
    if len(rows):
        rolled = model.values(now, states, discount=discount, horizon=horizon, rollouts=1, seed=seed)
        predicted = rolled.values.reshape(len(rows), rules.paths).mean(axis=1)
        with suppress(InputError):
            single = model.returns(now, states, discount=discount, horizon=horizon, seed=seed)[0]
            alike = rules.alike * float(observed.std()) + _ROUNDING * float(np.abs(observed).max())
            distance = largest_gap(observed, single, alike)
            largest = rules.beyond_chance_spread * float(np.sqrt(1 / len(observed) + 1 / len(single)))
    return Backtest(ahead, predicted, observed, rules.beyond_chance, distance, largest)
