"""Any function on a batch of observations is a policy."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label, reason
from repbm.policies._answers import coded_actions, column_labels
from repbm.policies._base import Choices, ObservationPolicy, checked_actions, checked_probabilities
from repbm.policies._manners import prints_aside


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
        self._name = name or getattr(function, "__name__", type(function).__name__).strip("<>")
        self.actions = None if declared is None else checked_actions(declared, f"policy {self.name}")

    @property
    def name(self) -> str:
        return self._name

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        who = f"policy {self.name}"
        result = self._called(observations, who)
        self._knows(labels, who)
        if result.ndim == 1 and len(result) == len(observations):
            return coded_actions(result, labels, self.actions, who)
        if result.ndim == 2 and len(result) == len(observations):
            known = column_labels(result.shape[1], labels, self.actions, who)
            return Choices(known, checked_probabilities(result, who))
        n = len(observations)
        raise InputError(
            f"{who} returns shape {result.shape} for {n} observations",
            fix=f"return {n} actions, or probabilities of shape ({n}, number of actions)",
        )

    def _called(self, observations: np.ndarray, who: str) -> np.ndarray:
        try:
            with prints_aside():
                result = self.function(np.array(observations, order="C"))  # its own, to change as it likes
        except (Exception, SystemExit) as fault:
            # After our own frame comes the function; the last line of its file says most.
            frames = traceback.extract_tb(fault.__traceback__)[1:]
            own = [frame for frame in frames if frame.filename == frames[0].filename]
            where = f"{own[-1].filename}:{own[-1].lineno}" if own else None
            raise InputError(f"{who} fails with {reason(fault)}", where=where) from fault
        try:
            return np.asarray(result)
        except Exception as fault:
            raise InputError(f"{who} returns what is no array ({reason(fault)})", fix="return a NumPy array") from fault

    def _knows(self, labels: tuple[Label, ...], who: str) -> None:
        unknown = [label for label in labels if self.actions is not None and label not in self.actions]
        if unknown:
            raise InputError(
                f"the log has the action {unknown[0]!r}, which {who} does not know",
                fix="add it to the policy's actions",
            )
