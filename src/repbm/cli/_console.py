"""What commands print: tables and progress on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from repbm.report import estimates_lines, estimates_tables


def show(estimates: pl.DataFrame, truth: Mapping[str, float] | None = None) -> None:
    if sys.stdout.isatty():
        for part in estimates_tables(estimates, truth):
            Console().print(part, highlight=False)
        return
    for line in estimates_lines(estimates, truth):
        print(line)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress bar with time left on a terminal's standard error; nothing elsewhere."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)
