"""An evaluation again, from what it stored about itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from repbm._version import __version__
from repbm.core import InputError, Progress
from repbm.engines import Engine, as_engine, opened
from repbm.evaluation._evaluate import evaluate
from repbm.evaluation._options import Question
from repbm.evaluation._result import Evaluation
from repbm.evaluation._store import fingerprint
from repbm.logs import Source
from repbm.policies.adapters import as_policy


def repeat(
    folder: str | Path,
    *,
    trust_pickle: bool = False,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
) -> Evaluation:
    """Evaluate as it was done for the result in `folder`: same log, policies and options, so same numbers.

    By the same engine, too, unless another is given.
    """
    where, arguments = str(folder), _arguments(Path(folder))
    individuals, question = arguments["individuals"], Question.of(arguments)
    asked = next(iter(arguments["estimators"].values())) if arguments["estimators_asked"] else None
    people = None if individuals is None else _words(individuals, "the table of individuals", where)
    stored = as_engine(arguments["engine"], arguments["workers"])
    with stored if engine is None else opened(engine) as running:
        return _again(where, arguments, asked, people, question.details, trust_pickle, progress, running)


def value_individuals(
    folder: str | Path, individuals: Source, *, trust_pickle: bool = False, progress: Progress | None = None
) -> pl.DataFrame:
    """What the answer of the result in `folder` says of other individuals: it is fitted again to the same log.

    One row an individual and policy, otherwise with the columns of `individuals.csv`.
    """
    made = _again(str(folder), _arguments(Path(folder)), ["corrected"], individuals, False, trust_pickle, progress)
    new = made.individuals.filter(pl.col("source") == "new")
    return new.drop("source", "estimator").rename({"episode": "individual"})


def _again(
    where: str,
    arguments: dict[str, Any],
    estimators: list[str] | None,
    individuals: Source | None,
    details: bool,
    trust_pickle: bool,
    progress: Progress | None,
    engine: Engine | None = None,
) -> Evaluation:
    question = Question.of(arguments)
    policies = {name: _words(words, f"policy '{name}'", where) for name, words in arguments["policies"].items()}
    made = evaluate(
        _words(arguments["log"], "the log", where),
        {name: as_policy(words, trust_pickle=trust_pickle) for name, words in policies.items()},
        estimators=estimators,
        discount=question.discount,
        horizon=question.horizon,
        level=question.level,
        seed=question.seed,
        reading=question.reading,
        fitting=question.fitting,
        thresholds=question.thresholds,
        individuals=individuals,
        threshold=question.threshold,
        details=details,
        progress=progress,
        engine=engine,
    )
    return made.with_policies(policies)


def _arguments(folder: Path) -> dict[str, Any]:
    """What the run was asked; an error if it cannot be done again."""
    where = str(folder)
    try:
        run = json.loads((folder / "run.json").read_text("utf-8"))
        arguments, sha = run["arguments"], run["log_sha256"]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        fix = "give the folder that `repbm evaluate --out` wrote"
        raise InputError("there is no run.json of ours in it", where=where, fix=fix) from fault
    if run.get("version") != __version__:
        raise InputError(f"this result is of version {run.get('version')}, this program is {__version__}", where=where)
    log = _words(arguments["log"], "the log", where)
    if Path(log).exists() and fingerprint(Path(log)) != sha:
        raise InputError("the log has changed since", where=log, fix="evaluate it anew")
    return arguments


def _words(given: Any, what: str, where: str) -> str:
    if not isinstance(given, str):
        raise InputError(f"{what} was given as a Python object", where=where, fix="run it again from Python")
    return given
