"""How a log is read and critics are fitted: options that belong together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from repbm.core import InputError, Thresholds
from repbm.evaluation._outcome import Outcome

if TYPE_CHECKING:
    from repbm.models import ModelFit

FITS = ("auto", "paper")
"""The ways to fit models that have a name."""


@dataclass(frozen=True)
class Reading:
    """How the log is read (see `read_log`): our column names to the log's own, how episodes end where no column says
    it, what becomes of missing observations ("impute" or "refuse"), whether steps may be skipped ("allow"), and what
    words in place of rewards are worth. Of Parquet files for which an evaluation would take more than `memory` bytes a
    sample of episodes is read (see `draw_log`); None: all of them, whatever it takes."""

    columns: Mapping[str, str] = field(default_factory=dict)
    ends: str | None = None
    missing: str = "impute"
    gaps: str = "refuse"
    worth: Mapping[str, float] = field(default_factory=dict)
    memory: float | None = 2e9


@dataclass(frozen=True)
class Fitting:
    """How critics are fitted.

    `fit`: "auto", everything chosen from the log; "paper", as published; or an object, such as
    `AutoFit(kinds=(..., yours))`. With `folds` of 2 or more, each fold of the episodes is judged by critics fitted to
    the others (cross-fitting). With `refits`, models are fitted again to so many resampled logs, and their values get
    intervals.
    """

    fit: str | ModelFit = "auto"
    folds: int = 1
    refits: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.fit, str) and self.fit not in FITS:
            raise InputError(f"there is no fit '{self.fit}'", fix=f"use one of {', '.join(FITS)}")
        if self.folds < 1:
            raise InputError(f"{self.folds} folds", fix="give 1 (none), or 2 and more for cross-fitting")
        if self.refits not in (0, *range(3, 10_000)):
            raise InputError(f"{self.refits} refits", fix="give 0 (no intervals for models), or 3 and more, such as 20")

    def model_fit(self, thresholds: Thresholds) -> ModelFit:
        """The way to fit models, as an object."""
        from repbm.models import AutoFit, PaperFit

        if not isinstance(self.fit, str):
            return self.fit
        return PaperFit() if self.fit == "paper" else AutoFit(choice=thresholds.choice, rules=thresholds.fit)


@dataclass(frozen=True)
class Question:
    """What is asked of the log, policies and estimators apart: enough, with those, to ask it again."""

    discount: float = 1.0
    horizon: int | None = None
    level: float = 0.95
    seed: int = 0
    reading: Reading = field(default_factory=Reading)
    fitting: Fitting = field(default_factory=Fitting)
    thresholds: Thresholds = field(default_factory=Thresholds)
    details: bool = True
    threshold: tuple[float, ...] = ()
    """The probability of a return below each of these is wanted."""
    outcome: Outcome = field(default_factory=Outcome)
    everyone: bool = False
    """All individuals of a log are wanted, also of one of which a sample is read."""

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.threshold)):
            raise InputError("a threshold that is no number", fix="give a return, such as 10")
        if not 0 <= self.discount <= 1:
            raise InputError(f"a discount of {self.discount:g}", fix="give a number from 0 to 1")
        if not 0 < self.level < 1:
            raise InputError(f"a level of {self.level:g}", fix="give a number between 0 and 1, such as 0.95")
        if self.seed < 0:
            raise InputError(f"a seed of {self.seed}", fix="give a whole number from 0 on")

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; `of` makes the same question of them. A fit of one's own is only described."""
        fit = self.fitting.fit
        return {
            "discount": self.discount,
            "horizon": self.horizon,
            "level": self.level,
            "seed": self.seed,
            "details": self.details,
            "threshold": list(self.threshold),
            "outcome": asdict(self.outcome),
            "everyone": self.everyone,
            "columns": dict(self.reading.columns),
            "ends": self.reading.ends,
            "missing": self.reading.missing,
            "gaps": self.reading.gaps,
            "worth": dict(self.reading.worth),
            "memory": self.reading.memory,
            "fit": fit if isinstance(fit, str) else {"own": repr(fit)},
            "folds": self.fitting.folds,
            "refits": self.fitting.refits,
            "thresholds": self.thresholds.to_dict(),
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Question:
        if not isinstance(stored["fit"], str):
            raise InputError("models were fitted in a way of the user's own", fix="run it again from Python")
        return cls(
            **{name: stored[name] for name in ("discount", "horizon", "level", "seed", "details")},
            reading=Reading(
                stored["columns"],
                _stored_ends(stored),
                *(stored[name] for name in ("missing", "gaps", "worth")),
                memory=stored.get("memory"),
            ),
            fitting=Fitting(stored["fit"], stored["folds"], stored["refits"]),
            thresholds=Thresholds.of(stored["thresholds"]),
            threshold=tuple(stored["threshold"]),
            outcome=Outcome(**stored["outcome"]),
            everyone=stored.get("everyone", False),
        )


def _stored_ends(stored: Mapping[str, Any]) -> str | None:
    """How episodes end; results of earlier programs may say it as a flag."""
    flag = {True: "terminated", False: "truncated", None: None}[stored.get("all_terminated")]
    return stored["ends"] or flag
