"""Results for people: tables as text, the report, figures of experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repbm.report._drawing_engine import start_drawing
from repbm.report._examination import examination_lines
from repbm.report._machine import plain_answers
from repbm.report._scale import Shown
from repbm.report._states import logged_states
from repbm.report._tables import answers_of, answers_table, estimates_lines, estimates_tables, ranking_line
from repbm.report._words import Words, weighty_lines

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from repbm.evaluation import Evaluation
    from repbm.report._drawing import Chart
    from repbm.report._page import Report


def report(evaluation: Evaluation) -> Report:
    """The report of an evaluation: `html()` is the page, `plots()` its charts as files."""
    # Loaded when needed: tables do not wait for charts.
    from repbm.report._page import Report

    return Report(evaluation)


def notebook_html(evaluation: Evaluation) -> str:
    """An evaluation in short, for a notebook."""
    from repbm.report._notebook import notebook_html

    return notebook_html(evaluation)


def chart_of(evaluation: Evaluation, name: str, policy: str | None = None) -> Chart:
    """One chart of the report, as one of Altair."""
    from repbm.report._notebook import chart_of

    return chart_of(evaluation, name, policy)


def individuals_svg(values: Float[np.ndarray, " individuals"], shown: Shown | None = None) -> str:
    """How values of individuals are spread, as a picture that can stand in a page."""
    from repbm.report._charts import individuals_chart
    from repbm.report._drawing import svg

    return svg(individuals_chart(values, float(values.mean()), shown or Shown()))


__all__ = [
    "Shown",
    "Words",
    "answers_of",
    "answers_table",
    "chart_of",
    "estimates_lines",
    "estimates_tables",
    "examination_lines",
    "individuals_svg",
    "logged_states",
    "notebook_html",
    "plain_answers",
    "ranking_line",
    "report",
    "start_drawing",
    "weighty_lines",
]
