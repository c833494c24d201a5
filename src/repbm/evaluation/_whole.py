"""What can be summed over all episodes of a log that is larger than memory, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from repbm.data import Trajectories
from repbm.estimators import SOFTENING, GroupSums
from repbm.evaluation._asked import asked_case
from repbm.evaluation._options import Question
from repbm.inference import groups_of
from repbm.logs import Drawn, Scan
from repbm.policies import Policy


class AllEpisodes:
    """Sums for importance sampling and diagnostics, by policy, of all episodes of a log that is read in parts."""

    def __init__(self, policies: Mapping[str, Policy], question: Question, announce: Callable[[str], None]) -> None:
        self.policies, self.question, self.announce = policies, question, announce
        self._sums: dict[str, GroupSums] = {}

    def while_drawn(self, scan: Scan) -> Callable[[Trajectories, int], Callable[[], None]] | None:
        """What weighs a part while a sample is taken from the same rows, where nothing of the sample is needed for it.

        See `_weighing`.
        """
        if scan.layout.behavior_prob is None or not scan.together or self._look:
            return None
        return self._weighing(scan)

    def of(self, drawn: Drawn) -> dict[str, GroupSums]:
        """None where all of the log was read.

        None either where the log does not say how probable its actions were (that is learned from the sample), or where
        observations that a policy looks at are coded by what the sample shows.
        """
        scan, sample = drawn.scan, drawn.data
        coded = sample.encoding is not None and not all(coding.plain for coding in sample.encoding.codings)
        if self._sums or scan is None or sample.behavior is None or (coded and self._look):
            return self._sums
        weigh, done = self._weighing(scan), 0
        for data in drawn.parts():
            if self._look and data.names != sample.names:
                return {}
            weigh(data, done)()
            done += len(data)
        return self._sums

    @property
    def _look(self) -> bool:
        return any(policy.needs_observations for policy in self.policies.values())

    def _weighing(self, scan: Scan) -> Callable[[Trajectories, int], Callable[[], None]]:
        """Sums up a part, whose first episode has this number, in any thread; what it returns adds that to the rest."""
        question, episodes = self.question, len(scan.episodes)
        longest = scan.longest if question.horizon is None else min(scan.longest, question.horizon)
        count = min(episodes, groups_of(longest, question.thresholds.intervals))
        labels = scan.labels

        def weigh(data: Trajectories, first: int) -> Callable[[], None]:
            data = replace(data, actions=data.actions.onto(labels))
            data = data if question.horizon is None else data.until(question.horizon)
            found = {
                name: GroupSums.of(
                    asked_case(data, name, policy, question), first, count, question.seed, (0.0, SOFTENING)
                )
                for name, policy in self.policies.items()
            }

            def add() -> None:
                self.announce(f"weighing all episodes, {first} of {episodes}")
                for name, sums in found.items():
                    self._sums[name] = self._sums[name] + sums if name in self._sums else sums

            return add

        return weigh
