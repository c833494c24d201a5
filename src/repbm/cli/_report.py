"""repbm report: the page of a stored result, made again without the log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repbm.cli._browser import show_in_browser


def report(
    folder: Annotated[Path, typer.Argument(help="The folder that `repbm evaluate --out` wrote.")],
    out: Annotated[Path | None, typer.Option(help="A file for the page; default: report.html in the folder.")] = None,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Write the page as PDF, too, beside it; needs Chromium or Chrome.")
    ] = False,
    open_report: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Render the report of a stored result again; the log is not needed."""
    from repbm.cli._pdf import find_browser, printed
    from repbm.cli._target import target
    from repbm.core import InputError, locked, reason
    from repbm.evaluation import Evaluation
    from repbm.report import report as page_of

    browser = find_browser() if pdf else None
    file = out or folder / "report.html"
    with locked(folder):  # so that nobody replaces the result by another one before its page is there
        evaluation = Evaluation.load(folder)
        with target(file, (".html",), "page") as write:
            try:
                content = page_of(evaluation).html()
            except Exception as fault:  # what was changed in the files since, in whatever way
                what = f"the stored result is damaged ({reason(fault)})"
                raise InputError(what, where=str(folder), fix="evaluate again") from fault
            write(lambda path: path.write_text(content, "utf-8"))
    if browser is not None:
        with target(file.with_suffix(".pdf"), (".pdf",), "PDF") as write:
            made = printed(content, browser)
            write(lambda path: path.write_bytes(made))
    typer.echo(f"look at {file}")
    if open_report:
        show_in_browser(str(file))
