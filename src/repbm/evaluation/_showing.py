"""How a result shows itself, by the room above that shows results: looked up when somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from repbm.evaluation._result import Evaluation


def notebook_html(evaluation: Evaluation) -> str:
    from repbm.report import notebook_html

    return notebook_html(evaluation)


def chart_of(evaluation: Evaluation, name: str, policy: str | None) -> Any:
    from repbm.report import chart_of

    return chart_of(evaluation, name, policy)


def page_of(evaluation: Evaluation) -> str:
    from repbm.report import report

    return report(evaluation).html()
