"""The report: one page that opens offline, for someone who does not know what a ratio is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from repbm._version import __version__
from repbm.core import number
from repbm.report._charts import (
    Chart,
    ahead_chart,
    forest_chart,
    groups_chart,
    individuals_chart,
    png,
    ranking_chart,
    rehearsal_chart,
    support_chart,
    svg,
)
from repbm.report._words import Words

if TYPE_CHECKING:
    from repbm.doctor import Verdict
    from repbm.evaluation import Evaluation

MOST_INDIVIDUALS = 10_000
"""The table of individuals shows at most so many, of all policies together."""
_MOST_COLUMNS = 12
_MOST_ACTIONS = 8
_WITH_INDIVIDUALS = ("repbm", "am", "fqe")
"""Whose individual values are shown where the answer has none."""


@dataclass(frozen=True, eq=False)
class PolicyPart:
    """What the page says of one policy."""

    evaluation: Evaluation
    policy: str
    most: int

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

    @cached_property
    def _teller(self) -> str | None:
        """The estimator whose individual values are shown."""
        known = self.evaluation.individuals.filter(pl.col("policy") == self.policy)["estimator"].unique()
        return next((name for name in (self.answer["estimator"], *_WITH_INDIVIDUALS, *known) if name in known), None)

    def _own(self, source: str) -> pl.DataFrame:
        if self._teller is None:
            return self.evaluation.individuals.clear()
        return self.evaluation.individuals.filter(policy=self.policy, estimator=self._teller, source=source)

    def actions(self) -> list[tuple[str, float, float]]:
        """Every action: how often the policy would take it in logged states, and how often it was taken."""
        case = self.evaluation.closer_look.cases[self.policy]
        if case.decisions.matrix is None:
            return []
        done = np.bincount(case.data.actions.codes, minlength=len(case.decisions.labels)) / len(case.data.rewards)
        chosen = case.decisions.matrix().mean(axis=0)
        found = [
            (str(label), float(p), float(q)) for label, p, q in zip(case.decisions.labels, chosen, done, strict=True)
        ]
        return sorted(found, key=lambda entry: -entry[1])[:_MOST_ACTIONS]

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """By name; those that this policy has."""
        found: dict[str, Chart] = {}
        if self.rows["value"].is_not_null().any():
            found["estimates"] = forest_chart(self.rows, self.answer["practice"])
        steps = self.evaluation.diagnostics.filter(pl.col("policy") == self.policy)
        found["support"] = support_chart(steps, self.verdict)
        values = self._own("log")["value"].drop_nulls().drop_nans()
        if len(values):
            found["individuals"] = individuals_chart(values.to_numpy(), float(values.to_numpy().mean()))
        if self.groups:
            found["groups"] = groups_chart(self.groups)
        return found

    @cached_property
    def groups(self) -> list:
        logged = self._own("log")
        if not len(logged):
            return []
        return self.evaluation.closer_look.groups(logged["value"].to_numpy())

    @cached_property
    def table(self) -> dict[str, Any] | None:
        """The table of individuals: columns, their cells, how many there are in all."""
        logged, new = self._own("log"), self._own("new")
        if not len(logged):
            return None
        look = self.evaluation.closer_look
        every = max(1, -(-len(logged) // self.most))
        rows = np.arange(len(logged))[::every]
        shown = logged[rows.tolist()]
        columns: dict[str, list] = {"individual": shown["episode"].to_list(), "value": _short(shown["value"])}
        if shown["low"].is_not_null().any():
            columns |= {"low": _short(shown["low"]), "high": _short(shown["high"])}
        familiar = look.support_probability(self.policy, rows)
        if familiar is not None:
            columns["support"] = _short(pl.Series(familiar))
        columns["happened"] = _short(pl.Series(look.returns[rows]))
        states = look.data.initial_observations[rows]
        for k, name in enumerate(look.data.names[:_MOST_COLUMNS]):
            columns[name if name not in columns else f"{name} (at first)"] = _short(pl.Series(states[:, k]))
        if len(new):
            few = new.head(self.most)
            for name, cells in columns.items():
                extra = {"individual": few["episode"].to_list(), "value": _short(few["value"])}.get(name)
                cells.extend([None] * len(few) if extra is None else extra)
        return {"names": list(columns), "cells": list(columns.values()), "total": len(logged) + len(new)}

    def content(self, words: Words) -> dict[str, Any]:
        answer, verdict = self.answer, self.verdict
        return {
            "name": self.policy,
            "answer": {
                **answer,
                "meaning": words.meaning(answer["estimator"]),
                "better": None if answer["difference"] is None else "more" if answer["difference"] >= 0 else "less",
            },
            "verdict": {
                **verdict.account(),
                "kind": _kind(verdict),
                "models": verdict.models,
                "weights": verdict.weights,
            },
            "rows": [{**row, "meaning": words.meaning(row["estimator"])} for row in self.rows.iter_rows(named=True)],
            "charts": {name: svg(chart) for name, chart in self.charts.items()},
            "actions": self.actions(),
            "groups": [asdict(group) for group in self.groups],
            "teller": self._teller,
            "table": self.table,
        }


@dataclass(frozen=True, eq=False)
class Report:
    """The page and the charts of an evaluation."""

    evaluation: Evaluation

    @cached_property
    def parts(self) -> list[PolicyPart]:
        names = self.evaluation.estimates["policy"].unique(maintain_order=True).to_list()
        return [PolicyPart(self.evaluation, name, max(1, MOST_INDIVIDUALS // len(names))) for name in names]

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """Those that hold for all policies."""
        found: dict[str, Chart] = {}
        rehearsal = self.evaluation.closer_look.rehearsal
        if len(self.evaluation.ranking) > 1:
            found["ranking"] = ranking_chart(self.evaluation.ranking, self.parts[0].answer["practice"])
        if rehearsal is not None and any(np.isfinite(error) for error in rehearsal.ahead.values()):
            found["ahead"] = ahead_chart(rehearsal)
        if rehearsal is not None and len(rehearsal.said) > 1:
            found["rehearsal"] = rehearsal_chart(rehearsal)
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
        rehearsal = self.evaluation.closer_look.rehearsal
        gap = None
        if rehearsal is not None and len(rehearsal.said) > 1:
            away, error = rehearsal.gap
            gap = {
                "said": float(rehearsal.said.mean()),
                "seen": float(rehearsal.seen.mean()),
                "individuals": len(rehearsal.said),
                "beyond_chance": abs(away) > 3 * error,
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
            behavior=self.evaluation.run["behavior"],
            assumptions=words.assumptions,
            settings=_settings(self.evaluation.run),
            tables=_inline([part["table"] for part in parts]),
        )


def _kind(verdict: Verdict) -> str:
    if verdict.supported:
        return "yes"
    return "no" if verdict.word == "not supported" else "partly"


def _short(numbers: pl.Series) -> list[float | None]:
    """Five significant digits are enough to read."""
    return [None if x is None or not np.isfinite(x) else float(f"{x:.5g}") for x in numbers]


def _inline(content: Any) -> str:
    """JSON that may stand in a script element."""
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name).strip("-") or "policy"


def _settings(run: Mapping[str, Any]) -> dict[str, str]:
    arguments = dict(run["arguments"])
    shown = {"repbm": run["version"], "log": arguments.pop("log"), "SHA-256 of the log": run["log_sha256"]}
    estimators = arguments.pop("estimators")
    shown |= {name.replace("_", " "): _said(value) for name, value in arguments.items() if value not in (None, {}, [])}
    shown["estimators"] = _said(next(iter(estimators.values())))
    for score in run["dynamics"]:
        chosen = ", chosen" if score["chosen"] else ""
        shown[f"dynamics: {score['dynamics']}"] = (
            f"held-out error {score['one_step']:.3g} one step ahead, {score['several_steps']:.3g} several{chosen}"
        )
    return shown | {"seed": str(run["seed"]), "seconds": f"{run['seconds']:.1f}"}


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
