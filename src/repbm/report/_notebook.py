"""A result in a notebook: in short, and chart by chart."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from repbm.core import InputError, nearest, say
from repbm.doctor import NOT_SUPPORTED, Finding, Severity
from repbm.report._drawing import Chart, svg
from repbm.report._page import Report
from repbm.report._part import PolicyPart
from repbm.report._words import Words

if TYPE_CHECKING:
    from repbm.evaluation import Evaluation

_COLORS = {"yes": "#00795a", "no": "#b3261e"}
_DOUBT = "#8a5a00"


def notebook_html(evaluation: Evaluation) -> str:
    """What is wrong with the log; the answer of each policy, its interval, difference and verdict; charts of what other
    estimators say."""
    made = Report(evaluation)
    parts = [*map(_warning, evaluation.examination.weighty), *map(_answer, made.parts)]
    if "ranking" in made.charts:
        parts.append(_picture(made.charts["ranking"], say("page", "ranking")))
    for part in made.parts:
        if "estimates" in part.charts:
            one = len(made.parts) == 1
            title = say("notebook", "estimates") if one else say("notebook", "estimates_of", policy=part.policy)
            parts.append(_picture(part.charts["estimates"], title, folded=len(made.parts) > 1))
    return f'<div style="max-width: 46em">{"".join(parts)}</div>'


def chart_of(evaluation: Evaluation, name: str, policy: str | None = None) -> Chart:
    """A chart of the report, by its name."""
    made = Report(evaluation)
    policies = {part.policy: part for part in made.parts}
    if policy is not None and policy not in policies:
        raise InputError(f"there is no policy '{policy}'", fix=f"use one of {', '.join(policies)}")
    if name in made.charts:
        return made.charts[name]
    part = next(iter(policies.values())) if policy is None else policies[policy]
    if name not in part.charts:
        known = [*part.charts, *made.charts]
        guess = nearest(name, known)
        raise InputError(
            f"there is no chart '{name}'", fix=f"did you mean '{guess}'?" if guess else f"there are {', '.join(known)}"
        )
    if policy is None and len(policies) > 1:
        raise InputError(f"every policy has a chart '{name}'", fix=f"say which: {', '.join(policies)}")
    return part.charts[name]


def _warning(finding: Finding) -> str:
    color = _COLORS["no"] if finding.severity is Severity.PROBLEM else _DOUBT
    words = escape(Words.read().finding(finding))
    return f'<p style="margin: 0.2em 0; color: {color}; background: #fff">{words}</p>'


def _answer(part: PolicyPart) -> str:
    row, verdict, shown = part.answer, part.verdict, part.shown
    value = say("notebook", "no_estimate") if row["value"] is None else shown.value(row["value"])
    value += f" {shown.unit}" if shown.unit and row["value"] is not None else ""
    ends = gain = ""
    if row["low"] is not None:
        ends = say("notebook", "interval", level=f"{row['level']:.0%}", range=shown.range(row["low"], row["high"]))
    if row["difference"] is not None:
        now, difference = shown.value(row["logged_mean"]), shown.difference(row["difference"])
        gain = f"<br>{escape(say('notebook', 'against', now=now, difference=difference))}"
        if row["difference_low"] is not None:
            bounds = shown.differences(row["difference_low"], row["difference_high"])
            gain += say("notebook", "difference", range=bounds)
    named = {"policy": part.policy, "value": value}
    answer = (
        say("notebook", "answer_of", outcome=shown.name, **named) if shown.name else say("notebook", "answer", **named)
    )
    answer = escape(answer)
    color = _COLORS.get("yes" if verdict.supported else "no" if verdict.word == NOT_SUPPORTED else "", _DOUBT)
    return (
        f'<p style="margin: 0.4em 0"><strong>{answer}</strong>{ends}{gain}<br>'
        f'<span style="color: {color}; background: #fff; padding: 0 0.2em">{escape(verdict.sentence)}</span></p>'
    )


def _picture(chart: Chart, title: str, folded: bool = False) -> str:
    """On white, whatever the notebook's colors are."""
    drawn = f'<div style="background: #fff; overflow-x: auto">{svg(chart)}</div>'
    if folded:
        return f"<details><summary>{escape(title)}</summary>{drawn}</details>"
    return f'<p style="margin: 0.8em 0 0.2em">{escape(title)}</p>{drawn}'
