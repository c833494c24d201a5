"""Policies that another framework computes, and how its answers are read."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label, nearest, optional, reason
from repbm.data import Encoding
from repbm.policies._answers import coded_actions, column_labels
from repbm.policies._base import Choices, ObservationPolicy, checked_actions, checked_probabilities
from repbm.policies._manners import prints_aside

_BATCH = 1 << 15
"""Observations that a framework is asked about at once: its hidden layers stay small however long the log."""

_EXACTLY, _NEARLY = 1e-4, 0.02
"""How far from 1 probabilities may sum, and within what scores would be taken for rounded probabilities."""


class Answer(enum.Enum):
    """What a framework answers for an observation."""

    ACTION = "an action"
    PROBABILITIES = "a row of probabilities"
    SCORES = "a row of scores"


class EnginePolicy(ObservationPolicy):
    """A policy that a framework computes: `engine` answers an (n, d) array with n actions or with n rows of numbers.

    Whole numbers or text, one per observation, are the actions as the log spells them. A row of two or more numbers
    holds probabilities, or scores (logits, Q values) of which the highest is taken. Unless `answer` says which, the
    first observations asked about decide (on a log: its own): if no number is negative and every row sums to 1 (to four
    digits), these are probabilities; rows that all nearly do are an error; else they are scores. That stays so: a later
    row that does not sum to 1 is an error, never read as scores. Column k stands for `actions[k]` where given; else for
    the action k, or for the log's actions in sorted order where they are not whole numbers below the number of columns.

    `inputs` is how many observations the engine takes. `features` are their names where it knows them: they are then
    found in the log by name, in any order; without them the log's order counts.
    """

    def __init__(
        self,
        engine: Callable[[np.ndarray], Any],
        name: str,
        *,
        answer: Answer | None = None,
        actions: Sequence[Label] | None = None,
        inputs: int | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        self.engine, self.inputs = engine, inputs
        self._name = name
        self._answer = answer
        self.features = None if features is None else tuple(features)
        self.actions = None if actions is None else checked_actions(actions, self._who)
        self._places: np.ndarray | None = None
        self._encoding: Encoding | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def by_order(self) -> bool:
        return self.features is None

    @property
    def _who(self) -> str:
        return f"policy {self._name}"

    def bind(self, observation_names: tuple[str, ...], encoding: Encoding | None = None) -> EnginePolicy:
        if self.features is None:
            return self
        bound = EnginePolicy(
            self.engine,
            self._name,
            answer=self._answer,
            actions=self.actions,
            inputs=self.inputs,
            features=self.features,
        )
        codings = [None if encoding is None else encoding.find(name) for name in self.features]
        if any(coding is not None and not coding.plain for coding in codings) and None not in codings:
            bound._encoding = encoding
            return bound
        names = [name.removeprefix("obs_") for name in self.features]
        bound._places = np.asarray([_place(name, observation_names, self._who) for name in names])
        return bound

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        if self._encoding is not None:
            return self._read(self._asked(self._frame(observations, self._encoding)), labels)
        inputs = observations if self._places is None else observations[:, self._places]
        if self.inputs is not None and inputs.shape[1] != self.inputs:
            raise InputError(
                f"{self._who} takes {self.inputs} observations, the log has {inputs.shape[1]}",
                fix="name those it was trained on, in its order: --column obs=NAME,NAME,...",
            )
        return self._read(self._asked(inputs), labels)

    def _frame(self, observations: np.ndarray, encoding: Encoding) -> Any:
        """The columns that it was trained on, as the log has them."""
        columns = {}
        for name in self.features or ():
            coding = encoding.find(name)
            assert coding is not None
            columns[name] = coding.decoded(encoding.part(observations, coding))
        return optional("pandas", "pandas").DataFrame(columns)

    def _asked(self, inputs: Any) -> np.ndarray:
        """The engine's answers, one (or one row) per observation."""
        parts = []
        for start in range(0, max(len(inputs), 1), _BATCH):
            batch = inputs[start : start + _BATCH]
            # Its own, to change as it likes.
            batch = np.array(batch, order="C") if isinstance(batch, np.ndarray) else batch
            try:
                with prints_aside():
                    part = np.asarray(self.engine(batch))
            except InputError:
                raise
            except Exception as fault:  # every framework has its own errors
                raise InputError(
                    f"{self._who} fails on {inputs.shape[1]} observations ({reason(fault)})",
                    fix="check that the log's observations are those it was trained on",
                ) from fault
            if part.ndim == 2 and part.shape[1] == 1 and self._answer is not Answer.PROBABILITIES:
                part = part[:, 0]
            if part.ndim not in (1, 2) or len(part) != len(batch):
                raise InputError(
                    f"{self._who} answers {len(batch)} observations with shape {np.shape(part)}",
                    fix="it must give one action, or one row of numbers, per observation",
                )
            parts.append(part)
        return np.concatenate(parts)

    def _read(self, answer: np.ndarray, labels: tuple[Label, ...]) -> Choices:
        if self._answer is None:
            self._answer = _kind(answer, self._who)
        if (self._answer is Answer.ACTION) != (answer.ndim == 1):
            raise InputError(
                f"{self._who} answers with {_kind(answer, self._who).value} in place of {self._answer.value}",
                fix="it must always answer in the same form",
            )
        if self._answer is Answer.ACTION:
            return coded_actions(self._whole(answer), labels, self.actions, self._who)
        columns = column_labels(answer.shape[1], labels, self.actions, self._who)
        if self._answer is Answer.PROBABILITIES:
            return Choices(columns, checked_probabilities(answer, self._who))
        if not np.isfinite(answer).all():
            row = int(np.flatnonzero(~np.isfinite(answer).all(axis=1))[0])
            raise InputError(f"{self._who} gives observation {row} a score that is not a finite number")
        return Choices(columns, answer.argmax(axis=1))

    def _whole(self, answer: np.ndarray) -> np.ndarray:
        """Actions; numbers that are not whole are refused as continuous."""
        if answer.dtype.kind == "f" and not (np.isfinite(answer) & (answer == np.floor(answer))).all():
            odd = answer[~(np.isfinite(answer) & (answer == np.floor(answer)))][0]
            raise InputError(
                f"{self._who} gives the single number {odd:g}, which is no action (a continuous one, a probability?)",
                fix="only discrete actions can be evaluated: give one whole number, or one number per action",
            )
        return answer


def _kind(answer: np.ndarray, who: str) -> Answer:
    """What these answers are, by their shape and values."""
    if answer.ndim == 1:
        return Answer.ACTION
    if answer.dtype.kind not in "biuf":
        raise InputError(f"{who} answers with rows of {answer.dtype}", fix="it must give one number per action")
    off = np.abs(answer.sum(axis=1, dtype=np.float64) - 1)
    if not len(answer) or (answer < 0).any() or not (off <= _NEARLY).all():
        return Answer.SCORES
    if (off > _EXACTLY).any():
        row = int(off.argmax())
        raise InputError(
            f"{who} answers observation {row} with numbers that nearly sum to 1 (off by {off[row]:.2g})",
            fix="let it give probabilities that sum to 1, or plain scores",
        )
    return Answer.PROBABILITIES


def _place(name: str, present: tuple[str, ...], who: str) -> int:
    if name in present:
        return present.index(name)
    guess = nearest(name, present)
    raise InputError(
        f"{who} was trained on '{name}', which is no observation of the log",
        fix=f"if it is '{guess}', say --column obs_{name}={guess}"
        if guess
        else f"name it: --column obs_{name}=THEIRS (the observations are {', '.join(present[:12])})",
    )
