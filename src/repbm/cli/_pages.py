"""The report as files for a folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from repbm.core import InputError

if TYPE_CHECKING:
    from repbm.evaluation import Evaluation


def needs_folder(out: Path | None) -> None:
    """Refuse what only a report has, where none is written."""
    if out is None:
        raise InputError("there is no report without a folder for it", fix="add --out FOLDER")


def pages_of(evaluation: Evaluation, plots: bool, browser: str | None = None) -> dict[str, bytes]:
    """The page, and, if wanted, its charts, and what a browser prints of it, by path."""
    from repbm.report import report

    made = report(evaluation)
    page = made.html()
    files = {"report.html": page.encode()}
    if browser is not None:
        from repbm.cli._pdf import printed

        files["report.pdf"] = printed(page, browser)
    if plots:
        files |= {f"plots/{name}": content for name, content in made.plots().items()}
    return files
