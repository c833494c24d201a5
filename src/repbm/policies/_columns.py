"""Policies that the log itself brings: columns that say what the policy would do at each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repbm.core import InputError
from repbm.data import Categorical, Trajectories
from repbm.policies._base import Choices, Decisions, Policy, checked_probabilities


class _LogPolicy(Policy):
    """A policy that is only known at the logged steps."""

    @property
    def needs_observations(self) -> bool:
        return False


@dataclass(frozen=True)
class ActionColumn(_LogPolicy):
    """A column of the log that holds the action which the policy takes at this step."""

    column: str

    @property
    def name(self) -> str:
        return self.column

    @property
    def needs_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def decisions(self, data: Trajectories) -> Decisions:
        taken = _column(data, self.column)
        if not isinstance(taken, Categorical):
            raise InputError(f"column '{self.column}' does not hold actions")
        known = data.actions.labels
        if not set(taken.labels) & set(known):
            raise InputError(
                f"column '{self.column}' holds actions like {taken.labels[0]!r}, "
                f"but the log's actions are like {known[0]!r}",
                fix="spell them alike",
            )
        taken = taken.onto(known)
        return Decisions(
            taken.labels,
            lambda at: (taken.codes[at] == data.actions.codes[at]).astype(np.float64),
            lambda: Choices(taken.labels, taken.codes).matrix(taken.labels),
        )


@dataclass(frozen=True)
class LoggedProbabilityColumn(_LogPolicy):
    """A column that holds the probability which the policy gives the logged action.

    Nothing is known of the other actions: enough for importance sampling, not for doubly robust estimators.
    """

    column: str

    @property
    def name(self) -> str:
        return self.column

    @property
    def needs_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def decisions(self, data: Trajectories) -> Decisions:
        logged = _numbers(data, self.column)
        outside = ~((logged >= 0) & (logged <= 1))
        if outside.any():
            raise InputError(
                f"column '{self.column}' holds {logged[outside][0]:g}", fix="give probabilities from 0 to 1"
            )
        return Decisions(data.actions.labels, lambda at: logged[at], None)


class ProbabilityColumns(_LogPolicy):
    """One column an action, in the sorted order of the log's actions, with the policy's probability of it."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)

    @property
    def name(self) -> str:
        return " ".join(self.columns)

    @property
    def needs_columns(self) -> tuple[str, ...]:
        return self.columns

    def decisions(self, data: Trajectories) -> Decisions:
        known = data.actions.labels
        if len(self.columns) != len(known):
            raise InputError(
                f"{len(self.columns)} probability columns for {len(known)} actions",
                fix=f"give one column for each of {', '.join(map(repr, known))}, in this order",
            )
        stacked = np.stack([_numbers(data, name) for name in self.columns], axis=1)
        matrix = checked_probabilities(stacked, f"columns {', '.join(self.columns)}")
        logged = Choices(known, matrix).of(data.actions)
        return Decisions(known, lambda at: logged[at], lambda: matrix)


def _column(data: Trajectories, name: str) -> Categorical | np.ndarray:
    if name not in data.columns:
        raise InputError(f"the log was read without the column '{name}'")
    return data.columns[name]


def _numbers(data: Trajectories, name: str) -> np.ndarray:
    """The column as float64; whole numbers arrive coded."""
    column = _column(data, name)
    if not isinstance(column, Categorical):
        return column
    if any(isinstance(label, str) for label in column.labels):
        raise InputError(f"column '{name}' holds text", fix="give probabilities from 0 to 1")
    return np.asarray(column.labels, dtype=np.float64)[column.codes]
