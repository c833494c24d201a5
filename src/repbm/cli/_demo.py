"""repbm demo: treatments of HIV, from a log to a report, with the truth beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repbm.cli._browser import show_in_browser

_DISCOUNT = 0.98


def demo(
    out: Annotated[Path | None, typer.Option(help="A folder for the log, the results and the report.")] = None,
    episodes: Annotated[int, typer.Option(min=10, help="How many patients to log.")] = 50,
    steps: Annotated[int, typer.Option(min=1, help="How many decisions, one every five days.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the patients and of their treatment.")] = 0,
    open_report: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
) -> None:
    """Log simulated patients with HIV, evaluate two treatments from the log alone, and show them next to the truth."""
    from repbm.cli._console import progress as progress_bar
    from repbm.cli._console import show
    from repbm.cli._pages import needs_folder, pages_of
    from repbm.core import InputError, silent, stream, write_whole, writing
    from repbm.domains import HIV, benchmark_policy, collect, truth
    from repbm.evaluation import check_target, evaluate
    from repbm.logs import log_frame
    from repbm.policies import CallablePolicy

    if open_report:
        needs_folder(out)
    if out is not None:
        check_target(out / "result")
        if (out / "log.parquet").exists() and not (out / "result" / "run.json").exists():
            raise InputError("this is another log", where=str(out / "log.parquet"), fix="give a new folder")
    world, interrupted = HIV(horizon=steps), benchmark_policy("hiv")
    policies = {
        "interrupted therapy": interrupted,
        "both drugs always": CallablePolicy(lambda states: [3] * len(states), name="both drugs always"),
    }
    with progress_bar(False) as shown:
        progress = shown or silent
        progress("treating patients", 0, 1)
        log = collect(world, interrupted, episodes, stream(seed, "demo"), 0.05)
        if out is not None:
            with writing(out):
                out.mkdir(parents=True, exist_ok=True)
            write_whole(out / "log.parquet", log_frame(log).write_parquet)
        evaluation = evaluate(log, policies, discount=_DISCOUNT, seed=seed, progress=progress)
        if out is not None:
            progress("writing the report", 0, 1)
            evaluation.write(out / "result", pages_of(evaluation, plots=True))
    starts = log.initial_observations
    known = {name: truth(world, policy, starts, discount=_DISCOUNT).mean() for name, policy in policies.items()}
    show(evaluation, every=True, truth=known)
    typer.echo(
        f"{episodes} patients were treated {steps} times, every five days, by interrupted therapy with 5 % random "
        "decisions. The truth is what the simulator says of the same patients; the estimates have not seen it."
    )
    if out is not None:
        page = out / "result" / "report.html"
        typer.echo(f"The log and the results are in {out}; look at {page}.")
        if open_report:
            show_in_browser(str(page))
