"""The report: one page that opens offline, for someone who does not know what a ratio is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from jaxtyping import Int

from repbm._version import __version__
from repbm.core import as_json, number
from repbm.evaluation import PolicyDetails, shown
from repbm.report._charts import (
    Chart,
    ahead_chart,
    backtest_chart,
    forest_chart,
    groups_chart,
    individuals_chart,
    png,
    ranking_chart,
    support_chart,
    svg,
)
from repbm.report._confounding import confounding_chart
from repbm.report._words import Words

if TYPE_CHECKING:
    from repbm.doctor import Verdict
    from repbm.evaluation import Evaluation

_INDIVIDUAL = {
    "value": "value",
    "low": "low",
    "high": "high",
    "outcome from": "outcome_low",
    "outcome to": "outcome_high",
    "now": "logged_value",
    "gain": "difference",
    "gain from": "difference_low",
    "gain to": "difference_high",
    "support": "support",
}
"""Columns of the table of individuals, and where they come from."""
_MOST_COLUMNS = 12
_LONGEST = 40
"""Characters of a policy's name that names of files keep."""


@dataclass(frozen=True, eq=False)
class PolicyPart:
    """What the page says of one policy."""

    evaluation: Evaluation
    policy: str
    shown: Int[np.ndarray, " some"]
    """The logged individuals that the page shows."""

    @cached_property
    def rows(self) -> pl.DataFrame:
        return self.evaluation.estimates.filter(pl.col("policy") == self.policy)

    @property
    def answer(self) -> dict[str, Any]:
        """The row of the answer; the first one where there is none."""
        return next(self.rows.sort("headline", descending=True, maintain_order=True).iter_rows(named=True))

    @property
    def verdict(self) -> Verdict:
        return self.evaluation.examination.verdicts[self.policy]

    @property
    def details(self) -> PolicyDetails:
        return self.evaluation.policies[self.policy]

    def _own(self, source: str) -> pl.DataFrame:
        teller = self.details.individuals_by
        if teller is None:
            return self.evaluation.individuals.clear()
        return self.evaluation.individuals.filter(policy=self.policy, estimator=teller, source=source)

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """By name; those that this policy has."""
        found: dict[str, Chart] = {}
        if self.rows["value"].is_not_null().any():
            found["estimates"] = forest_chart(self.rows, self.answer["logged_mean"])
        steps = self.evaluation.diagnostics.filter(pl.col("policy") == self.policy)
        found["support"] = support_chart(steps, self.verdict)
        values = self._own("log")["value"].drop_nulls().drop_nans()
        if len(values):
            found["individuals"] = individuals_chart(values.to_numpy(), float(values.to_numpy().mean()))
        if self.details.groups:
            found["groups"] = groups_chart(self.details.groups)
        if self.details.confounding is not None:
            found["confounding"] = confounding_chart(self.details.confounding)
        return found

    @cached_property
    def table(self) -> dict[str, Any] | None:
        """The table of individuals: columns, their cells, how many there are in all."""
        logged, new = self._own("log"), self._own("new")
        if not len(logged):
            return None
        rows = self.shown.tolist()
        individuals, episodes = logged[rows], self.evaluation.episodes[rows]
        columns: dict[str, list] = {"individual": individuals["episode"].to_list()}
        told = {title: name for title, name in _INDIVIDUAL.items() if individuals[name].is_not_null().any()}
        columns |= {title: _short(individuals[name]) for title, name in told.items()}
        if any(frame["refused"].is_not_null().any() for frame in (individuals, new)):
            columns["refused"] = individuals["refused"].to_list()
        columns["happened"] = _short(episodes["logged_return"])
        for name in episodes.columns[2 : 2 + _MOST_COLUMNS]:
            columns[name if name not in columns else f"{name} (at first)"] = _short(episodes[name])
        if len(new):
            few = new.head(len(rows))
            known = {"individual": few["episode"].to_list(), "refused": few["refused"].to_list()}
            known |= {title: _short(few[name]) for title, name in told.items()}
            for name, cells in columns.items():
                cells.extend(known.get(name, [None] * len(few)))
        return {"names": list(columns), "cells": list(columns.values()), "total": len(logged) + len(new)}

    def content(self, words: Words) -> dict[str, Any]:
        answer, verdict = self.answer, self.verdict
        return {
            "name": self.policy,
            "answer": {
                **answer,
                "meaning": words.meaning(answer["family"], answer["softened"]),
                "better": None if answer["difference"] is None else "more" if answer["difference"] >= 0 else "less",
            },
            "verdict": {
                **verdict.to_dict(),
                "kind": _kind(verdict),
                "models": verdict.models,
                "weights": verdict.weights,
                "precise": verdict.precise,
            },
            "rows": [
                {**row, "meaning": words.meaning(row["family"], row["softened"])}
                for row in self.rows.iter_rows(named=True)
            ],
            "charts": {name: svg(chart) for name, chart in self.charts.items()},
            "actions": self.details.actions,
            "groups": [asdict(group) for group in self.details.groups],
            "hidden": None if self.details.confounding is None else self.details.confounding.sentence,
            "returns": self.details.returns,
            "teller": self.details.individuals_by,
            "table": self.table,
        }


@dataclass(frozen=True, eq=False)
class Report:
    """The page and the charts of an evaluation."""

    evaluation: Evaluation

    @cached_property
    def parts(self) -> list[PolicyPart]:
        names = self.evaluation.estimates["policy"].unique(maintain_order=True).to_list()
        rows = shown(len(self.evaluation.episodes), len(names))
        return [PolicyPart(self.evaluation, name, rows) for name in names]

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """Those that hold for all policies."""
        found: dict[str, Chart] = {}
        tested = self.evaluation.backtest
        if len(self.evaluation.ranking) > 1:
            found["ranking"] = ranking_chart(self.evaluation.ranking, self.parts[0].answer["logged_mean"])
        if tested is not None and any(np.isfinite(error) for error in tested.ahead.values()):
            found["ahead"] = ahead_chart(tested)
        if tested is not None and len(tested.predicted) > 1:
            found["backtest"] = backtest_chart(tested)
        return found

    def plots(self) -> dict[str, bytes]:
        """All charts as files, PNG and SVG, by name."""
        named = dict(self.charts)
        for k, part in enumerate(self.parts):
            end = "" if len(self.parts) == 1 else f"-{k + 1}-{_plain(part.policy)}"
            named |= {f"{name}{end}": chart for name, chart in part.charts.items()}
        drawn = {f"{name}.png": png(chart) for name, chart in named.items()}
        return drawn | {f"{name}.svg": svg(chart).encode() for name, chart in named.items()}

    def html(self) -> str:
        """The page: no other file, no network."""
        from jinja2 import Environment

        folder = files("repbm.report") / "page"
        text = {name: (folder / name).read_text("utf-8") for name in ("page.html", "page.css", "page.js")}
        environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
        environment.filters |= {"number": number, "signed": lambda value: number(value, signed=True)}
        found = self.evaluation.examination
        words = Words.read()
        parts = [part.content(words) for part in self.parts]
        tested = self.evaluation.backtest
        gap = None
        if tested is not None and len(tested.predicted) > 1:
            gap = {
                "predicted": float(tested.predicted.mean()),
                "observed": float(tested.observed.mean()),
                "individuals": len(tested.predicted),
                "beyond_chance": tested.beyond_chance,
            }
        return environment.from_string(text["page.html"]).render(
            css=text["page.css"],
            js=text["page.js"],
            version=__version__,
            parts=parts,
            charts={name: svg(chart) for name, chart in self.charts.items()},
            ranking=list(self.evaluation.ranking.iter_rows(named=True)),
            found=found,
            findings=[finding.line for finding in found.findings],
            gap=gap,
            behavior=self.evaluation.behavior,
            assumptions=words.assumptions,
            settings=_settings(self.evaluation),
            tables=_inline([part["table"] for part in parts]),
        )


def _kind(verdict: Verdict) -> str:
    if verdict.supported:
        return "yes"
    if verdict.word == "not supported":
        return "no"
    return "partly" if verdict.checks is None else "open"


def _short(numbers: pl.Series) -> list[float | None]:
    """Five significant digits are enough to read."""
    return [None if x is None or not np.isfinite(x) else float(f"{x:.5g}") for x in numbers]


def _inline(content: Any) -> str:
    """JSON that may stand in a script element."""
    return as_json(content, indent=None).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name).strip("-")[:_LONGEST] or "policy"


def _settings(evaluation: Evaluation) -> dict[str, str]:
    run = evaluation.run
    arguments = dict(run["arguments"])
    made = {"repbm": run["version"], "log": _said(arguments.pop("log")), "SHA-256 of the log": run["log_sha256"]}
    estimators, thresholds = arguments.pop("estimators"), arguments.pop("thresholds")
    for name in ("estimators_asked", "details", "policies"):
        arguments.pop(name)
    made |= {name.replace("_", " "): _said(value) for name, value in arguments.items() if value not in (None, {}, [])}
    for place, note in enumerate(run.get("notes", ()), start=1):
        made[f"how the log was read, {place}"] = note
    made["estimators"] = _said(next(iter(estimators.values())))
    for score in evaluation.dynamics:
        chosen = ", chosen" if score["chosen"] else ""
        errors = (score[name] for name in ("one_step", "several_steps"))
        one, several = ("unknown" if error is None else f"{error:.3g}" for error in errors)
        made[f"dynamics: {score['dynamics']}"] = f"held-out error {one} one step ahead, {several} several{chosen}"
    for purpose, rules in thresholds.items():
        made[f"thresholds: {purpose}"] = _said({name.replace("_", " "): value for name, value in rules.items()})
    return made


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_said(one)}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
