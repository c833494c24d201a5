"""The critic behind the answer where what came before a state matters, too."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int

from repbm.core import HistoryRules
from repbm.critics._marginal import CrossFittedValues
from repbm.critics._markov import unexpected
from repbm.data import History
from repbm.estimators import Case, IndividualValues, StateValues, acting
from repbm.policies import FirstColumns

_NOTE = "states alone seem not to tell what follows: what came before them counts, too"


def with_history(case: Case, history: History) -> Case:
    """The same question in a log with what came before as further columns, which the policy does not see."""
    policy = FirstColumns(acting(case.policy, "history"), case.data.observations.shape[1])
    return replace(case, data=history.extended(case.data), policy=policy, _softened={})


@dataclass(frozen=True, eq=False)
class HistoryCritic:
    """Values and state ratios of a log with history, asked about the log itself."""

    inner: CrossFittedValues
    history: History
    states_lack_something: bool
    """Whether it tells more of what follows whatever the policy, beyond doubt."""
    seed: int
    rules: HistoryRules
    _extended: dict[Case, Case] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def states_tell_all(self) -> bool:
        return False

    @property
    def folds(self) -> Int[np.ndarray, " episodes"]:
        return self.inner.folds

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        return self.inner(self._case(case))

    def initial(self, case: Case) -> StateValues:
        return replace(self.inner.initial(self._case(case)), note=_NOTE)

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        return self.inner.values_of(self._case(case), self.history.initial(states))

    def individuals(
        self, case: Case, states: Float[np.ndarray, "individuals dimensions"] | None = None
    ) -> IndividualValues:
        return self.inner.individuals(self._case(case), None if states is None else self.history.initial(states))

    def error(self, case: Case) -> float:
        return self.inner.error(self._case(case))

    def logged(self, case: Case) -> Float[np.ndarray, " episodes"]:
        return self.inner.logged(self._case(case))

    def earned(self, case: Case) -> Float[np.ndarray, " episodes"]:
        return self.inner.earned(self._case(case))

    def ratios(self, case: Case) -> Float[np.ndarray, " steps"]:
        return self.inner.ratios(self._case(case))

    def of_episodes(self, case: Case, episodes: Int[np.ndarray, " some"]) -> HistoryCritic:
        return replace(self, inner=self.inner.of_episodes(self._case(case), episodes), _extended={})

    @property
    def asked_elsewhere(self) -> bool:
        return self.inner.asked_elsewhere

    def elsewhere(self, case: Case, folds: Int[np.ndarray, " episodes"]) -> HistoryCritic:
        extended = with_history(case, self.history)
        return replace(self, inner=self.inner.elsewhere(extended, folds), _extended={case: extended})

    def alone(self) -> HistoryCritic:
        return replace(self, inner=self.inner.alone(), _extended={})

    def initial_by_fold(self, case: Case) -> Float[np.ndarray, "folds episodes"]:
        return self.inner.initial_by_fold(self._case(case))

    def error_of(self, means: Float[np.ndarray, " folds"]) -> float:
        return self.inner.error_of(means)

    def final(self, case: Case) -> Float[np.ndarray, " episodes"]:
        return self.inner.final(self._case(case))

    def unexpected(self, case: Case) -> Float[np.ndarray, " steps"]:
        """Where states lack something, by states alone: what came before would tell of a lasting cause, and hide it."""
        if self.states_lack_something:
            return unexpected(case, self.seed, self.rules)
        return self.inner.unexpected(self._case(case))

    def _case(self, case: Case) -> Case:
        if case not in self._extended:
            self._extended[case] = with_history(case, self.history)
        return self._extended[case]
