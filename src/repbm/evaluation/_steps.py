"""How far an evaluation is, in parts that weigh what they took on earlier logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repbm.core import Progress, silent
from repbm.estimators import EstimatorSpec, Role

_READING, _ASKING, _LEARNING, _JUDGING, _CLOSER = 1, 1, 30, 5, 10
"""Tenths of a second, a policy where it concerns one: logs of 500 to 600 episodes of 6 steps, with up to 9 columns."""
_FITTED = {Role.CORRECTED: 40, Role.MODEL: 10}
_WEIGHED = 1


class Steps:
    """Tells whoever wants to know what is being done, how much is done, and how much there is."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress or silent
        self._refits = 0
        self.done, self.total, self._current = 0, _READING + _ASKING + _LEARNING, 0

    def begin(self, what: str, weight: int = _ASKING) -> None:
        """The next part."""
        self.done = min(self.done + self._current, self.total)
        self._current = weight
        self.note(what)

    def learn(self) -> None:
        self.begin("learning the behavior", _LEARNING)

    def plan(self, chosen: Mapping[str, Sequence[EstimatorSpec]], refits: int, details: bool) -> None:
        """Say what is left, once it is known which estimators are wanted of which policy."""
        self._refits = refits
        self.done, self._current = self.done + self._current, 0
        each = sum(self._weight(spec) for specs in chosen.values() for spec in specs)
        self.total = self.done + each + len(chosen) * (_JUDGING + _CLOSER * details)

    def estimate(self, spec: EstimatorSpec, policy: str) -> None:
        self.begin(f"{spec.name}, policy {policy}", self._weight(spec))

    def judge(self, policy: str) -> None:
        self.begin(f"what the log supports, policy {policy}", _JUDGING)

    def look_closer(self, policy: str) -> None:
        self.begin(f"looking closer, policy {policy}", _CLOSER)

    def refit(self, spec: EstimatorSpec, policy: str, place: int) -> None:
        """The refit that begins, from 0 on."""
        single = self._weight(spec) // (1 + self._refits)
        said = f"{spec.name}, policy {policy}, refit {place + 1} of {self._refits}"
        self._progress(said, min(self.done + single * (1 + place), self.total), self.total)

    def note(self, what: str) -> None:
        """What is being done within a part."""
        self._progress(what, self.done, self.total)

    def end(self) -> None:
        self._progress("done", self.total, self.total)

    def _weight(self, spec: EstimatorSpec) -> int:
        single = _FITTED.get(spec.role, _WEIGHED)
        return single * (1 + self._refits) if spec.role is Role.MODEL else single
