"""What one person asks of one log: the answers so far, each with the policy that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from repbm.core import InputError
from repbm.doctor import Examination
from repbm.engines import Engine
from repbm.evaluation import Evaluation, Outcome, PolicyEvaluator, Study
from repbm.policies import ObservationPolicy, Policy
from repbm.policies.adapters import DecisionTable

_MOST = 200
"""Answers that are kept."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What was asked, and what the log says."""

    number: int
    policy: Policy
    evaluation: Evaluation

    @property
    def name(self) -> str:
        return next(iter(self.evaluation.examination.verdicts))


class Session:
    """A log that is read once, the policies to begin with, and what was asked."""

    def __init__(self, study: Study, policies: Mapping[str, Policy], engine: Engine | None = None) -> None:
        self.study, self.policies = study, dict(policies)
        self.evaluator = PolicyEvaluator(
            discount=study.discount,
            horizon=study.horizon,
            reading=study.reading,
            outcome=study.outcome,
            details=False,
            engine=engine,
        )
        self.evaluator.fit(study.log)
        self._answers: dict[int, Answer] = {}
        self._lock, self._asked = Lock(), 0

    @property
    def outcome(self) -> Outcome:
        return self.study.outcome

    @property
    def examination(self) -> Examination:
        """What the doctor says of the log."""
        return self.evaluator.examination_

    @property
    def answers(self) -> list[Answer]:
        return list(self._answers.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken for what without being told."""
        if self._answers:
            return tuple(next(iter(self._answers.values())).evaluation.run["notes"])
        encoding = self.evaluator.log_.encoding
        return () if encoding is None else encoding.notes

    def answer(self, number: int) -> Answer | None:
        return self._answers.get(number)

    def blank(self) -> DecisionTable:
        """A table to begin with: a row for the first observation, which decides nothing yet."""
        data = self.evaluator.log_
        encoding = data.encoding
        named = data.names if encoding is None else tuple(coding.name for coding in encoding.codings)
        action, first = (encoding and encoding.action) or "action", data.actions.labels[0]
        return DecisionTable((*named[:4], action), ((*["*"] * len(named[:4]), str(first)),), "new")

    def ask(self, name: str, policy: Policy) -> Answer:
        """What the log says of a policy; one at a time, and nothing twice."""
        if not name.strip():
            raise InputError("the policy has no name", fix="give it one")
        with self._lock:
            same = (one for one in self._answers.values() if one.name == name and _same(one.policy, policy))
            known = next(same, None)
            if known is not None:
                return known
            acts = isinstance(policy, ObservationPolicy)
            self.evaluator.set_params(estimators=["corrected"] if acts else ["wis"])
            made = Answer(self._asked, policy, self.evaluator.evaluate({name: policy}))
            self._answers[made.number] = made
            self._asked += 1
            for old in list(self._answers)[:-_MOST]:
                del self._answers[old]
            return made

    def in_full(self, answer: Answer) -> Evaluation:
        """The same with every estimator, and all that a report shows: it takes longer."""
        with self._lock:
            self.evaluator.set_params(estimators=None)
            return self.evaluator.evaluate({answer.name: answer.policy}, details=True)


def _same(one: Policy, other: Policy) -> bool:
    if isinstance(one, DecisionTable) and isinstance(other, DecisionTable):
        return (one.header, one.cells) == (other.header, other.cells)
    return one is other
