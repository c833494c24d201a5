"""The result of an evaluation, as data: tables, verdicts, what a report shows, and how it was all made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from repbm.core import InputError, Thresholds, number, reason
from repbm.doctor import Backtest, Examination, Finding
from repbm.evaluation._cohort import Cohort
from repbm.evaluation._columns import DIAGNOSTICS, ESTIMATES, INDIVIDUALS, RANKING
from repbm.evaluation._details import PolicyDetails
from repbm.evaluation._everyone import Everyone
from repbm.evaluation._options import Question
from repbm.evaluation._outcome import Scale
from repbm.evaluation._record import numbered
from repbm.evaluation._showing import chart_of, notebook_html, page_of
from repbm.evaluation._store import read, write

if TYPE_CHECKING:
    from repbm.models import Model

_SCHEMAS: dict[str, Any] = {
    "estimates": ESTIMATES,
    "individuals": INDIVIDUALS,
    "diagnostics": DIAGNOSTICS,
    "ranking": RANKING,
}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What the log says about the policies: tables, verdicts, and how they were made.

    `estimates`: policy, estimator, role, family, softened, headline (the answer, which stands first), value, low, high,
    level, std_error, logged_mean (the mean return of the log: what is done now), difference (value - logged_mean),
    difference_low, difference_high, episodes, effective_episodes, behavior (logged or estimated, where the estimator
    weighs by it), verdict and supported (what the log supports, of the policy), disagreeing (of the answer: estimators
    that say otherwise) and note.
    `individuals`: policy, estimator, episode, value (what is expected under the policy), low, high (its interval),
    outcome_low, outcome_high (the interval of what may come of this individual), logged_value (what is expected with
    what is done now), difference (value - logged_value), difference_low, difference_high, source (log or new), support
    (the chance to meet only what the log shows, where it was looked at), refused (why there is no value), and, with
    details, recommended and given (the first action, of the policy and of the log), similar (so many logged individuals
    who began most alike), similar_recommended (how many of them were given what is recommended), similar_return (what
    these earned) and nearest (the first of them, by name).
    `diagnostics`: policy, step, alive, factual, counterfactual, u, effective_episodes, and, where a model was fitted
    for the policy, the terms of its bound: risk_behavior, risk_policy, distance, deviation (see
    `repbm.inference.bound_terms`).
    `ranking`: the answers of all policies, the best first, those that the log does not support last: policy, estimator,
    value, low, high, probability_best (the share of resampled logs on which it is), to_best (value minus that of the
    best), to_best_low, to_best_high.
    `episodes`: every logged episode, its logged_return and the state it began in.
    """

    estimates: pl.DataFrame
    individuals: pl.DataFrame
    diagnostics: pl.DataFrame
    ranking: pl.DataFrame
    episodes: pl.DataFrame
    scale: Scale
    """What returns can be, and whether they are 0 or 1."""
    cohort: Cohort | None
    """Who is in the log; None without details."""
    examination: Examination
    """What the doctor says of the log, and what it supports, policy by policy."""
    backtest: Backtest | None
    """What a model predicts for episodes that it was not fitted to; None where no model was fitted."""
    policies: Mapping[str, PolicyDetails]
    """What each policy does, and to whom."""
    dynamics: list[dict[str, Any]]
    """The kinds of dynamics that were compared on held-out episodes, with their errors."""
    behavior: Mapping[str, Any] | None
    """What the log was taken to do, where it does not say."""
    run: Mapping[str, Any]
    """How it was made: version, arguments (every option and threshold), and the hash of the log."""
    models: Mapping[tuple[str, str], Model] = field(default_factory=dict, repr=False)
    """The models fitted on the way, by policy and critic; not stored, so none after `load`."""
    everyone: Everyone | None = field(default=None, repr=False)
    """All individuals of the log, where they were asked for; stored as individuals.parquet, None after `load`."""

    @cached_property
    def question(self) -> Question:
        """What was asked, policies and estimators apart."""
        return Question.of(self.run["arguments"])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the doctor says of the log, the weightiest first; no verdict knows of it."""
        return self.examination.findings

    def __repr__(self) -> str:
        words = [self._told(row) for row in self.estimates.filter("headline").iter_rows(named=True)]
        names = ", ".join(dict.fromkeys(finding.check for finding in self.examination.weighty))
        look = f"; look at findings: {names}" if names else ""
        return f"Evaluation({len(self.episodes)} episodes: {'; '.join(words) or 'no answer'}{look})"

    def _told(self, row: Mapping[str, Any]) -> str:
        ends = "" if row["low"] is None else f" ({number(row['low'])} to {number(row['high'])})"
        return f"{row['policy']} {number(row['value'])}{ends}, {self.examination.verdicts[row['policy']].word}"

    def _repr_html_(self) -> str:
        """For notebooks: the answers, their intervals, verdicts, and what other estimators say."""
        return notebook_html(self)

    def chart(self, name: str, policy: str | None = None) -> Any:
        """A chart of the report, as one of Altair: estimates, support, individuals, groups or confounding of a policy
        (needed if there are several), or ranking, ahead or backtest of all."""
        return chart_of(self, name, policy)

    def save(self, folder: str | Path) -> None:
        """Store everything but the models in `folder`, with the report, as `repbm evaluate --out` does."""
        self.write(folder, {"report.html": page_of(self).encode()})

    def numbered(self) -> Evaluation:
        """The same, with whole numbers for names of individuals and episodes where the log has such."""
        if not self.run.get("numbered_episodes"):
            return self
        frames = (frame.with_columns(numbered(frame["episode"])) for frame in (self.individuals, self.episodes))
        return replace(self, **dict(zip(("individuals", "episodes"), frames, strict=True)))

    def with_policies(self, words: Mapping[str, str]) -> Evaluation:
        """The same, told how the user wrote the policies: enough to load them again."""
        arguments = {**self.run["arguments"], "policies": dict(words)}
        return replace(self, run={**self.run, "arguments": arguments})

    def write(self, folder: str | Path, further: Mapping[str, bytes] | None = None) -> None:
        """Store everything but the models in `folder`, with further files by name, all or nothing."""
        details = {
            "outcome": self.scale.to_dict(),
            "cohort": None if self.cohort is None else self.cohort.to_dict(),
            "doctor": self.examination.to_dict(),
            "backtest": None if self.backtest is None else self.backtest.to_dict(),
            "policies": {name: each.to_dict() for name, each in self.policies.items()},
            "dynamics": self.dynamics,
            "behavior": self.behavior,
        }
        tables = {name: getattr(self, name) for name in (*_SCHEMAS, "episodes")}
        everyone = {} if self.everyone is None else {"individuals.parquet": self.everyone.write}
        write(Path(folder), tables, self.run, details, {**(further or {}), **everyone})

    @classmethod
    def load(cls, folder: str | Path) -> Evaluation:
        """What `write` stored; the log is not needed."""
        tables, run, details = read(Path(folder), _SCHEMAS)
        try:
            return cls._of(tables, run, details).numbered()
        except (AttributeError, KeyError, TypeError, ValueError) as fault:
            what = f"run.json or details.json is damaged ({reason(fault)})"
            raise InputError(what, where=str(folder), fix="evaluate again") from fault

    @classmethod
    def _of(cls, tables: Mapping[str, pl.DataFrame], run: Mapping[str, Any], details: Mapping[str, Any]) -> Evaluation:
        rules = Thresholds.of(run["arguments"]["thresholds"]).support
        stored = details["backtest"]
        return cls(
            estimates=tables["estimates"],
            individuals=tables["individuals"],
            diagnostics=tables["diagnostics"],
            ranking=tables["ranking"],
            episodes=tables["episodes"],
            scale=Scale.stored(details["outcome"]),
            cohort=None if details["cohort"] is None else Cohort.stored(details["cohort"]),
            examination=Examination.of(details["doctor"], rules),
            backtest=None if stored is None else Backtest.of(stored),
            policies={name: PolicyDetails.of(each) for name, each in details["policies"].items()},
            dynamics=details["dynamics"],
            behavior=details["behavior"],
            run=run,
        )
