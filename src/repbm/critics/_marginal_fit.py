"""Fitting the critic behind the answer: what is fitted independently, and joined."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Int

from repbm.core import Thresholds, stream
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._fqe import fit_fqe
from repbm.critics._history_critic import HistoryCritic, with_history
from repbm.critics._initial_regression import initial_features
from repbm.critics._logged_values import LoggedValues, logged_case, without_fold
from repbm.critics._marginal import CrossFittedValues
from repbm.critics._markov import history_tells
from repbm.critics._state_ratio import fit_state_ratio
from repbm.critics._value_critic import ActionValueCritic
from repbm.data import History, Trajectories, spread_episodes
from repbm.estimators import Case, MarginalCritic

_T = TypeVar("_T")

_NO_POLICY: WeakKeyDictionary[Trajectories, dict[Hashable, Any]] = WeakKeyDictionary()
"""What no policy changes: of a log that several are asked about it is fitted once."""


@dataclass(frozen=True, eq=False)
class MarginalFit:
    """Fitted Q evaluation and state ratios, both by folds of the episodes.

    Where what came before a state tells more of what follows, all is fitted to a log with that as further columns.
    """

    asked: Case
    name: str
    seed: int
    thresholds: Thresholds

    @cached_property
    def history(self) -> History | None:
        """What came before, where it matters."""
        return self._once("history", lambda: history_tells(self.asked, self.seed, self.thresholds.history))

    @cached_property
    def case(self) -> Case:
        """What is fitted to."""
        return self.asked if self.history is None else with_history(self.asked, self.history)

    @cached_property
    def folds(self) -> Int[np.ndarray, " episodes"]:
        n = len(self.asked.data)
        return stream(self.seed, "marginal-folds").permutation(n) % min(self.thresholds.ratio.folds, n)

    @cached_property
    def taught(self) -> Int[np.ndarray, " some"]:
        """The episodes that teach values of the policy: of a long log some."""
        chosen = spread_episodes(self.asked.data, self.thresholds.fitted_q.most_steps)
        return np.arange(len(self.asked.data)) if chosen is None else chosen

    @cached_property
    def now(self) -> Case:
        return logged_case(self.case)

    @property
    def parts(self) -> list[Callable[[], Any]]:
        """Values of the policy by all episodes (with the history they need) and without each fold, those of what is
        done now, and state ratios."""
        each = range(int(self.folds.max()) + 1)
        return [
            lambda: (self.history, self._whole()),
            *(partial(self._without, k) for k in each),
            *(partial(self._logged_without, k) for k in each),
            lambda: fit_state_ratio(self.case, self.folds, self.seed, self.thresholds.ratio),
        ]

    def joined(self, results: Sequence[Any]) -> MarginalCritic:
        """The critic, of what the parts gave."""
        count, rules = (len(results) - 2) // 2, self.thresholds.individuals
        (history, whole), ratios = results[0], results[-1]
        parts, logged = results[1 : count + 1], results[count + 1 : -1]
        # Known by now, and not to be looked for again.
        vars(self)["history"] = history
        features = initial_features(self.case.data)
        now = LoggedValues.of(self.case, self.now, tuple(logged), self.folds, features, rules)
        judging = CrossFittedCritic(tuple(parts), self.folds, self.name)
        found = CrossFittedValues(judging, whole, ratios, now, self.name, rules)
        return found if history is None else HistoryCritic(found, history, self.seed, self.thresholds.history)

    def _whole(self) -> ActionValueCritic:
        return self._fitted(self.case if len(self.taught) == len(self.folds) else self.case.take(self.taught))

    def _without(self, fold: int) -> ActionValueCritic:
        return self._fitted(self.case.take(self.taught[self.folds[self.taught] != fold]))

    def _logged_without(self, fold: int) -> ActionValueCritic:
        individuals = self.thresholds.individuals
        return self._once(fold, lambda: self._fitted(without_fold(self.now, self.folds, fold, individuals)))

    def _once(self, what: Hashable, make: Callable[[], _T]) -> _T:
        """Made for the first policy on the same log, with the same question."""
        known = _NO_POLICY.setdefault(self.asked.data, {})
        key = what, self.asked.discount, self.asked.most_steps, self.name, self.seed, self.thresholds
        if key not in known:
            known[key] = make()
        return known[key]

    def _fitted(self, part: Case) -> ActionValueCritic:
        rules = self.thresholds.fitted_q
        found = fit_fqe(part.data, part.policy, part.discount, part.most_steps, seed=self.seed, rules=rules)
        return ActionValueCritic(found, self.name)
