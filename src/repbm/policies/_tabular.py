"""A policy given as a table: one row a state, one column an action."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label
from repbm.policies._base import Choices, ObservationPolicy, checked_actions, checked_probabilities


class TabularPolicy(ObservationPolicy):
    """Probabilities of every action in every state; the state is the one observation column, 0 ... S-1.

    Columns stand for `actions` where given, else for 0 ... A-1.
    """

    def __init__(self, table: np.ndarray, actions: Sequence[Label] | None = None) -> None:
        table = np.asarray(table)
        if table.ndim != 2:
            raise InputError(f"a policy table of shape {table.shape}", fix="give one row a state")
        self.table = checked_probabilities(table, "the policy table")
        self.actions: tuple[Label, ...] = checked_actions(
            range(table.shape[1]) if actions is None else actions, "the policy table"
        )
        if len(self.actions) != table.shape[1]:
            raise InputError(f"{len(self.actions)} actions for a policy table of {table.shape[1]} columns")

    @property
    def name(self) -> str:
        return "table"

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        unknown = [label for label in labels if label not in self.actions]
        if unknown:
            raise InputError(f"the log has the action {unknown[0]!r}, which the policy table does not know")
        return Choices(self.actions, self.table[states_of(observations, len(self.table))])


def states_of(observations: Float[np.ndarray, "batch dimensions"], count: int) -> np.ndarray:
    """The one observation column as state numbers below `count`."""
    if observations.shape[1] != 1:
        raise InputError(f"a table needs one observation column, the log has {observations.shape[1]}")
    column = observations[:, 0]
    wrong = (np.floor(column) != column) | (column < 0) | (column >= count)
    if wrong.any():
        raise InputError(f"state {column[wrong][0]:g} is not one of the table's 0 ... {count - 1}")
    return column.astype(np.int64)
