"""One part of a log that is larger than memory: what is summed of its episodes, wherever it is read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from jaxtyping import Int, Shaped

from repbm.core import Label
from repbm.data import Informative, Trajectories
from repbm.engines import Engine, Note, in_order
from repbm.estimators import SOFTENING, Case, CorrectedSums, FoldCritic, GroupSums, group_numbers
from repbm.evaluation._asked import asked_case, fitted_case
from repbm.evaluation._options import Question
from repbm.logs import CodedOtherwise, Drawn, Piece, Scan
from repbm.policies import LearnedBehavior, Policy

if TYPE_CHECKING:
    from repbm.critics import WholeModel
    from repbm.models import FitSums


@dataclass
class Sums:
    """Of a part, or of several."""

    weighed: dict[str, GroupSums] = field(default_factory=dict)
    """By policy."""
    corrected: dict[tuple[str, str], CorrectedSums] = field(default_factory=dict)
    """By policy and estimator."""
    fitted: dict[tuple[str, str], FitSums] = field(default_factory=dict)
    """By policy and critic: what models of all steps are fitted from."""

    def add(self, other: Sums) -> None:
        _add(self.weighed, other.weighed)
        _add(self.corrected, other.corrected)
        _add(self.fitted, other.fitted)


def _add(mine: dict[Any, Any], theirs: Mapping[Any, Any]) -> None:
    for key, own in theirs.items():
        mine[key] = mine[key] + own if key in mine else own


@dataclass(frozen=True, eq=False)
class SampleFolds:
    """Which fold judges an episode, in the sample or not: one that taught is judged by what is known without it."""

    names: Shaped[np.ndarray, " sample"]
    """What tells the episodes of the sample from all others, in order,"""
    places: Int[np.ndarray, " sample"]
    """and where they stand in the sample."""

    @classmethod
    def of(cls, drawn: Drawn) -> SampleFolds:
        assert drawn.names is not None
        order = np.argsort(drawn.names, kind="stable")
        return cls(drawn.names[order], order)

    def of_episodes(
        self, names: Shaped[np.ndarray, " episodes"], first: int, folds: Int[np.ndarray, " sample"]
    ) -> Int[np.ndarray, " episodes"]:
        """The folds of episodes number `first` and on, where those of the sample have `folds`.

        Others taught nothing, and any fold may judge them: they take turns, so that none counts for more.
        """
        at = np.searchsorted(self.names, names).clip(0, len(self.names) - 1)
        turns = (first + np.arange(len(names))) % (int(folds.max()) + 1)
        return np.where(self.names[at] == names, folds[self.places[at]], turns)


@dataclass(frozen=True, eq=False)
class Learned:
    """What says how probable logged actions were, where the log does not: the behavior behind a sample."""

    behavior: LearnedBehavior
    sample: SampleFolds
    columns: Informative | None
    """The columns that it was learned from, where not all."""

    @classmethod
    def of(cls, behavior: LearnedBehavior, drawn: Drawn, columns: Informative | None) -> Learned:
        """Without the probabilities of the sample, which need not travel."""
        few = replace(behavior, probabilities=behavior.probabilities[:0])
        return cls(few, SampleFolds.of(drawn), columns)

    def told(self, data: Trajectories, first: int, names: Shaped[np.ndarray, " episodes"]) -> Trajectories:
        """The part of the log whose episodes have these names, the first of them this number, with probabilities."""
        folds = self.sample.of_episodes(names, first, self.behavior.folds)
        chances = self.behavior.elsewhere(data if self.columns is None else self.columns.log(data), folds)
        return replace(data, behavior=chances[np.arange(len(chances)), data.actions.codes])


@dataclass(frozen=True, eq=False)
class Correction:
    """What corrects values: the critics behind answers, by policy and estimator, fitted to a sample."""

    critics: Mapping[tuple[str, str], FoldCritic]
    folds: Mapping[tuple[str, str], Int[np.ndarray, " sample"]]
    sample: SampleFolds
    steps: int
    """The number of steps of the longest of the episodes that correct."""
    episodes: int
    """How many these are."""

    @classmethod
    def of(
        cls,
        critics: Mapping[tuple[str, str], FoldCritic],
        drawn: Drawn,
        asked: pl.DataFrame,
    ) -> Correction:
        """`asked` are the episodes that correct."""
        folds = {key: critic.folds for key, critic in critics.items()}
        alone = {key: critic.alone() for key, critic in critics.items()}
        steps = int(asked["length"].to_numpy().max())
        return cls(alone, folds, SampleFolds.of(drawn), steps, len(asked))

    def sums(
        self,
        case_of: Callable[[str], Case],
        question: Question,
        first: int,
        names: np.ndarray,
        groups: int,
    ) -> dict[tuple[str, str], CorrectedSums]:
        """Of episodes number `first` and on, which are called so; `case_of` gives the case of a policy."""
        numbers = group_numbers(first, len(names), groups, question.seed)
        shape = groups, min(self.steps, question.horizon or self.steps)
        found = {}
        for (name, estimator), critic in self.critics.items():
            folds = self.sample.of_episodes(names, first, self.folds[name, estimator])
            case = case_of(name)
            judging = critic.elsewhere(case, folds)
            found[name, estimator] = CorrectedSums.of(case, judging, numbers, shape, self.episodes)
        return found


@dataclass(frozen=True, eq=False)
class PartSums:
    """How a part of a log becomes sums."""

    scan: Scan
    read: Callable[[pl.DataFrame], Trajectories]
    policies: Mapping[str, Policy]
    question: Question
    labels: tuple[Label, ...]
    """The actions of the log, in the order of their codes."""
    groups: int
    learned: Learned | None = None
    weigh: bool = True
    """Whether importance sampling is asked for."""
    correction: Correction | None = None
    models: Mapping[tuple[str, str], WholeModel] = field(default_factory=dict)
    """By policy and critic: what is to be fitted to all steps."""
    columns: Informative | None = None
    """The columns that critics and models were fitted to, where not all."""
    longest: int | None = None
    """The number of steps of the longest episode of all."""

    def __call__(self, piece: Piece, frame: pl.DataFrame) -> Sums | str:
        """Or why there are none: observations that are looked at hold what the sample never shows."""
        try:
            data = self.read(frame)
        except CodedOtherwise as fault:
            return fault.what
        return self.sums(data, piece.before, piece.row_numbers if self.scan.layout.episode is None else None)

    def sums(self, data: Trajectories, first: int, names: Shaped[np.ndarray, " episodes"] | None = None) -> Sums:
        """Of episodes number `first` and on; `names` tells them from all others, where labels do not."""
        question, found = self.question, Sums()
        data = replace(data, actions=data.actions.onto(self.labels))
        data = data if question.horizon is None else data.until(question.horizon)
        names = data.labels_of() if names is None else names
        data = data if self.learned is None else self.learned.told(data, first, names)
        for name, policy in self.policies.items() if self.weigh else ():
            case = asked_case(data, name, policy, question)
            found.weighed[name] = GroupSums.of(case, first, self.groups, question.seed, (0.0, SOFTENING))
        case_of = cache(partial(self._case, data, data if self.columns is None else self.columns.log(data)))
        if self.correction is not None:
            found.corrected = self.correction.sums(case_of, question, first, names, self.groups)
        for (name, critic), model in self.models.items():
            found.fitted[name, critic] = model.sums(case_of(name))
        return found

    def _case(self, data: Trajectories, seen: Trajectories, name: str) -> Case:
        """That of a policy, with the columns that critics and models were fitted to."""
        asked = asked_case(data, name, self.policies[name], self.question, self.longest)
        return fitted_case(asked, self.columns, seen)


def summed_parts(
    work: PartSums, pieces: Sequence[Piece], engine: Engine, announce: Callable[[int], None]
) -> Generator[Sums | str]:
    """The sums of every part, or why it has none, in order; `announce` is told how many episodes are done.

    Several workers each read parts of their own; one reads the next part while it sums this one.
    """
    announce(0)
    if engine.workers == 1:
        for piece, frame in zip(pieces, work.scan.read_pieces(pieces), strict=True):
            yield work(piece, frame)
            announce(piece.before + piece.episodes)
        return
    for done in in_order(engine.map(_begun, pieces, shared=work)):
        yield done.result()
        announce(pieces[done.index].before + pieces[done.index].episodes)


def _begun(work: PartSums) -> Callable[[Piece, Note], Sums | str]:
    return lambda piece, note: work(piece, work.scan.read_piece(piece))
