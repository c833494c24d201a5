"""What individuals can expect with what is done now: the values of the behavior, whatever it knows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from repbm.core import IndividualRules, Label
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._initial_regression import Features, InitialRegression
from repbm.critics._value_critic import ActionValueCritic, values_later
from repbm.data import Categorical
from repbm.estimators import Case
from repbm.policies import CallablePolicy

_NOW: tuple[Label, ...] = ("now",)


def logged_case(case: Case) -> Case:
    """The log with a single action, to do what was done: what follows a state then is what followed it."""
    count = len(case.data.rewards)
    same = Categorical(np.zeros(count, dtype=np.int32), _NOW)
    data = replace(case.data, actions=same, behavior=np.ones(count))
    return Case.of(
        data, CallablePolicy(lambda states: np.ones((len(states), 1)), actions=_NOW), case.discount, case.most_steps
    )


def without_fold(now: Case, folds: Int[np.ndarray, " episodes"], fold: int, rules: IndividualRules) -> Case:
    """What the values that judge a fold are fitted to: of a long log some episodes."""
    apart = max(1, -(-len(now.data.rewards) // rules.most_steps))
    return now.take(of_other_folds(np.arange(0, len(folds), apart), folds, fold))


def of_other_folds(
    taught: Int[np.ndarray, " some"], folds: Int[np.ndarray, " episodes"], fold: int
) -> Int[np.ndarray, " kept"]:
    """The episodes that teach, but for those of a fold; where none is left, as of few and very long ones, another."""
    kept = taught[folds[taught] != fold]
    return kept if len(kept) else np.flatnonzero(folds != fold)[:1]


@dataclass(frozen=True, eq=False)
class LoggedValues:
    """V_0 of the behavior by values fitted without each fold, their mean, plus what they miss of returns."""

    case: Case
    parts: tuple[ActionValueCritic, ...]
    left_out: Float[np.ndarray, " episodes"]
    """For the logged individuals, by what was fitted without their fold."""
    earned: Float[np.ndarray, " episodes"]
    """What their episodes earned, with what can be expected where the log lost sight of them."""
    missed: InitialRegression

    def __call__(self, states: Float[np.ndarray, "some dimensions"]) -> Float[np.ndarray, " some"]:
        return self.by_fold(states).mean(axis=0) + self.missed(states)

    def by_fold(self, states: Float[np.ndarray, "some dimensions"]) -> Float[np.ndarray, "folds some"]:
        return np.stack([part.values_of(self.case, states).values for part in self.parts])

    @classmethod
    def of(
        cls,
        case: Case,
        now: Case,
        parts: tuple[ActionValueCritic, ...],
        folds: Int[np.ndarray, " episodes"],
        features: Features,
        rules: IndividualRules,
    ) -> LoggedValues:
        """`now` is the `logged_case`, and parts were fitted to what `without_fold` leaves of it."""
        states = case.data.initial_observations
        earned = _earned(now, CrossFittedCritic(parts, folds, "now"))
        left_out = np.empty(len(states))
        for k, part in enumerate(parts):
            left_out[folds == k] = part.values_of(now, states[folds == k]).values
        missed = InitialRegression.of(features, states, earned - left_out, rules.evidence)
        return cls(now, parts, left_out, earned, missed)

    def elsewhere(self, case: Case, folds: Int[np.ndarray, " episodes"]) -> LoggedValues:
        """Of other episodes, each judged by what was fitted without this fold."""
        now, judging = logged_case(case), CrossFittedCritic(self.parts, folds, "now")
        return replace(self, left_out=judging.initial(now).values, earned=_earned(now, judging))

    def alone(self) -> LoggedValues:
        """What `elsewhere` needs, without all that is known of the log that it was fitted to."""
        parts = tuple(part.alone() for part in self.parts)
        return replace(
            self, case=self.case.take(np.arange(1)), parts=parts, left_out=self.left_out[:0], earned=self.earned[:0]
        )

    def of_episodes(self, episodes: Int[np.ndarray, " some"]) -> LoggedValues:
        return replace(self, left_out=self.left_out[episodes], earned=self.earned[episodes])


def _earned(now: Case, critics: CrossFittedCritic) -> Float[np.ndarray, " episodes"]:
    """Returns; of episodes that the log lost sight of, with V of the state after the last step.

    Where that state was not logged, with V of the last one that was, in which the last reward is contained.
    """
    data, cut = now.data, np.flatnonzero(~now.whole)
    shown = np.asarray(np.isfinite(data.final_observations).all(axis=1))[cut]
    last = data.lasts[cut]
    played = data.lengths[cut] - ~shown
    states = np.where(shown[:, None], data.final_observations[cut], data.observations[last])
    expected = values_later(critics, now, cut, states, now.most_steps - played)
    result = now.returns.copy()
    result[cut] += now.discount ** played.astype(np.float64) * (expected - np.where(shown, 0.0, data.rewards[last]))
    return result
