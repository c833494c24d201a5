"""Where critics are fitted, each once, when an estimator first needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from repbm.core import InputError
from repbm.estimators import Case, Critic, Estimator, ModelCritic
from repbm.evaluation._names import Recipe

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


def as_preset(name: str) -> Preset:
    """The preset of this name."""
    known: dict[str, type[Preset]] = {"precise": Precise}
    if name not in known:
        raise InputError(f"there is no preset '{name}'", fix=f"use one of {', '.join(known)}")
    return known[name]()


class Workshop:
    """Fits critics for the cases of one log."""

    def __init__(self, preset: Preset, seed: int) -> None:
        self.preset, self.seed = preset, seed
        self._made: dict[tuple[str, Case | None], Critic] = {}

    def ready(self, estimator: Estimator | Recipe, case: Case) -> Estimator:
        """The estimator with its critic, fitted if it is not yet."""
        if isinstance(estimator, Recipe):
            return estimator.build(self.critic(estimator.critic, case))
        return estimator

    def critic(self, name: str, case: Case) -> Critic:
        """The critic of this name for the policy of the case; the behavior model serves all policies."""
        objective = _objective(name)
        key = (name, case if objective.target else None)
        if key not in self._made:
            horizon = case.horizon or case.data.longest
            model = self.preset.fit(case.data, case.support, objective, horizon, self.seed)
            self._made[key] = ModelCritic(model, name, self.seed)
        return self._made[key]

    def models(self, case: Case) -> dict[str, Model]:
        """The models fitted for this case so far."""
        return {
            critic.name: critic.model
            for (_, own), critic in self._made.items()
            if own in (None, case) and isinstance(critic, ModelCritic)
        }


def _objective(name: str) -> Objective:
    from repbm.models import AM, AM_PI, BALANCED

    return {objective.name: objective for objective in (BALANCED, AM, AM_PI)}[name]
