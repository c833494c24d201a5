"""What can be summed over all episodes of a log that is larger than memory, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing

import polars as pl

from repbm.core import Label
from repbm.data import Informative, Trajectories
from repbm.engines import Engine
from repbm.evaluation._options import Question
from repbm.evaluation._parts import Learned, PartSums, SampleFolds, Sums, summed_parts
from repbm.inference import groups_of
from repbm.logs import PART_STEPS, Drawn, Scan, read_log
from repbm.policies import LearnedBehavior, Policy


class AllEpisodes:
    """Sums for importance sampling and diagnostics, by policy, of all episodes of a log that is read in parts.

    Where the log does not say how probable its actions were, that is learned from the sample, and asked about all
    episodes, or about evenly spread ones of so many steps as are worth the time (`memory.asked_steps`).
    """

    def __init__(
        self, policies: Mapping[str, Policy], question: Question, announce: Callable[[str], None], engine: Engine
    ) -> None:
        self.policies, self.question, self.announce, self.engine = policies, question, announce, engine
        self._sums: Sums = {}

    def while_drawn(self, scan: Scan) -> Callable[[Trajectories], None] | None:
        """What adds a part while a sample is taken from the same rows, where nothing of the sample is needed for it,
        and no other worker could do it meanwhile."""
        if scan.layout.behavior_prob is None or not scan.together or self._look or self.engine.workers != 1:
            return None
        work, done = self._work(scan, read_log, scan.labels, len(scan.episodes)), 0

        def add(data: Trajectories) -> None:
            nonlocal done
            self._say(done, len(scan.episodes))
            self._add(work.sums(data, done))
            done += len(data)

        return add

    def of(self, drawn: Drawn, behavior: LearnedBehavior | None = None, columns: Informative | None = None) -> Sums:
        """None where all of the log was read. `behavior` is what was learned from these columns of the sample.

        None either where observations that somebody looks at are coded by what the sample shows, or where the behavior
        was learned from a sample that lacks one of the actions.
        """
        scan, sample = drawn.scan, drawn.data
        known = sample.behavior is not None
        if self._sums or scan is None or not (known or behavior):
            return self._sums
        look = self._look or not known
        if look and sample.encoding is not None and not all(coding.plain for coding in sample.encoding.codings):
            return {}
        learned, chosen = None, None
        if not known:
            assert behavior is not None
            steps = self.question.thresholds.memory.asked_steps // behavior.effort
            if steps <= len(sample.rewards) or set(scan.labels) != set(sample.actions.labels):
                return {}
            learned = Learned(behavior, SampleFolds.of(drawn), columns)
            chosen = scan.spread(steps, self.question.seed) if steps < scan.rows else None
        labels, episodes = (
            scan.labels if known else sample.actions.labels,
            len(scan.episodes if chosen is None else chosen),
        )
        work = self._work(scan, drawn.read, labels, episodes, sample.names if look else None, learned)
        pieces = scan.pieces(PART_STEPS, chosen)
        with closing(summed_parts(work, pieces, self.engine, lambda done: self._say(done, episodes))) as parts:
            for sums in parts:
                if sums is None:
                    self._sums.clear()
                    break
                self._add(sums)
        return self._sums

    def _work(
        self,
        scan: Scan,
        read: Callable[[pl.DataFrame], Trajectories],
        labels: tuple[Label, ...],
        episodes: int,
        observed: tuple[str, ...] | None = None,
        learned: Learned | None = None,
    ) -> PartSums:
        question = self.question
        longest = scan.longest if question.horizon is None else min(scan.longest, question.horizon)
        groups = min(episodes, groups_of(longest, question.thresholds.intervals))
        return PartSums(scan, read, self.policies, question, labels, groups, observed, learned)

    @property
    def _look(self) -> bool:
        return any(policy.needs_observations for policy in self.policies.values())

    def _say(self, done: int, episodes: int) -> None:
        self.announce(f"weighing all episodes, {done} of {episodes}")

    def _add(self, sums: Sums) -> None:
        for name, own in sums.items():
            self._sums[name] = self._sums[name] + own if name in self._sums else own
