"""What can be summed over all episodes of a log that is larger than memory, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from repbm.core import Label, say
from repbm.data import Informative, Trajectories
from repbm.engines import Engine
from repbm.estimators import FoldCritic
from repbm.evaluation._options import Question
from repbm.evaluation._parts import Correction, Learned, PartSums, Sums, summed_parts
from repbm.inference import groups_of
from repbm.logs import Drawn, Scan, read_log
from repbm.policies import LearnedBehavior, Policy

if TYPE_CHECKING:
    from repbm.critics import WholeModel


@dataclass(frozen=True, eq=False)
class Taught:
    """What a sample teaches that all episodes may be asked: its behavior, where the log does not tell it, and the
    critics behind answers, by policy and estimator."""

    behavior: LearnedBehavior | None = None
    critics: Mapping[tuple[str, str], FoldCritic] | None = None
    columns: Informative | None = None
    """The columns that tell something, where not all do."""
    models: Mapping[tuple[str, str], WholeModel] = field(default_factory=dict)
    """Models whose form the sample has chosen, by policy and critic."""


class AllEpisodes:
    """Sums for importance sampling, diagnostics and corrected values of all episodes of a log that is read in parts.

    What is learned from the sample is asked about all episodes, or about evenly spread ones of so many steps as are
    worth the time (`memory.asked_steps`).
    """

    def __init__(
        self, policies: Mapping[str, Policy], question: Question, announce: Callable[[str], None], engine: Engine
    ) -> None:
        self.policies, self.question, self.announce, self.engine = policies, question, announce, engine
        self._sums = Sums()
        self.notes: list[str] = []
        """Why rows rest on the sample, where all episodes cannot be asked."""

    def while_drawn(self, scan: Scan) -> Callable[[Trajectories, int], Callable[[], None]] | None:
        """What weighs a part while a sample is taken from the same rows, where nothing of the sample is needed for it,
        and no other worker could do it meanwhile.

        A part, whose first episode has this number, is summed up in any thread; what is returned adds it to the rest.
        """
        if scan.layout.behavior_prob is None or not scan.together or self._look or self.engine.workers != 1:
            return None
        work = PartSums(scan, read_log, self.policies, self.question, scan.labels, self._groups(scan))

        def weigh(data: Trajectories, first: int) -> Callable[[], None]:
            found = work.sums(data, first)

            def add() -> None:
                self._say(first, len(scan.episodes))
                self._sums.add(found)

            return add

        return weigh

    def of(self, drawn: Drawn, taught: Taught) -> Sums:
        """Nothing where all of the log was read.

        Nothing either, and a note, where observations that somebody looks at hold what the sample never shows; nothing
        where something was learned from a sample that lacks one of the actions.
        """
        scan, sample = drawn.scan, drawn.data
        if scan is None:
            return self._sums
        known = sample.behavior is not None
        weigh = not self._sums.weighed and (known or taught.behavior is not None)
        steps = self.question.thresholds.memory.asked_steps // (taught.behavior.effort if taught.behavior else 1)
        ask = steps > len(sample.rewards) and set(scan.labels) == set(sample.actions.labels)
        critics, models = (taught.critics or {}, taught.models) if ask else ({}, {})
        slow = {key: model for key, model in models.items() if model.effort > 1}
        models = {key: model for key, model in models.items() if key not in slow}
        chosen = scan.spread(steps, self.question.seed) if ask and steps < scan.rows else None
        together = weigh and bool(critics or models) and not (known and chosen is not None)
        if weigh and (known or ask) and not together:
            self._pass(drawn, taught, None if known else chosen, weigh=True)
        if critics or models:
            self._pass(drawn, taught, chosen, together, critics, models)
        fewer = steps // max((model.effort for model in slow.values()), default=1)
        if slow and fewer > len(sample.rewards):
            chosen = scan.spread(fewer, self.question.seed) if fewer < scan.rows else None
            self._pass(drawn, taught, chosen, models=slow)
        return self._sums

    def _pass(
        self,
        drawn: Drawn,
        taught: Taught,
        chosen: pl.DataFrame | None,
        weigh: bool = False,
        critics: Mapping[tuple[str, str], FoldCritic] = MappingProxyType({}),
        models: Mapping[tuple[str, str], WholeModel] = MappingProxyType({}),
    ) -> None:
        """Read all episodes, or those chosen, and add their sums; none where a part has other observations.

        They correct these critics, and fit these models.
        """
        scan, sample = drawn.scan, drawn.data
        assert scan is not None
        asked = scan.episodes if chosen is None else chosen
        learned = None if taught.behavior is None else Learned.of(taught.behavior, drawn, taught.columns)
        teach = bool(critics or models) or learned is not None
        work = PartSums(
            scan,
            drawn.coded if self._look or teach else drawn.read,
            self.policies,
            self.question,
            self._labels(scan, sample, teach),
            self._groups(scan, chosen),
            learned,
            weigh,
            Correction.of(critics, drawn, asked) if critics else None,
            dict(models),
            taught.columns,
            scan.longest,
        )
        found, pieces = Sums(), scan.pieces(chosen)
        with closing(summed_parts(work, pieces, self.engine, lambda done: self._say(done, len(asked)))) as parts:
            for sums in parts:
                if isinstance(sums, str):
                    self._rest_on_sample(sums)
                    return
                found.add(sums)
        self._sums.add(found)

    def _rest_on_sample(self, why: str) -> None:
        """Said once, however many passes find it."""
        note = say("notes", "rest_on_sample", reason=why)
        if note not in self.notes:
            self.notes.append(note)

    def _labels(self, scan: Scan, sample: Trajectories, learned: bool) -> tuple[Label, ...]:
        """Those of the sample where something learned from it is asked; it has them all then."""
        return sample.actions.labels if learned else scan.labels

    def _groups(self, scan: Scan, chosen: pl.DataFrame | None = None) -> int:
        """How many groups of episodes are told apart."""
        longest = scan.longest if self.question.horizon is None else min(scan.longest, self.question.horizon)
        episodes = len(scan.episodes if chosen is None else chosen)
        return min(episodes, groups_of(longest, self.question.thresholds.intervals))

    @property
    def _look(self) -> bool:
        return any(policy.needs_observations for policy in self.policies.values())

    def _say(self, done: int, episodes: int) -> None:
        self.announce(f"weighing all episodes, {done} of {episodes}")
