"""Any function on a batch of observations is a policy."""

from __future__ import annotations

import inspect
import textwrap
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label, reason
from repbm.policies._answers import coded_actions, column_labels
from repbm.policies._base import Choices, ObservationPolicy, checked_actions, checked_probabilities
from repbm.policies._manners import prints_aside


def source_of(function: Callable[..., Any]) -> str | None:
    """What the user wrote, if it is to be had."""
    try:
        return textwrap.dedent(inspect.getsource(function)).rstrip()
    except (OSError, TypeError):
        return None


def called(who: str, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a user's function returns; where it fails, the error says at which line."""
    try:
        with prints_aside():
            return function(*given, **named)
    except InputError:
        raise
    except (Exception, SystemExit) as fault:
        # After our own frame comes the function; the last line of its file says most.
        frames = traceback.extract_tb(fault.__traceback__)[1:]
        own = [frame for frame in frames if frame.filename == frames[0].filename]
        where = f"{own[-1].filename}:{own[-1].lineno}" if own else None
        raise InputError(f"{who} fails with {reason(fault)}", where=where) from fault


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

    @property
    def text(self) -> str | None:
        return source_of(self.function)

    @property
    def by_order(self) -> bool:
        return True

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        return self.read(self.answer(observations), len(observations), labels)

    def read(self, answer: Any, n: int, labels: tuple[Label, ...]) -> Choices:
        """What the function answered to n observations, as choices."""
        who = f"policy {self.name}"
        try:
            result = np.asarray(answer)
        except Exception as fault:
            raise InputError(f"{who} returns what is no array ({reason(fault)})", fix="return a NumPy array") from fault
        self._knows(labels, who)
        if result.ndim == 1 and len(result) == n:
            return coded_actions(result, labels, self.actions, who)
        if result.ndim == 2 and len(result) == n:
            known = column_labels(result.shape[1], labels, self.actions, who)
            return Choices(known, checked_probabilities(result, who))
        raise InputError(
            f"{who} returns shape {result.shape} for {n} observations",
            fix=f"return {n} actions, or probabilities of shape ({n}, number of actions)",
        )

    def answer(self, observations: Float[np.ndarray, "batch dimensions"]) -> Any:
        """What the function returns. The observations are its own, to change as it likes."""
        return called(f"policy {self.name}", self.function, np.array(observations, order="C"))

    def _knows(self, labels: tuple[Label, ...], who: str) -> None:
        unknown = [label for label in labels if self.actions is not None and label not in self.actions]
        if unknown:
            raise InputError(
                f"the log has the action {unknown[0]!r}, which {who} does not know",
                fix="add it to the policy's actions",
            )
