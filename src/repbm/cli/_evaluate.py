"""repbm evaluate: estimates from a log, for one policy or several."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from repbm.cli._browser import show_in_browser
from repbm.cli._engine_options import Engine, RayAddress, Workers
from repbm.cli._log_options import (
    Better,
    Columns,
    Ends,
    Gaps,
    Memory,
    Missing,
    OutcomeName,
    Unit,
    Worth,
    policies_of,
)
from repbm.cli._rules import Rules, thresholds_of
from repbm.cli._strict import Accept, Strict, check_accepted, end_strictly
from repbm.cli._study_options import asked_of


def evaluate(
    log: Annotated[
        str,
        typer.Argument(
            help="A CSV, Parquet or Excel file, a folder or a pattern of them, - for standard input; one row a step. "
            "Also minari:NAME, FILE.h5 of d3rlpy, and a study.toml, as `repbm init` writes it."
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="FILE.py:FUNCTION; FILE.csv (a decision table), FILE.onnx, FILE.pt (TorchScript), FILE.skops, "
            "FILE.zip (Stable-Baselines3), FILE.d3 (d3rlpy), FILE.npz; column:NAME, probability:NAME or "
            "probabilities:NAME,...; with a name in front: NAME=... Repeatable. Default: those of the study."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for the results.")] = None,
    estimator: Annotated[
        list[str] | None,
        typer.Option(help="repbm, am, dr(repbm), wis, ... Repeatable; default: what the log supports."),
    ] = None,
    discount: Annotated[float | None, typer.Option(help="Worth of a reward one step later. Default: 1.")] = None,
    horizon: Annotated[int | None, typer.Option(help="Cut every episode after so many steps.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling behind intervals.")] = 0,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    column: Columns = None,
    ends: Ends = None,
    missing: Missing = None,
    gaps: Gaps = None,
    worth: Worth = None,
    memory: Memory = "2GB",
    fit: Annotated[
        str, typer.Option(help="How models are fitted: auto (chosen from the log), or paper (as published).")
    ] = "auto",
    folds: Annotated[int, typer.Option(help="Cross-fitting: fit each fold's critic on the other folds.")] = 1,
    refits: Annotated[
        int, typer.Option(help="Intervals for models: fit them again to so many resampled logs, such as 20.")
    ] = 0,
    individuals: Annotated[
        str | None, typer.Option(help="A table of initial states: values for individuals who are not in the log.")
    ] = None,
    everyone: Annotated[
        bool,
        typer.Option(
            "--everyone", help="Value all individuals, also of a log larger than memory, into individuals.parquet."
        ),
    ] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Say how strong a hidden cause would turn the difference around.")
    ] = False,
    guaranteed: Annotated[
        bool, typer.Option("--guaranteed", help="Say bounds on the value that need no model; they are wide.")
    ] = False,
    threshold: Annotated[
        list[float] | None,
        typer.Option(help="Say how probable a return below this is under the policy. Repeatable."),
    ] = None,
    outcome: OutcomeName = "",
    unit: Unit = "",
    better: Better = None,
    rule: Rules = None,
    save_model: Annotated[
        Path | None, typer.Option(help="Keep the model fitted for the policy (one policy only) for `repbm value`.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load policies from pickles, which can run any code.")
    ] = False,
    plots: Annotated[bool, typer.Option("--plots", help="Write the charts of the report as PNG and SVG, too.")] = False,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Write the report as report.pdf, too; needs Chromium or Chrome.")
    ] = False,
    open_report: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    engine: Engine = None,
    workers: Workers = None,
    ray_address: RayAddress = None,
    every: Annotated[
        bool, typer.Option("--all", help="Print every estimator and its notes, not the answers alone.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print answers, verdicts and all estimates as JSON, and nothing else.")
    ] = False,
    strict: Strict = False,
    accept: Accept = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """What would happen if we followed this policy instead?"""
    from repbm.cli._console import progress, show, show_guaranteed, show_sensitivity, show_thresholds, warn
    from repbm.cli._pages import needs_folder, pages_of
    from repbm.cli._pdf import find_browser
    from repbm.cli._saved_model import check_model_file, save
    from repbm.core import InputError, as_json
    from repbm.engines import as_engine
    from repbm.evaluation import Fitting, Outcome, check_target
    from repbm.evaluation import evaluate as run
    from repbm.logs import bytes_of
    from repbm.report import plain_answers, start_drawing

    check_accepted(accept or (), strict)
    if out is not None:
        check_target(out)
    elif plots or open_report or pdf or everyone:
        needs_folder(out)
    asked = asked_of(log, policy, column, ends, missing, gaps, worth, discount, horizon)
    if not asked.policies:
        raise InputError("no policy is given", fix="say --policy FILE, or name one in the study")
    browser = find_browser() if pdf else None
    if save_model is not None:
        check_model_file(save_model, len(asked.policies))
    if out is not None:
        start_drawing()
    with as_engine(engine, workers, ray_address) as where, progress(quiet) as told:
        evaluation = run(
            asked.log,
            policies_of(asked.policies, trust_pickle),
            estimators=estimator,
            discount=asked.discount,
            horizon=asked.horizon,
            level=level,
            seed=seed,
            reading=replace(asked.reading, memory=bytes_of(memory)),
            fitting=Fitting(fit, folds, refits),
            thresholds=thresholds_of(rule or []),
            individuals=individuals,
            threshold=threshold or (),
            outcome=Outcome(outcome or asked.outcome.name, unit or asked.outcome.unit, better or asked.outcome.better),
            everyone=everyone,
            details=out is not None or sensitivity or guaranteed or bool(threshold),
            progress=told,
            engine=where,
        ).with_policies(asked.policies)
    if save_model is not None:
        save(evaluation, save_model)
    if out is not None:
        evaluation.write(out, pages_of(evaluation, plots, browser))
    if json:
        warn(evaluation)
        typer.echo(as_json(plain_answers(evaluation)))
    elif not quiet:
        show(evaluation, every)
        if sensitivity:
            show_sensitivity(evaluation)
        if guaranteed:
            show_guaranteed(evaluation)
        if threshold:
            show_thresholds(evaluation)
        if out is not None:
            typer.echo(f"written to {out}; look at {out / 'report.html'}")
    if out is not None and open_report:
        show_in_browser(str(out / "report.html"))
    if strict:
        end_strictly(evaluation.examination, accept or ())
