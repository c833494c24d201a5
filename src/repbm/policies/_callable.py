"""Any function on a batch of observations is a policy."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label
from repbm.data import Coded
from repbm.policies._base import Choices, ObservationPolicy, checked_actions, checked_probabilities


class CallablePolicy(ObservationPolicy):
    """A function from an (n, d) array to n actions, or to (n, A) probabilities.

    Actions are labels as the log spells them. The A columns of probabilities stand for `actions` where given
    (or the function's own attribute `actions`); else for 0 ... A-1 if the log's actions are whole numbers below
    A; else for the log's actions in sorted order.
    """

    def __init__(
        self, function: Callable[[Any], Any], actions: Sequence[Label] | None = None, name: str | None = None
    ) -> None:
        declared = getattr(function, "actions", None) if actions is None else actions
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.actions = None if declared is None else checked_actions(declared, f"policy {self.name}")

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        who = f"policy {self.name}"
        result = self._called(observations, who)
        self._knows(labels, who)
        if result.ndim == 1 and len(result) == len(observations):
            return self._actions(result, labels, who)
        if result.ndim == 2 and len(result) == len(observations):
            known = self._columns(result.shape[1], labels, who)
            return Choices(known, checked_probabilities(result, who))
        n = len(observations)
        raise InputError(
            f"{who} returns shape {result.shape} for {n} observations",
            fix=f"return {n} actions, or probabilities of shape ({n}, number of actions)",
        )

    def _called(self, observations: np.ndarray, who: str) -> np.ndarray:
        try:
            result = self.function(np.ascontiguousarray(observations))
        except (Exception, SystemExit) as fault:
            # After our own frame comes the function; the last line of its file says most.
            frames = traceback.extract_tb(fault.__traceback__)[1:]
            own = [frame for frame in frames if frame.filename == frames[0].filename]
            where = f"{own[-1].filename}:{own[-1].lineno}" if own else None
            raise InputError(f"{who} fails with {type(fault).__name__}: {fault}", where=where) from fault
        try:
            return np.asarray(result)
        except Exception as fault:
            raise InputError(f"{who} returns what is no array ({fault})", fix="return a NumPy array") from fault

    def _knows(self, labels: tuple[Label, ...], who: str) -> None:
        unknown = [label for label in labels if self.actions is not None and label not in self.actions]
        if unknown:
            raise InputError(
                f"the log has the action {unknown[0]!r}, which {who} does not know",
                fix="add it to the policy's actions",
            )

    def _actions(self, result: np.ndarray, labels: tuple[Label, ...], who: str) -> Choices:
        try:
            coded = Coded.of(result, self.actions or ())
        except ValueError as fault:
            raise InputError(
                f"{who} returns {fault}",
                fix="return one action an observation, as the log spells it, or a row of probabilities",
            ) from fault
        foreign = next((x for x in coded.labels if not isinstance(x, tuple({type(y) for y in labels}))), None)
        if foreign is not None:
            raise InputError(
                f"{who} returns the action {foreign!r}, but the log's actions are like {labels[0]!r}",
                fix="return actions as the log spells them",
            )
        return Choices(coded.labels, coded.codes)

    def _columns(self, count: int, labels: tuple[Label, ...], who: str) -> tuple[Label, ...]:
        """The labels that the columns of probabilities stand for."""
        if self.actions is not None:
            if len(self.actions) != count:
                raise InputError(f"{who} declares {len(self.actions)} actions but returns {count} probabilities a row")
            return self.actions
        if all(isinstance(label, int) and 0 <= label < count for label in labels):
            return tuple(range(count))
        if count == len(labels):
            return labels
        raise InputError(
            f"{who} returns {count} probabilities a row, but the log has {len(labels)} actions",
            fix="return one column an action in sorted order, or set the function's attribute `actions`",
        )
