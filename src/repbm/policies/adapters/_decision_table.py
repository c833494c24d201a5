"""Rules that an analyst writes as a table: conditions on observations, and what to do where they hold."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label, as_label, nearest
from repbm.data import Coding, Encoding
from repbm.policies._base import Choices, ObservationPolicy
from repbm.policies.adapters._conditions import Holds, condition_of

_ACTION = "action"
_NUMBER = r"-?\d+(?:,\d+)?"
_WITH_COMMA = re.compile(rf"(?:[<>=≤≥]*\s*{_NUMBER}|{_NUMBER}\.\.{_NUMBER})")
"""A number, or a condition on one, as spreadsheets write it where decimals stand behind commas."""


@dataclass(frozen=True)
class Rule:
    """What to do where all conditions hold; one condition per column, None where anything will do."""

    conditions: tuple[Holds | None, ...]
    action: str


@dataclass(frozen=True)
class _Bound:
    """The rules for one log: where their columns stand among its observations."""

    encoding: Encoding
    codings: tuple[Coding, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class DecisionTable(ObservationPolicy):
    """Rules in order: the first one whose conditions all hold says the action.

    As CSV: one row per rule; one column per observation that a rule uses, under its name in the log (`age` or
    `obs_age`); and a column `action`, or as the log calls its actions:

        age,ward,action
        <40,*,wait
        40..60,icu,treat
        >=60,icu|surgery,treat
        *,*,wait

    Cells are `<40`, `<=40`, `>60`, `>=60`, `3`, `*` (anything) or `40..60` (from 40 up to, but not including, 60);
    categories as the log spells them, `icu|ward` for several and `!icu` for all others; `missing`.
    A row of `*` alone is the default; without one, a state that no row fits is an error.
    """

    header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    title: str = "rules"
    where: str | None = None
    written: str | None = None
    bound: _Bound | None = None
    """The rules for a log, once that is known (`bind`)."""

    @classmethod
    def load(cls, path: str | Path) -> DecisionTable:
        where = str(path)
        try:
            text = _decoded(Path(path).read_bytes())
        except FileNotFoundError:
            raise InputError("no such file", where=where, fix="check the path", code="file") from None
        except OSError as fault:
            raise InputError(f"cannot be read ({fault.strerror})", where=where, code="file") from fault
        except UnicodeDecodeError as fault:
            raise InputError(f"this is no CSV file that can be read ({fault})", where=where) from fault
        return cls.of_text(text, Path(path).stem, where)

    @classmethod
    def of_text(cls, text: str, title: str = "rules", where: str | None = None) -> DecisionTable:
        """The table that a text of CSV holds."""
        try:
            head = text.lstrip().partition("\n")[0]
            mark = max(",;\t", key=head.count)
            rows = list(csv.reader(text.splitlines(), strict=True, delimiter=mark))
        except csv.Error as fault:
            raise InputError(f"this is no CSV file that can be read ({fault})", where=where) from fault
        where = where or title
        rows = [tuple(cell.strip() for cell in row) for row in rows if any(cell.strip() for cell in row)]
        if not rows:
            raise InputError("the decision table is empty", where=where, fix="write a header and one row per rule")
        if mark != ",":
            rows = [rows[0], *(tuple(map(_with_point, row)) for row in rows[1:])]
        _checked_header(rows[0], where)
        if len(rows) == 1:
            raise InputError("the decision table has no rule", where=where, fix="write one row per rule")
        return cls(rows[0], tuple(rows[1:]), title, where, text.strip())

    @property
    def name(self) -> str:
        return self.title

    @property
    def text(self) -> str | None:
        return self.written

    def bind(self, observation_names: tuple[str, ...], encoding: Encoding | None = None) -> DecisionTable:
        encoding = encoding or Encoding.of_names(observation_names)
        action = self._action(encoding)
        names = [name for name in self.header if name != action]
        codings = tuple(self._coding(name, encoding) for name in names)
        rules: list[Rule] = []
        for number, row in enumerate(self.cells, start=1):
            here = f"{self.where}, row {number}"
            if len(row) != len(self.header):
                raise InputError(
                    f"{len(row)} cells under {len(self.header)} columns", where=here, fix="write one cell per column"
                )
            if rules and not any(rules[-1].conditions):
                raise InputError(
                    f"row {number - 1} fits everything, so this one is never reached",
                    where=here,
                    fix="put the default last",
                )
            told = dict(zip(self.header, row, strict=True))
            done = told.pop(action)
            if not done:
                raise InputError(f"column '{action}' is empty", where=here, fix="say what to do")
            conditions = (
                _condition(name, cell, one, here) for (name, cell), one in zip(told.items(), codings, strict=True)
            )
            rules.append(Rule(tuple(conditions), done))
        return replace(self, bound=_Bound(encoding, codings, tuple(rules)))

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        if self.bound is None:
            names = ", ".join(name for name in self.header if name != _ACTION)
            raise InputError(
                f"the table goes by the names of observations ({names}), which are not known",
                where=self.where,
                fix="tell them with policy.bind(names)",
            )
        encoding, rules = self.bound.encoding, self.bound.rules
        parts = [encoding.part(observations, coding) for coding in self.bound.codings]
        chosen = np.full(len(observations), -1)
        for number, rule in enumerate(rules):
            fits = chosen < 0
            for part, condition in zip(parts, rule.conditions, strict=True):
                if condition is not None:
                    fits &= condition(part)
            chosen[fits] = number
        if (chosen < 0).any():
            row = int(np.flatnonzero(chosen < 0)[0])
            state = ", ".join(
                f"{coding.name}={_shown(coding.decoded(part[row : row + 1])[0])}"
                for coding, part in zip(self.bound.codings, parts, strict=True)
            )
            raise InputError(
                f"no row fits {state}", where=self.where, fix="add a last row of * with the default action"
            )
        actions = [self._label(rule.action, labels) for rule in rules]
        known = tuple(dict.fromkeys(actions))
        return Choices(known, np.asarray([known.index(action) for action in actions])[chosen])

    def _action(self, encoding: Encoding) -> str:
        """The column that says what to do: `action`, or as the log calls it."""
        found = next((name for name in (_ACTION, encoding.action) if name in self.header), None)
        if found is not None:
            return found
        guess = nearest(_ACTION, [name.lower() for name in self.header])
        fix = "separate cells by commas"
        if len(self.header) > 1:
            fix = f"call '{guess}' so" if guess else "say in it what to do where the rule's conditions hold"
        raise InputError(f"there is no column '{_ACTION}'", where=self.where, fix=fix)

    def _coding(self, name: str, encoding: Encoding) -> Coding:
        found = encoding.find(name)
        if found is not None:
            return found
        present = [coding.name for coding in encoding.codings]
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


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _WITH_COMMA.fullmatch(cell) else cell


def _decoded(content: bytes) -> str:
    """Text, whatever program wrote it: UTF-8, UTF-16 with its mark, or Windows."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if b"\x00" in content:
            raise
        return content.decode("cp1252")


def _checked_header(header: Sequence[str], where: str) -> None:
    twice = next((name for k, name in enumerate(header) if name in header[:k]), None)
    if twice is not None:
        raise InputError(f"column '{twice}' is there twice", where=where, fix="keep one of them")
    if "" in header:
        raise InputError("a column has no name", where=where, fix="name the observation that it is about")


def _condition(name: str, cell: str, coding: Coding, here: str) -> Holds | None:
    try:
        return condition_of(cell, coding)
    except ValueError as fault:
        what, _, fix = str(fault).partition("; ")
        raise InputError(f"column '{name}' {what}", where=here, fix=fix) from None


def _shown(value: object) -> str:
    return "missing" if value is None or value != value else f"{value:g}" if isinstance(value, float) else str(value)
