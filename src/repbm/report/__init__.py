"""Results for people: tables as text, the report, figures of experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repbm.report._examination import examination_lines
from repbm.report._machine import plain_answers
from repbm.report._scale import Shown
from repbm.report._tables import answers_of, answers_table, estimates_lines, estimates_tables, ranking_line

if TYPE_CHECKING:
    from repbm.evaluation import Evaluation
    from repbm.report._page import Report


def report(evaluation: Evaluation) -> Report:
    """The report of an evaluation: `html()` is the page, `plots()` its charts as files."""
    # Loaded when needed: tables do not wait for charts.
    from repbm.report._page import Report

    return Report(evaluation)


__all__ = [
    "Shown",
    "answers_of",
    "answers_table",
    "estimates_lines",
    "estimates_tables",
    "examination_lines",
    "plain_answers",
    "ranking_line",
    "report",
]
