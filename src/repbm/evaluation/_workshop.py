"""Where critics are fitted, each once, when an estimator first needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from repbm.estimators import Case, Critic, ModelCritic

if TYPE_CHECKING:
    from repbm.data import Support, Trajectories
    from repbm.models import Model, Objective


class Preset(Protocol):
    """How a model is fitted."""

    def fit(self, data: Trajectories, support: Support, objective: Objective, horizon: int, seed: int) -> Model: ...


class Precise:
    """Closed form in float64, everything chosen on held-out episodes: the default."""

    def fit(self, data: Trajectories, support: Support, objective: Objective, horizon: int, seed: int) -> Model:
        from repbm.models import fit_precise

        return fit_precise(data, support, objective, horizon, seed)


class Workshop:
    """Fits critics for the cases of one log."""

    def __init__(self, preset: Preset, seed: int) -> None:
        self.preset, self.seed = preset, seed
        self._made: dict[object, Critic] = {}

    def critic(self, name: str, case: Case) -> Critic:
        """The critic of this name for the policy of the case; the behavior model serves all policies."""
        objective = _objective(name)
        key = (name, case if objective.target else None)
        if key not in self._made:
            horizon = case.horizon or case.data.longest
            model = self.preset.fit(case.data, case.support, objective, horizon, self.seed)
            self._made[key] = ModelCritic(model, name, self.seed)
        return self._made[key]


def _objective(name: str) -> Objective:
    from repbm.models import AM, AM_PI, BALANCED

    return {objective.name: objective for objective in (BALANCED, AM, AM_PI)}[name]
