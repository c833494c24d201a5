"""The report: one page that opens offline, for someone who does not know what a ratio is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from repbm._version import __version__
from repbm.core import as_json, in_words
from repbm.evaluation import shown
from repbm.report._charts import ahead_chart, backtest_chart
from repbm.report._cohort import cohort_table
from repbm.report._drawing import Chart, drawn, png, svg
from repbm.report._interval_charts import ranking_chart
from repbm.report._part import PolicyPart
from repbm.report._scale import Shown
from repbm.report._words import Words, weighty_lines

if TYPE_CHECKING:
    from jinja2 import Environment

    from repbm.evaluation import Evaluation

_LONGEST = 40
"""Characters of a policy's name that names of files keep."""


@dataclass(frozen=True, eq=False)
class Report:
    """The page and the charts of an evaluation."""

    evaluation: Evaluation

    @cached_property
    def parts(self) -> list[PolicyPart]:
        """Of every policy, in the order of the ranking; those without an answer come last."""
        ranked = pl.concat([self.evaluation.ranking["policy"], self.evaluation.estimates["policy"]])
        names = ranked.unique(maintain_order=True).to_list()
        rows = shown(len(self.evaluation.episodes), len(names))
        return [PolicyPart(self.evaluation, name, rows) for name in names]

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """Those that hold for all policies."""
        found: dict[str, Chart] = {}
        tested, shown_as, now = self.evaluation.backtest, Shown.of(self.evaluation), self.parts[0].answer["logged_mean"]
        if len(self.evaluation.ranking) > 1:
            supported = [part.policy for part in self.parts if part.verdict.supported]
            found["ranking"] = ranking_chart(self.evaluation.ranking, now, shown_as, supported)
        if tested is not None and any(np.isfinite(error) for error in tested.ahead.values()):
            found["ahead"] = ahead_chart(tested)
        if tested is not None and len(tested.predicted) > 1:
            scale = self.evaluation.scale
            found["backtest"] = backtest_chart(tested, shown_as, (scale.low, scale.high))
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
        from jinja2 import Template

        text = {name: _text(name) for name in ("page.css", "page.js")}
        environment = _environment()
        words, shown_as, evaluation = Words.read(), Shown.of(self.evaluation), self.evaluation
        environment.globals |= {"say": words.say, "plain": words.plain, "words": words, "shown": shown_as}
        found = evaluation.examination
        parts = [part.content(words) for part in self.parts]
        differences = {part.policy: part.answer["difference"] for part in self.parts}
        tested, gap = evaluation.backtest, None
        if tested is not None and len(tested.predicted) > 1:
            gap = {
                "predicted": float(tested.predicted.mean()),
                "observed": float(tested.observed.mean()),
                "individuals": len(tested.predicted),
                "beyond_chance": tested.beyond_chance,
            }
        return Template.from_code(environment, page_code(), environment.make_globals(None)).render(
            css=text["page.css"],
            js=text["page.js"],
            version=__version__,
            parts=parts,
            places={part.policy: place for place, part in enumerate(self.parts)},
            charts={name: drawn(chart) for name, chart in self.charts.items()},
            ranking=[
                {**row, "difference": differences[row["policy"]]} for row in evaluation.ranking.iter_rows(named=True)
            ],
            found=found,
            weighty=weighty_lines(found),
            findings=[words.finding(finding) for finding in found.findings],
            notes=evaluation.run.get("notes", ()),
            horizon=evaluation.question.horizon,
            gap=gap,
            behavior=evaluation.behavior,
            cohort=None if evaluation.cohort is None else cohort_table(evaluation.cohort, shown_as, words),
            settings=_settings(evaluation),
            thresholds=_thresholds(evaluation),
            content=_inline({"tables": [part["table"] for part in parts], "words": words.script}),
        )


@cache
def page_code() -> CodeType:
    """The page as a program, which is made of its template once."""
    return _environment().compile(_text("page.html"))


def _environment() -> Environment:
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": in_words}
    return environment


def _text(name: str) -> str:
    return (files("repbm.report") / "page" / name).read_text("utf-8")


def _inline(content: Any) -> str:
    """JSON that may stand in a script element."""
    return as_json(content, indent=None).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name).strip("-")[:_LONGEST] or "policy"


def _settings(evaluation: Evaluation) -> dict[str, str]:
    run = evaluation.run
    arguments = dict(run["arguments"])
    made = {"repbm": run["version"], "log": _said(arguments.pop("log")), "SHA-256 of the log": run["log_sha256"]}
    estimators = arguments.pop("estimators")
    for name in ("estimators_asked", "details", "policies", "thresholds"):
        arguments.pop(name)
    made |= {name.replace("_", " "): _said(value) for name, value in arguments.items() if value not in (None, {}, [])}
    made["estimators"] = _said(next(iter(estimators.values())))
    for score in evaluation.dynamics:
        chosen = ", chosen" if score["chosen"] else ""
        errors = (score[name] for name in ("one_step", "several_steps"))
        one, several = ("unknown" if error is None else f"{error:.3g}" for error in errors)
        made[f"dynamics: {score['dynamics']}"] = f"held-out error {one} one step ahead, {several} several{chosen}"
    return made


def _thresholds(evaluation: Evaluation) -> dict[str, str]:
    """By purpose, what decided."""
    purposes = evaluation.run["arguments"]["thresholds"]
    return {purpose.replace("_", " "): _said(rules) for purpose, rules in purposes.items()}


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name.replace('_', ' ')}={_said(one)}" for name, one in value.items() if one not in ("", None)
        )
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
