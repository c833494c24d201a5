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

    def while_drawn(self, scan: Scan) -> Callable[[Trajectories], None] | None:
        """What adds a part while a sample is taken from the same rows, where nothing of the sample is needed for it."""
        if scan.layout.behavior_prob is None or not scan.together or self._look:
            return None
        return self._adding(scan)

    def of(self, drawn: Drawn) -> dict[str, GroupSums]:
        """None where all of the log was read.

        None either where the log does not say how probable its actions were (that is learned from the sample), or where
        observations that a policy looks at are coded by what the sample shows.
        """
        scan, sample = drawn.scan, drawn.data
        coded = sample.encoding is not None and not all(coding.plain for coding in sample.encoding.codings)
        if self._sums or scan is None or sample.behavior is None or (coded and self._look):
            return self._sums
        add = self._adding(scan)
        for data in drawn.parts():
            if self._look and data.names != sample.names:
                return {}
            add(data)
        return self._sums

    @property
    def _look(self) -> bool:
        return any(policy.needs_observations for policy in self.policies.values())

    def _adding(self, scan: Scan) -> Callable[[Trajectories], None]:
        """Adds the episodes that follow those which were added before."""
        question, episodes, done = self.question, len(scan.episodes), 0
        longest = scan.longest if question.horizon is None else min(scan.longest, question.horizon)
        count = min(episodes, groups_of(longest, question.thresholds.intervals))

        def add(data: Trajectories) -> None:
            nonlocal done
            self.announce(f"weighing all episodes, {done} of {episodes}")
            data = replace(data, actions=data.actions.onto(scan.labels))
            data = data if question.horizon is None else data.until(question.horizon)
            for name, policy in self.policies.items():
                case = asked_case(data, name, policy, question)
                sums = GroupSums.of(case, done, count, question.seed, (0.0, SOFTENING))
                self._sums[name] = self._sums[name] + sums if name in self._sums else sums
            done += len(data)

        return add
