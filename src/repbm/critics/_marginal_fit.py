"""Fitting the critic behind the answer: what is fitted independently, and joined."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Int

from repbm.core import Thresholds, stream
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._fqe import begin_fqe
from repbm.critics._history_critic import HistoryCritic, with_history
from repbm.critics._initial_regression import initial_features
from repbm.critics._logged_values import LoggedValues, logged_case, of_other_folds, without_fold
from repbm.critics._marginal import CrossFittedValues
from repbm.critics._markov import StatesTold
from repbm.critics._model_critic import ModelCritic
from repbm.critics._parts import BesideOthers, Part
from repbm.critics._state_ratio import fit_state_ratio
from repbm.critics._value_critic import ActionValueCritic
from repbm.critics._worlds import Worlds
from repbm.data import History, Trajectories, spread_episodes
from repbm.estimators import Case, Corrected, MarginalCritic
from repbm.inference import standard_error
from repbm.models import Comparison

_T = TypeVar("_T")

_NO_POLICY: WeakKeyDictionary[Trajectories, dict[Hashable, Any]] = WeakKeyDictionary()
"""What no policy changes: of a log that several are asked about it is fitted once."""


@dataclass(frozen=True, eq=False)
class MarginalFit:
    """Fitted Q evaluation and state ratios, both by folds of the episodes.

    Where what came before a state tells more of what follows, all is fitted to a log with that as further columns.
    Where a model tells held-out states nearly exactly, values are also found by following the policy in it, fitted
    without each fold, too; of the two those that leave the smaller standard error answer.
    """

    asked: Case
    name: str
    seed: int
    thresholds: Thresholds
    choice: Comparison | None = None
    """How closely closed forms tell held-out states, where that is known already."""

    @cached_property
    def history(self) -> History | None:
        """What came before, where it matters."""
        told = self.told
        # Where a model may be nearly exact, what is missed is its own mistake, and who follows the policy shares it.
        if told is None or not (told.enough or self.worlds.surely_noisy):
            return None
        return told.history(self.asked)

    @property
    def told(self) -> StatesTold | None:
        return self._once("told", lambda: StatesTold.of(self.asked, self.seed, self.thresholds.history))

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

    @cached_property
    def worlds(self) -> Worlds:
        """Models of the log, worth asking where they are nearly exact."""
        given = self.asked.data, self.asked.most_steps, self.seed, self.thresholds, self.choice
        return self._once("worlds", lambda: Worlds.of(*given))

    @property
    def parts(self) -> list[Part]:
        """State ratios, values of the policy by all episodes (with the history they need) and without each fold, those
        of what is done now, and, where a model is nearly exact, values in such models."""
        each = range(int(self.folds.max()) + 1)
        return [
            # What takes longest goes first, and is done while others come and go.
            BesideOthers(lambda: partial(fit_state_ratio, self.case, self.folds, self.seed, self.thresholds.ratio)),
            BesideOthers(self._whole),
            *(BesideOthers(partial(self._without, k)) for k in each),
            *(BesideOthers(partial(self._logged_without, k)) for k in each),
            *(partial(self._in_model, k) for k in (None, *each) if self.worlds.nearly_exact),
        ]

    def joined(self, results: Sequence[Any]) -> MarginalCritic:
        """The critic, of what the parts gave."""
        count, rules = int(self.folds.max()) + 1, self.thresholds.individuals
        ratios, (history, lacking, whole) = results[:2]
        parts, logged = results[2 : count + 2], results[count + 2 : 2 * count + 2]
        followed = results[2 * count + 2 :]
        # Known by now, and not to be looked for again.
        vars(self)["history"] = history
        features = initial_features(self.case.data)
        now = LoggedValues.of(self.case, self.now, tuple(logged), self.folds, features, rules)
        judging = CrossFittedCritic(tuple(parts), self.folds, self.name)
        found = CrossFittedValues(judging, whole, ratios.logged, ratios.pieces, now, self.name, rules)
        if history is not None:
            return HistoryCritic(found, history, lacking, self.seed, self.thresholds.history)
        if not followed or None in followed:
            return found
        without = CrossFittedCritic(tuple(followed[1:]), self.folds, self.name)
        other = replace(
            found, parts=without, all_episodes=followed[0], follows_model=True, _told={}, _logged={}, _by_fold={}
        )
        return min((found, other), key=lambda critic: _uncertainty(self.case, critic))

    def _whole(self) -> Callable[[], tuple[History | None, bool, ActionValueCritic]]:
        fit = self._fit(self.case if len(self.taught) == len(self.folds) else self.case.take(self.taught))
        lacking = self.told is not None and self.told.certain
        return lambda: (self.history, lacking, fit())

    def _without(self, fold: int) -> Callable[[], ActionValueCritic]:
        return self._fit(self.case.take(of_other_folds(self.taught, self.folds, fold)))

    def _in_model(self, fold: int | None) -> ModelCritic | None:
        """Values in a model of all episodes, or of those of other folds; None where these are not what matters."""
        if self.history is not None:
            return None
        kept = np.flatnonzero(self.folds != fold) if fold is not None else np.arange(len(self.folds))
        model = self._once(("model", fold), lambda: self.worlds.model(self.asked.data.take(kept)))
        return self.worlds.critic(self.asked, model, self.name)

    def _logged_without(self, fold: int) -> Callable[[], ActionValueCritic]:
        # What came before matters to some policies, and not to others.
        what = "logged", fold, self.history is None
        if self._key(what) in self._known:
            return lambda: self._known[self._key(what)]
        fit = self._fit(without_fold(self.now, self.folds, fold, self.thresholds.individuals))
        return lambda: self._once(what, fit)

    def _once(self, what: Hashable, make: Callable[[], _T]) -> _T:
        """Made for the first policy on the same log, with the same question."""
        known, key = self._known, self._key(what)
        if key not in known:
            known[key] = make()
        return known[key]

    @property
    def _known(self) -> dict[Hashable, Any]:
        return _NO_POLICY.setdefault(self.asked.data, {})

    def _key(self, what: Hashable) -> Hashable:
        return what, self.asked.discount, self.asked.most_steps, self.name, self.seed, self.thresholds

    def _fit(self, part: Case) -> Callable[[], ActionValueCritic]:
        """What fits values to this part of the log; the policy is asked here."""
        given = part.data, part.policy, part.discount, part.most_steps
        fit = begin_fqe(*given, seed=self.seed, rules=self.thresholds.fitted_q, forests=True)
        return lambda: ActionValueCritic(fit(), self.name)


def _uncertainty(case: Case, critic: MarginalCritic) -> float:
    """The standard error of the answer with this critic."""
    error = standard_error(Corrected(critic)(case))
    return error if np.isfinite(error) else np.inf
