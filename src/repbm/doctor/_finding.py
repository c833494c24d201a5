"""One thing that the doctor has to say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

FINDINGS = (
    "constant column",
    "continuous actions",
    "copies",
    "equal columns",
    "few episodes",
    "last states",
    "leaking column",
    "no ends",
    "no probabilities",
    "one action",
    "outliers",
    "probabilities",
    "rare actions",
    "repeated outcome",
    "rewards",
    "shifted rewards",
    "spelling of actions",
    "truncated, not terminated?",
    "two units",
)
"""The name of every finding. None is ever renamed."""


class Severity(StrEnum):
    """How much a finding matters: answers are wrong, may be wrong, or should be read knowing it."""

    PROBLEM = "problem"
    WARNING = "warning"
    REMARK = "remark"


@dataclass(frozen=True)
class Finding:
    """What, where (a column, an episode), and what to do about it."""

    severity: Severity
    check: str
    what: str
    where: str = ""
    fix: str = ""
    column: str = ""
    """The observation that it is about; empty where it is about another column, or the log."""

    @property
    def about(self) -> str:
        """Its name, with the column that it is about: of one column, and no other."""
        column = self.column or self.where
        return f"{self.check}:{column}" if column else self.check

    @property
    def line(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.what}{f'; {self.fix}' if self.fix else ''}"
