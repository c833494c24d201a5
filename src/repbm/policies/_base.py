"""What a policy is, what it does for a batch of observations, and what it does on a log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from repbm.core import InputError, Label, as_label, reason
from repbm.data import Categorical, Encoding, StepValues, Trajectories
from repbm.policies._manners import check_repeats

_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class Choices:
    """What a policy does for a batch of observations, in labels of its own.

    `what` holds one code for each observation (a deterministic policy), or one row of probabilities for each.
    """

    labels: tuple[Label, ...]
    what: Int[np.ndarray, " batch"] | Float[np.ndarray, "batch actions"]

    @property
    def deterministic(self) -> bool:
        return self.what.ndim == 1

    def matrix(self, labels: Sequence[Label]) -> Float[np.ndarray, "batch actions"]:
        """Probabilities with one column for each of `labels`, which must hold every action taken here."""
        column = {label: k for k, label in enumerate(labels)}
        place = np.asarray([column.get(label, -1) for label in self.labels])
        result = np.zeros((len(self.what), len(labels)))
        if self.deterministic:
            result[np.arange(len(self.what)), self._known(place[self.what])] = 1.0
            return result
        if self.labels == tuple(labels):
            return np.array(self.what, dtype=np.float64, order="C")
        taken = (self.what > 0).any(axis=0)
        self._known(place[taken])
        result[:, place[place >= 0]] = self.what[:, place >= 0]
        return result

    def of(self, actions: Categorical) -> Float[np.ndarray, " batch"]:
        """The probability of the given action of each observation."""
        column = {label: k for k, label in enumerate(self.labels)}
        place = np.asarray([column.get(label, -1) for label in actions.labels])[actions.codes]
        if self.deterministic:
            return (self.what == place).astype(np.float64)
        picked = self.what[np.arange(len(place)), np.maximum(place, 0)]
        return np.where(place >= 0, picked, 0.0)

    def softened(self, epsilon: float, labels: Sequence[Label]) -> Choices:
        """(1 - epsilon) of these choices plus epsilon of a uniform draw among `labels`."""
        matrix = self.matrix(labels)
        return Choices(tuple(labels), (1 - epsilon) * matrix + epsilon / len(labels))

    def greedy(self) -> Choices:
        """The most probable action of every row (the first of equals)."""
        return self if self.deterministic else Choices(self.labels, self.what.argmax(axis=1))

    def _known(self, place: np.ndarray) -> np.ndarray:
        if (place < 0).any():
            raise InputError("the policy takes an action that is not among those of the log")
        return place


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a policy does at every logged step.

    `labels` are the log's actions, in the log's codes, followed by actions that only the policy takes.
    `logged` gives the probability that the policy gives the logged action, at a slice of steps. `matrix` computes
    the probabilities of all actions, one column per label; None where only `logged` is known.
    """

    labels: tuple[Label, ...]
    logged: StepValues
    matrix: Callable[[], Float[np.ndarray, "steps actions"]] | None

    def take(self, steps: Int[np.ndarray, " some"]) -> Decisions:
        """The decisions at some steps, in this order; the policy is not asked again."""
        logged, matrix = self.logged(slice(None))[steps], self.matrix
        return Decisions(self.labels, lambda at: logged[at], None if matrix is None else cache(lambda: matrix()[steps]))

    def softened(self, epsilon: float) -> Decisions:
        """The decisions of the policy mixed with a uniform draw, of probability epsilon, among all actions."""
        noise = epsilon / len(self.labels)
        matrix = self.matrix
        return Decisions(
            self.labels,
            lambda at: (1 - epsilon) * self.logged(at) + noise,
            None if matrix is None else lambda: (1 - epsilon) * matrix() + noise,
        )


class Policy(ABC):
    """A policy that can be evaluated on a log."""

    @abstractmethod
    def decisions(self, data: Trajectories) -> Decisions:
        """What the policy does at every logged step."""

    @property
    def name(self) -> str:
        """A short name for tables and messages."""
        return type(self).__name__

    @property
    def text(self) -> str | None:
        """The rule as the user wrote it, where that can be shown."""
        return None

    @property
    def by_order(self) -> bool:
        """Whether the policy knows observations by their order alone."""
        return False

    @property
    def by_column(self) -> str | None:
        """The column that the policy is given, where nothing but the name of a parameter says so."""
        return None

    def bind(self, observation_names: tuple[str, ...], encoding: Encoding | None = None) -> Policy:
        """The policy for a log whose observations have these names, and were coded so.

        A policy that finds its columns by name looks them up here; one that goes by their order returns itself.
        """
        return self

    @property
    def needs_columns(self) -> tuple[str, ...]:
        """The columns of the log, besides observations, that the policy looks at."""
        return ()

    @property
    def needs_observations(self) -> bool:
        return True


class ObservationPolicy(Policy):
    """A policy that is a function of the observation alone: it can also act where no log is."""

    def bind(self, observation_names: tuple[str, ...], encoding: Encoding | None = None) -> ObservationPolicy:
        return self

    @abstractmethod
    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        """What the policy does for a batch of observations; `labels` are the actions that the log shows."""

    def probabilities(
        self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]
    ) -> Float[np.ndarray, "batch actions"]:
        """The probabilities of `labels`, one column each, for a batch of observations."""
        return self.choices(observations, labels).matrix(labels)

    def decisions(self, data: Trajectories) -> Decisions:
        known = data.actions.labels
        logged = np.empty(len(data.rewards))
        labels, taken = dict.fromkeys(known), False
        for start in range(0, len(logged), _BLOCK):
            block = slice(start, start + _BLOCK)
            choices = self.choices(data.observations[block].copy(), known)
            labels |= dict.fromkeys(choices.labels)
            taken = taken or any(label in known for label in choices.labels)
            logged[block] = choices.of(data.actions[block])
        if not taken:
            raise InputError(
                f"the policy's actions ({_shown(tuple(labels)[len(known) :])}) are none of the log's ({_shown(known)})",
                fix="let the policy return actions as the log spells them",
            )
        check_repeats(self, data.observations, known)
        every = tuple(labels)
        # Asked once, however many critics want to know.
        return Decisions(every, lambda at: logged[at], cache(lambda: self._matrix(data, known, every)))

    def _matrix(
        self, data: Trajectories, known: tuple[Label, ...], every: tuple[Label, ...]
    ) -> Float[np.ndarray, "steps actions"]:
        result = np.empty((len(data.rewards), len(every)))
        for start in range(0, len(result), _BLOCK):
            block = slice(start, start + _BLOCK)
            result[block] = self.choices(data.observations[block].copy(), known).matrix(every)
        result.flags.writeable = False
        return result


def _shown(labels: Sequence[Label], most: int = 6) -> str:
    """A few labels for a message."""
    words = [repr(label) for label in labels[:most]]
    return ", ".join([*words, "..."] if len(labels) > most else words)


def checked_actions(actions: Any, who: str) -> tuple[Label, ...]:
    """The labels that a policy declares, each once."""
    try:
        labels = tuple(as_label(label) for label in actions)
    except (TypeError, ValueError) as fault:
        raise InputError(
            f"the actions of {who} are no labels ({reason(fault)})", fix="list whole numbers or text"
        ) from fault
    twice = next((label for k, label in enumerate(labels) if label in labels[:k]), None)
    if twice is not None:
        raise InputError(f"{who} declares the action {twice!r} twice", fix="name every action once")
    return labels


def checked_probabilities(matrix: np.ndarray, who: str) -> Float[np.ndarray, "batch actions"]:
    """`matrix` as float64 if every row is a distribution; one clear line otherwise."""
    try:
        casting = "unsafe" if matrix.dtype == object else "same_kind"
        matrix = matrix.astype(np.float64, casting=casting, copy=False)
    except (TypeError, ValueError):
        raise InputError(f"{who} returns {matrix.dtype} in place of probabilities", fix="return numbers") from None
    within = matrix.min(initial=0.0) >= 0 and matrix.max(initial=0.0) <= 1 + 1e-6
    if not within and not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise InputError(f"{who} returns a probability that is not a number (observation {row})")
    if not within:
        row = int(np.flatnonzero(((matrix < 0) | (matrix > 1 + 1e-6)).any(axis=1))[0])
        hint = " (log-probabilities? return their exponential)" if (matrix <= 0).all() else ""
        raise InputError(f"{who} returns a probability outside 0 to 1 for observation {row}{hint}")
    total = matrix.sum(axis=1)
    off = np.abs(total - 1) > 1e-4
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise InputError(
            f"{who} returns probabilities that sum to {total[row]:.4g} for observation {row}",
            fix="each row must sum to 1",
        )
    return matrix / total[:, None]
