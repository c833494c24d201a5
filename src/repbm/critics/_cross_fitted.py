"""Cross-fitting: every episode judged by a critic that was fitted without it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from repbm.estimators import Case, Critic, StateValues


@dataclass(frozen=True, eq=False)
class CrossFittedCritic:
    """Critics by fold: `folds[i]` is the number of the critic, fitted to the other folds, that judges episode i.

    Without it a critic that follows the noise of the log finds its own mistakes confirmed (Chernozhukov et al. 2018).
    States that are not in the log get the mean of all critics.
    """

    critics: tuple[Critic, ...]
    folds: Int[np.ndarray, " episodes"]
    name: str
    _parts: dict[Case, dict[int, Case]] = field(default_factory=dict, repr=False)

    def __call__(self, case: Case) -> tuple[Float[np.ndarray, " steps"], Float[np.ndarray, " steps"]]:
        logged, value = np.empty(len(case.data.rewards)), np.empty(len(case.data.rewards))
        fold_of_step = np.repeat(self.folds, case.data.lengths)
        for k, part in self._split(case).items():
            logged[fold_of_step == k], value[fold_of_step == k] = self.critics[k](part)
        return logged, value

    def initial(self, case: Case) -> StateValues:
        values = np.empty(len(case.data))
        notes = []
        for k, part in self._split(case).items():
            found = self.critics[k].initial(part)
            values[self.folds == k] = found.values
            notes.append(found.note)
        return StateValues(values, max(notes, key=len))

    def values_of(self, case: Case, states: Float[np.ndarray, "individuals dimensions"]) -> StateValues:
        found = [critic.values_of(case, states) for critic in self.critics]
        return StateValues(np.mean([one.values for one in found], axis=0), max((one.note for one in found), key=len))

    def _split(self, case: Case) -> dict[int, Case]:
        """The episodes of every fold that there are."""
        if case not in self._parts:
            folds = np.unique(self.folds).tolist()
            self._parts[case] = {k: case.take(np.flatnonzero(self.folds == k)) for k in folds}
        return self._parts[case]
