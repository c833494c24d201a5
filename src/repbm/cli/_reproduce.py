"""repbm reproduce: the paper's experiments, beside its figures."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import polars as pl


def reproduce(
    name: Annotated[
        str, typer.Argument(help="cartpole-long, cartpole-short, mountaincar, hiv, or a spec of yours: FILE.toml.")
    ],
    out: Annotated[Path, typer.Option(help="A folder for the runs; the same command again resumes there.")],
    runs: Annotated[int, typer.Option(min=1, help="How many independent logs.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all runs.")] = 0,
    policy: Annotated[
        str | None, typer.Option(help="Evaluate another policy than the benchmark's: FILE.npz or FILE.py:FUNCTION.")
    ] = None,
) -> None:
    """Repeat an experiment of the paper: errors of all estimators over many logs, beside the published ones."""
    from repbm.experiments import load_spec
    from repbm.experiments import reproduce as run

    spec = load_spec(name)
    if policy is not None:
        spec = replace(spec, policy=policy)
    try:
        with _progress() as tell:
            store = run(spec, runs, out, seed, tell)
    except KeyboardInterrupt:
        print("repbm: stopped; finished runs are kept, and the same command resumes", file=sys.stderr)
        raise typer.Exit(130) from None
    _show(store.write_table(), "relative errors" if spec.relative else "root mean squared errors")
    typer.echo(f"written to {out}")


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar of runs on a terminal's standard error, with the time left once a run has shown how long one takes."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None, left="")
        began = time.monotonic()

        def tell(what: str, done: int, total: int) -> None:
            left = _left(time.monotonic() - began, done, total)
            bar.update(task, description=what, completed=done, total=total, left=left)

        yield tell


def _left(seconds: float, done: int, total: int) -> str:
    if not done:
        return ""
    minutes = round(seconds / done * (total - done) / 60)
    if minutes < 1:
        return "less than a minute left"
    return f"about {minutes // 60} h {minutes % 60} min left" if minutes >= 60 else f"about {minutes} min left"


def _show(table: pl.DataFrame, what: str) -> None:
    from rich.console import Console
    from rich.table import Table

    lines = [_cells(row) for row in table.iter_rows(named=True)]
    if not sys.stdout.isatty():
        print("\n".join("\t".join(cells) for cells in (list(lines[0]), *(line.values() for line in lines))))
        return
    shown = Table(title=f"{what}, 95 % intervals, and the paper's", title_justify="left")
    for column in lines[0]:
        shown.add_column(column, justify="left" if column == "estimator" else "right", no_wrap=column == "estimator")
    for line in lines:
        shown.add_row(*line.values())
    Console().print(shown, highlight=False)


def _cells(row: dict[str, Any]) -> dict[str, str]:
    from repbm.report import number

    cells = {"estimator": row["estimator"], "runs": str(row["runs"]), "undefined": str(row["undefined"])}
    for metric in ("mean", "individual"):
        low, high = row[f"rmse_{metric}_low"], row[f"rmse_{metric}_high"]
        agrees = row[f"agrees_{metric}"]
        cells |= {
            metric: number(row[f"rmse_{metric}"]),
            f"{metric} interval": "-" if low is None else f"{number(low)} to {number(high)}",
            f"{metric} published": number(row[f"published_{metric}"]),
            f"{metric} agrees": "-" if agrees is None else "yes" if agrees else "no",
        }
    return cells
