"""What the page says of one policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from jaxtyping import Int

from repbm.core import say
from repbm.doctor import NOT_SUPPORTED
from repbm.estimators import Role
from repbm.evaluation import Effect, PolicyDetails
from repbm.report._charts import individuals_chart, support_chart
from repbm.report._confounding import confounding_chart
from repbm.report._drawing import Chart, drawn
from repbm.report._interval_charts import forest_chart, groups_chart
from repbm.report._people import people_table
from repbm.report._quote import consistent, may_be_chance, quote
from repbm.report._scale import Shown
from repbm.report._states import logged_states
from repbm.report._tables import merged, noted
from repbm.report._words import Words

if TYPE_CHECKING:
    from repbm.doctor import Check, Verdict
    from repbm.evaluation import Evaluation, PracticeRegion

_LEAST_SHARE = 0.05
"""What the policy does more seldom, in a region, is not named there."""
_HALF = 0.5
"""What was logged less than so many times as often as the policy does it, and seldom, is few."""
_MOST_ACTIONS = 6
_BACKTEST = "back-test"
_BETWEEN_NOTES = "; "
_SEVERAL = 3
"""What is noted of so many estimators is said once, below their table."""


@dataclass(frozen=True, eq=False)
class PolicyPart:
    """What the page says of one policy."""

    evaluation: Evaluation
    policy: str
    rows_shown: Int[np.ndarray, " some"]
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

    @property
    def shown(self) -> Shown:
        return Shown.of(self.evaluation)

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
            rows = pl.DataFrame(merged(self.rows.to_dicts()), schema=self.rows.schema)
            found["estimates"] = forest_chart(rows, self.answer["logged_mean"], self.shown)
        steps = self.evaluation.diagnostics.filter(pl.col("policy") == self.policy)
        if len(steps) > 1:
            found["support"] = support_chart(steps, self.verdict)
        if len(self._values):
            found["individuals"] = individuals_chart(self._values, float(self._values.mean()), self.shown)
        if self.details.groups:
            found["groups"] = groups_chart(self.details.groups, self.shown)
        if self.details.confounding is not None:
            found["confounding"] = confounding_chart(self.details.confounding, self.shown)
        return found

    @cached_property
    def _values(self) -> np.ndarray:
        """What is expected of the logged individuals, where that can be told."""
        return self._own("log")["value"].drop_nulls().drop_nans().to_numpy()

    @property
    def _done(self) -> float | None:
        """The share of the decisions of a log of one step that are the policy's."""
        steps = self.evaluation.diagnostics.filter(pl.col("policy") == self.policy)
        return None if len(steps) > 1 else float(steps["factual"][0] / steps["alive"][0])

    def table(self, words: Words) -> dict[str, Any] | None:
        """The table of individuals: columns, their cells, how many there are in all."""
        logged, new = self._own("log"), self._own("new")
        if not len(logged):
            return None
        rows = self.rows_shown.tolist()
        few = new.head(len(rows))
        titles = words.page["individuals_columns"]
        earned, states = self.evaluation.episodes["logged_return"], logged_states(self.evaluation)
        found = people_table(logged[rows], few, earned[rows], states[rows], titles, self.shown.binary)
        return found | {"shown": len(rows) + len(few), "total": len(logged) + len(new)}

    def content(self, words: Words) -> dict[str, Any]:
        answer, verdict, shown = self.answer, self.verdict, self.shown
        effect = Effect.of(answer) if shown.binary else None
        hidden = self.details.confounding
        regions = self.details.regions
        tested = next((check.sentence for check in verdict.checks or () if check.name == _BACKTEST), None)
        decisions = sum(region.decisions for region in regions)
        rows = [
            {
                **row,
                "meaning": words.meaning(row["family"], row["softened"]),
                "note": self._noted(row),
            }
            for row in merged(self.rows.to_dicts())
        ]
        shared = _shared_notes(rows)
        return {
            "name": self.policy,
            "answer": {
                **answer,
                "note": _without(self._noted(answer), self._said_of_verdict(answer)),
                "meaning": words.meaning(answer["family"], answer["softened"]),
                "size": shown.size(answer["difference"]),
                "chance": may_be_chance(answer),
            },
            "why": _why(answer, verdict),
            "quote": quote(answer, verdict, shown, words),
            "effect": None if effect is None else shown.effect(effect),
            "backtest": tested,
            "verdict": {**verdict.to_dict(), **_kinds(verdict), "precise": verdict.precise},
            "rows": [{**row, "note": _without(row["note"], shared)} for row in rows],
            "shared_notes": [{"note": note, "names": ", ".join(names)} for note, names in shared.items()],
            "rule": self.evaluation.run["rules"].get(self.policy),
            "charts": {name: drawn(chart) for name, chart in self.charts.items()},
            "done": self._done,
            "checks": [{"mark": _mark(check), "sentence": check.sentence} for check in verdict.checks or ()],
            "mean_differs": len(self._values) > 0 and shown.value(self._values.mean()) != shown.value(answer["value"]),
            "actions": _actions(self.details, words),
            "differing": sum(region.differing * region.decisions for region in regions) / max(decisions, 1),
            "least": self._least,
            "regions": [self._region(region) for region in regions],
            "overlap": self._overlap(regions),
            "groups": [asdict(group) for group in self.details.groups],
            "hidden": None if hidden is None else hidden.sentence,
            # Quantiles of zeros and ones tell nothing that the mean does not.
            "returns": None if shown.binary else self.details.returns,
            "model_returns": None if shown.binary else self.details.model_returns,
            "teller": self.details.individuals_by,
            "table": self.table(words),
        }

    def _noted(self, row: Mapping[str, Any]) -> str:
        return consistent(noted(row, self.rows, self.shown), self.verdict)

    def _said_of_verdict(self, answer: Mapping[str, Any]) -> list[str]:
        """What the verdict says of the answer already."""
        few = self.verdict.supported and self.verdict.few_behind and answer["role"] == Role.CORRECTED
        return [say("notes", "few_effective", count=answer["effective_episodes"])] if few else []

    @property
    def _least(self) -> int:
        return self.evaluation.question.thresholds.positivity.fewest_uses

    def _region(self, region: PracticeRegion) -> dict[str, Any]:
        cells = [self._cell(region, *action) for action in region.actions]
        return {
            "where": ", ".join(region.conditions),
            "decisions": region.decisions,
            "individuals": region.individuals,
            "differing": region.differing,
            "taken": [cell for cell in cells if cell["share"] >= _LEAST_SHARE],
        }

    def _cell(self, region: PracticeRegion, name: str, share: float, count: int) -> dict[str, Any]:
        few = share >= _LEAST_SHARE and count < min(self._least, _HALF * share * region.decisions)
        return {"name": name, "share": share, "count": count, "logged": count / region.decisions, "few": few}

    def _overlap(self, regions: tuple[PracticeRegion, ...]) -> dict[str, Any]:
        """Actions, and for every region what the policy and the log do of each."""
        weight: dict[str, float] = {}
        for region in regions:
            for name, share, count in region.actions:
                weight[name] = weight.get(name, 0.0) + share * region.decisions + count
        names = sorted(weight, key=lambda name: -weight[name])[:_MOST_ACTIONS]
        cells = [{action[0]: self._cell(region, *action) for action in region.actions} for region in regions]
        return {"names": names, "cells": [[own.get(name) for name in names] for own in cells]}


def _shared_notes(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What is noted of several estimators, and of which: said once, it need not be read in every row."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for note in filter(None, row["note"].split(_BETWEEN_NOTES)):
            found.setdefault(note, []).append(row["estimator"])
    return {note: names for note, names in found.items() if len(names) >= _SEVERAL}


def _without(note: str, shared: Collection[str]) -> str:
    return _BETWEEN_NOTES.join(one for one in note.split(_BETWEEN_NOTES) if one not in shared)


def _mark(check: Check) -> str:
    """What holds, what does not, and what could not be looked at: that is no good sign."""
    unknown = ("check_followed_unknown", "check_followed_one", "check_hidden_unknown")
    if check.sentence in (say("doctor", name) for name in unknown):
        return "–"
    return "✓" if check.holds else "✕"


def _actions(details: PolicyDetails, words: Words) -> str:
    parts = (
        words.plain("support_action", action=name, chosen=f"{chosen:.0%}", done=f"{done:.0%}")
        for name, chosen, done in details.actions
    )
    return ", ".join(parts)


def _why(answer: dict[str, Any], verdict: Verdict) -> str:
    if answer["role"] == "corrected":
        return "why_corrected"
    return "why_weights" if verdict.weights else "why_models" if verdict.models else "why_none"


def _kinds(verdict: Verdict) -> dict[str, str]:
    """How the answer looks, and what stands over it."""
    kind = _kind(verdict)
    return {"kind": kind, "heading": "yes_few" if kind == "yes" and verdict.few_behind else kind}


def _kind(verdict: Verdict) -> str:
    if verdict.supported:
        return "yes"
    if verdict.word == NOT_SUPPORTED:
        return "no"
    return "partly" if verdict.checks is None else "open"
