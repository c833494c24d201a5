"""What a report shows beyond the tables, computed when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from repbm.core import stream
from repbm.data import Trajectories
from repbm.doctor import Backtest, backtest
from repbm.estimators import Case
from repbm.evaluation._workshop import Workshop
from repbm.inference import Group, subgroups
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models import Model, TabularModel

_FITTED = 0.8
_FEWEST = 10
_MOST_PATH_STEPS = 400_000


@dataclass(frozen=True, eq=False)
class CloserLook:
    """The log and the fitted models of an evaluation, for questions about single individuals and held-out episodes."""

    cases: Mapping[str, Case]
    models: Mapping[tuple[str, str], Model | TabularModel]
    workshop: Workshop
    level: float

    @property
    def data(self) -> Trajectories:
        return next(iter(self.cases.values())).data

    @cached_property
    def returns(self) -> Float[np.ndarray, " episodes"]:
        """What every logged episode earned."""
        return next(iter(self.cases.values())).returns

    @cached_property
    def rehearsal(self) -> Backtest | None:
        """A model of four fifths of the log, asked about the rest; None without a model, or with too few."""
        if not self.models or len(self.data) < _FEWEST:
            return None
        case, seed = next(iter(self.cases.values())), self.workshop.seed
        order = stream(seed, "rehearsal").permutation(len(self.data))
        part = int(_FITTED * len(order))
        fitted = case.take(np.sort(order[:part]))
        model = self.workshop.preset.rehearsed(case, fitted, seed, self.workshop.tell)
        horizon = case.horizon or self.data.longest
        return backtest(model, fitted.data, self.data.take(np.sort(order[part:])), case.discount, horizon, seed)

    def support_probability(self, policy: str, episodes: Int[np.ndarray, " some"]) -> Float[np.ndarray, " some"] | None:
        """The chance of these individuals to meet only what the log shows; NaN past what can be followed in time."""
        from repbm.models import support_probability

        case = self.cases[policy]
        model = self.models.get((policy, "am"), self.models.get((policy, "repbm")))
        if model is None or not isinstance(case.policy, ObservationPolicy):
            return None
        horizon = case.horizon or self.data.longest
        states = self.data.initial_observations[episodes[: max(1, _MOST_PATH_STEPS // horizon)]]
        found = np.full(len(episodes), np.nan)
        found[: len(states)] = support_probability(model, self.data, case.policy, states, horizon, self.workshop.seed)
        return found

    def groups(self, values: Float[np.ndarray, " episodes"]) -> list[Group]:
        """Who gains and who loses: value for the individual minus what was earned."""
        data = self.data
        gains = np.asarray(values) - self.returns
        return subgroups(data.initial_observations, data.names, gains, self.level, self.workshop.seed)
