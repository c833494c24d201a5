"""Models that tell held-out states nearly exactly: the answer may be found by following the policy in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repbm.core import Thresholds, one_thread
from repbm.critics._model_critic import ModelCritic
from repbm.data import Trajectories, spread_episodes
from repbm.estimators import Case
from repbm.models import AM, POLYNOMIAL, AutoFit, Comparison, Model


def closed_forms(thresholds: Thresholds) -> AutoFit:
    """How these models are fitted, whatever the models of other rows are."""
    return AutoFit(choice=thresholds.choice, rules=thresholds.fit)


@dataclass(frozen=True)
class Worlds:
    """The kind of model that suits a log best, and how far it misses held-out states."""

    choice: Comparison
    horizon: int
    seed: int
    thresholds: Thresholds

    @classmethod
    def of(
        cls, data: Trajectories, horizon: int, seed: int, thresholds: Thresholds, choice: Comparison | None
    ) -> Worlds:
        """`choice` where it has been made already.

        Polynomials, which take no time, go first: where they miss by far, kernels are not nearly exact either.
        """
        found = cls(choice, horizon, seed, thresholds) if choice is not None else None
        if found is not None and (not found.nearly_exact or found.choice.kind == POLYNOMIAL):
            return found
        with one_thread():
            few, fit = _few(data, thresholds), closed_forms(thresholds)
            rough = cls(replace(fit, kinds=(POLYNOMIAL,)).choose(few, horizon, seed), horizon, seed, thresholds)
            if rough.missed is not None and rough.missed > thresholds.choice.much_noise:
                return rough
            return found or cls(fit.choose(few, horizon, seed), horizon, seed, thresholds)

    @property
    def nearly_exact(self) -> bool:
        return self.missed is not None and self.missed <= self.thresholds.choice.little_noise

    @property
    def surely_noisy(self) -> bool:
        """Whether states are missed by more than in any world without noise; also where that is not known."""
        return self.missed is None or self.missed > self.thresholds.choice.much_noise

    @property
    def missed(self) -> float | None:
        """One step ahead, as a share of the movement."""
        return None if self.choice.best is None else self.choice.best.one_step

    def model(self, data: Trajectories) -> Model:
        """Fitted to these episodes."""
        fit, few = closed_forms(self.thresholds), _few(data, self.thresholds)
        return fit.models(few, None, [AM], self.horizon, self.seed, self.choice)[0]

    def critic(self, case: Case, model: Model, name: str) -> ModelCritic | None:
        """Values in the model; None where following the policy from every logged step would take too long."""
        rules = self.thresholds.rollouts
        if int(case.steps_left.sum()) * model.effort > rules.most_of_answer:
            return None
        return ModelCritic(
            model,
            name,
            self.seed,
            individual_rollouts=rules.individuals,
            step_rollouts=rules.steps,
            most_steps=rules.most // model.effort,
            most_individual_steps=rules.most_of_individuals // model.effort,
            negligible=None,
            rewards=(float(case.data.rewards.min()), float(case.data.rewards.max())),
            note=f"found in a model that misses held-out states by {self.missed:.1%} of their movement",
        )


def _few(data: Trajectories, thresholds: Thresholds) -> Trajectories:
    """Of a long log some episodes."""
    chosen = spread_episodes(data, thresholds.fit.most_steps)
    return data if chosen is None else data.take(chosen)
