"""Rules that an analyst writes as a table: conditions on observations, and what to do where they hold."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label, as_label, nearest
from repbm.policies._base import Choices, ObservationPolicy
from repbm.policies.adapters._conditions import Condition

_ACTION = "action"


@dataclass(frozen=True)
class Rule:
    """What to do where all conditions hold; one condition per column, None where any number will do."""

    conditions: tuple[Condition | None, ...]
    action: str


@dataclass(frozen=True)
class DecisionTable(ObservationPolicy):
    """Rules in order: the first one whose conditions all hold says the action.

    As CSV: one row per rule; one column per observation that a rule uses, under its name in the log (`age` or
    `obs_age`); and a column `action`:

        age,sodium,action
        <40,*,wait
        40..60,<135,treat
        >=60,*,treat
        *,*,wait

    Cells are `<40`, `<=40`, `>60`, `>=60`, `3`, `*` (any number) or `40..60` (from 40 up to, but not including, 60).
    A row of `*` alone is the default; without one, a state that no row fits is an error.
    """

    columns: tuple[str, ...]
    rules: tuple[Rule, ...]
    title: str = "rules"
    where: str | None = None
    places: tuple[int, ...] | None = None
    """Where the columns stand among the observations, once that is known (`bind`)."""

    @classmethod
    def load(cls, path: str | Path) -> DecisionTable:
        where = str(path)
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                rows = [row for row in csv.reader(file, strict=True) if any(cell.strip() for cell in row)]
        except FileNotFoundError:
            raise InputError("no such file", where=where, fix="check the path") from None
        except OSError as fault:
            raise InputError(f"cannot be read ({fault.strerror})", where=where) from fault
        except (csv.Error, UnicodeDecodeError) as fault:
            raise InputError(f"this is no CSV file that can be read ({fault})", where=where) from fault
        if not rows:
            raise InputError("the decision table is empty", where=where, fix="write a header and one row per rule")
        return cls._of_rows([cell.strip() for cell in rows[0]], rows[1:], where, Path(path).stem)

    @classmethod
    def _of_rows(cls, header: Sequence[str], rows: Sequence[Sequence[str]], where: str, title: str) -> DecisionTable:
        _checked_header(header, where)
        names = tuple(name.removeprefix("obs_") for name in header if name != _ACTION)
        rules: list[Rule] = []
        for number, row in enumerate(rows, start=1):
            here = f"{where}, row {number}"
            if len(row) != len(header):
                raise InputError(
                    f"{len(row)} cells under {len(header)} columns", where=here, fix="write one cell per column"
                )
            if rules and not any(rules[-1].conditions):
                raise InputError(
                    f"row {number - 1} fits everything, so this one is never reached",
                    where=here,
                    fix="put the default last",
                )
            rules.append(_rule(header, row, here))
        if not rules:
            raise InputError("the decision table has no rule", where=where, fix="write one row per rule")
        return cls(names, tuple(rules), title, where)

    @property
    def name(self) -> str:
        return self.title

    def bind(self, observation_names: tuple[str, ...]) -> DecisionTable:
        return replace(self, places=tuple(self._place(name, observation_names) for name in self.columns))

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        if self.places is None:
            raise InputError(
                f"the table goes by the names of observations ({', '.join(self.columns)}), which are not known",
                where=self.where,
                fix="tell them with policy.bind(names)",
            )
        columns = [observations[:, place] for place in self.places]
        chosen = np.full(len(observations), -1)
        for number, rule in enumerate(self.rules):
            fits = chosen < 0
            for column, condition in zip(columns, rule.conditions, strict=True):
                if condition is not None:
                    fits &= condition.holds(column)
            chosen[fits] = number
        if (chosen < 0).any():
            row = int(np.flatnonzero(chosen < 0)[0])
            state = ", ".join(f"{name}={column[row]:g}" for name, column in zip(self.columns, columns, strict=True))
            raise InputError(
                f"no row fits {state}", where=self.where, fix="add a last row of * with the default action"
            )
        actions = [self._label(rule.action, labels) for rule in self.rules]
        known = tuple(dict.fromkeys(actions))
        return Choices(known, np.asarray([known.index(action) for action in actions])[chosen])

    def _place(self, name: str, present: tuple[str, ...]) -> int:
        if name in present:
            return present.index(name)
        guess = nearest(name, present)
        raise InputError(
            f"column '{name}' is no observation of the log",
            where=self.where,
            fix=f"did you mean '{guess}'?" if guess else f"the observations are {', '.join(present[:12])}",
        )

    def _label(self, action: str, labels: tuple[Label, ...]) -> Label:
        """The action as the log spells it: a whole number where the log's are."""
        if not all(isinstance(label, int) for label in labels):
            return action
        try:
            return as_label(float(action))
        except ValueError:
            raise InputError(
                f"the action '{action}' is no whole number, but the log's actions are like {labels[0]!r}",
                where=self.where,
                fix="write actions as the log spells them",
            ) from None


def _checked_header(header: Sequence[str], where: str) -> None:
    twice = next((name for k, name in enumerate(header) if name in header[:k]), None)
    if twice is not None:
        raise InputError(f"column '{twice}' is there twice", where=where, fix="keep one of them")
    if _ACTION not in header:
        guess = nearest(_ACTION, [name.lower() for name in header])
        fix = (
            "separate cells by commas" if len(header) == 1 else "say in it what to do where the rule's conditions hold"
        )
        fix = f"call '{guess}' so" if guess and len(header) > 1 else fix
        raise InputError(f"there is no column '{_ACTION}'", where=where, fix=fix)
    if "" in header:
        raise InputError("a column has no name", where=where, fix="name the observation that it is about")


def _rule(header: Sequence[str], row: Sequence[str], here: str) -> Rule:
    conditions: list[Condition | None] = []
    action = ""
    for name, cell in zip(header, row, strict=True):
        if name == _ACTION:
            action = cell.strip()
            continue
        try:
            conditions.append(Condition.of(cell))
        except ValueError as fault:
            what, _, fix = str(fault).partition("; ")
            raise InputError(f"column '{name}' {what}", where=here, fix=fix) from None
    if not action:
        raise InputError(f"column '{_ACTION}' is empty", where=here, fix="say what to do")
    return Rule(tuple(conditions), action)
