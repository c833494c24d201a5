"""repbm reproduce: the paper's experiments, beside its figures."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repbm.cli._engine_options import Engine, RayAddress, Workers

if TYPE_CHECKING:
    import polars as pl

    from repbm.core import Progress
    from repbm.experiments import Experiment


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="cartpole-long, cartpole-short, mountaincar, hiv, alpha-long, alpha-short, tree, behavior-error, "
            "balance, gap, trust, trust-development, trust-beside, or a spec of yours: FILE.toml."
        ),
    ],
    out: Annotated[Path, typer.Option(help="A folder for the runs; the same command again resumes there.")],
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="How many independent repetitions; default: 100, for balance, gap and trust 30."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all runs.")] = 0,
    engine: Engine = None,
    workers: Workers = None,
    ray_address: RayAddress = None,
    policy: Annotated[
        str | None, typer.Option(help="Evaluate another policy than the benchmark's: FILE.npz or FILE.py:FUNCTION.")
    ] = None,
    fidelity: Annotated[
        str,
        typer.Option(help="corrected, or as-published: with the mistakes behind the published figures of baselines."),
    ] = "corrected",
) -> None:
    """Repeat an experiment of the paper, or one of ours: runs, a table beside the published figures, and plots."""
    from repbm.engines import TasksFailed, as_engine
    from repbm.experiments import load_experiment
    from repbm.experiments import reproduce as run
    from repbm.experiments.figures import figures

    experiment = _with_fidelity(load_experiment(name), fidelity)
    if policy is not None:
        experiment = _with_policy(experiment, policy)
    try:
        with as_engine(engine, workers, ray_address) as where, _progress_bar() as progress:
            store = run(experiment, runs or experiment.usual_runs, out, seed, progress, where)
    except TasksFailed as fault:
        for place, error in fault.errors.items():
            print(f"repbm: {place} failed: {type(error).__name__}: {error}", file=sys.stderr)
        print("repbm: the others are done and kept, and the same command tries these again", file=sys.stderr)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        print("repbm: stopped; finished runs are kept, and the same command resumes", file=sys.stderr)
        raise typer.Exit(130) from None
    store.write_figures(figures(experiment, store.rows()))
    _show(experiment, store.write_table())
    typer.echo(f"written to {out} ({fidelity})")


def _with_fidelity(experiment: Experiment, fidelity: str) -> Experiment:
    from repbm.core import InputError
    from repbm.experiments import Fidelity, Spec

    if isinstance(experiment, Spec):
        return experiment.with_fidelity(fidelity)
    if fidelity != Fidelity.CORRECTED:
        raise InputError(f"the experiment '{experiment.name}' has no fidelity", fix="leave --fidelity out")
    return experiment


def _with_policy(experiment: Experiment, policy: str) -> Experiment:
    from repbm.core import InputError
    from repbm.experiments import Spec

    if not isinstance(experiment, Spec):
        raise InputError(f"the experiment '{experiment.name}' has its own policies", fix="leave --policy out")
    return replace(experiment, policy=policy)


@contextmanager
def _progress_bar() -> Iterator[Progress | None]:
    """A bar of runs on a terminal's standard error, with the time left once a run has shown how long one takes."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None, left="")
        began = time.monotonic()

        def progress(what: str, done: int, total: int) -> None:
            left = _left(time.monotonic() - began, done, total)
            bar.update(task, description=what, completed=done, total=total, left=left)

        yield progress


def _left(seconds: float, done: int, total: int) -> str:
    if not done:
        return ""
    minutes = round(seconds / done * (total - done) / 60)
    if minutes < 1:
        return "less than a minute left"
    return f"about {minutes // 60} h {minutes % 60} min left" if minutes >= 60 else f"about {minutes} min left"


def _show(experiment: Experiment, table: pl.DataFrame) -> None:
    from rich.console import Console
    from rich.table import Table

    from repbm.experiments import Spec, result_cells

    errors = isinstance(experiment, Spec)
    lines = [_cells(row) for row in table.iter_rows(named=True)] if errors else result_cells(table, experiment.hidden)
    if not sys.stdout.isatty():
        print("\n".join("\t".join(cells) for cells in (list(lines[0]), *(line.values() for line in lines))))
        return
    title = f"{experiment.name}, 95 % intervals over runs"
    if isinstance(experiment, Spec):
        what = "relative errors" if experiment.relative else "root mean squared errors"
        title = f"{what} ({experiment.fidelity}), 95 % intervals, and the paper's"
    shown = Table(title=title, title_justify="left")
    for column in lines[0]:
        words = column in ("estimator", "model", "point", "behavior", "family")
        shown.add_column(column, justify="left" if words else "right", no_wrap=column == "estimator")
    for line in lines:
        shown.add_row(*line.values())
    Console().print(shown, highlight=False)


def _cells(row: dict[str, Any]) -> dict[str, str]:
    from repbm.core import number

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
