"""An evaluation again, from what it stored about itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from repbm.core import InputError, Progress, reason
from repbm.engines import Engine, as_engine, opened
from repbm.evaluation._evaluate import evaluate
from repbm.evaluation._fingerprint import fingerprint
from repbm.evaluation._options import Question
from repbm.evaluation._result import Evaluation
from repbm.evaluation._store import read_run
from repbm.logs import Source, stands_for_files
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
    asked = _Asked.of(Path(folder))
    people = None if asked.individuals is None else _words(asked.individuals, "the table of individuals", str(folder))
    with as_engine(*asked.engine) if engine is None else opened(engine) as running:
        return asked.again(asked.estimators, people, asked.question.details, trust_pickle, progress, running)


def value_individuals(
    folder: str | Path, individuals: Source, *, trust_pickle: bool = False, progress: Progress | None = None
) -> pl.DataFrame:
    """What the answer of the result in `folder` says of other individuals: it is fitted again to the same log.

    One row an individual and policy, otherwise with the columns of `individuals.csv`.
    """
    made = _Asked.of(Path(folder)).again(["corrected"], individuals, False, trust_pickle, progress)
    new = made.individuals.filter(pl.col("source") == "new")
    return new.drop("source", "estimator").rename({"episode": "individual"})


@dataclass(frozen=True)
class _Asked:
    """What a stored run was asked."""

    log: str
    policies: dict[str, str]
    estimators: list[str] | None
    individuals: Any
    question: Question
    engine: tuple[str, int]
    """Which, and with how many workers."""

    @classmethod
    def of(cls, folder: Path) -> _Asked:
        """An error if it cannot be done again."""
        where, run = str(folder), read_run(folder)
        arguments, sha = run["arguments"], run["log_sha256"]
        log = _words(arguments.get("log"), "the log", where)
        if log == "-":
            raise InputError("the log was read from standard input", where=where, fix="evaluate a file")
        if stands_for_files(log) and fingerprint(Path(log)) != sha:
            raise InputError("the log has changed since", where=log, fix="evaluate it anew")
        try:
            policies = {name: _words(words, f"policy '{name}'", where) for name, words in arguments["policies"].items()}
            asked = next(iter(arguments["estimators"].values())) if arguments["estimators_asked"] else None
            engine = arguments["engine"], arguments["workers"]
            return cls(log, policies, asked, arguments["individuals"], Question.of(arguments), engine)
        except InputError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, StopIteration) as fault:
            what = f"run.json is damaged ({reason(fault)})"
            raise InputError(what, where=where, fix="evaluate again") from fault

    def again(
        self,
        estimators: list[str] | None,
        individuals: Source | None,
        details: bool,
        trust_pickle: bool,
        progress: Progress | None,
        engine: Engine | None = None,
    ) -> Evaluation:
        question = self.question
        made = evaluate(
            self.log,
            {name: as_policy(words, trust_pickle=trust_pickle) for name, words in self.policies.items()},
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
            outcome=question.outcome,
            everyone=question.everyone,
            details=details,
            progress=progress,
            engine=engine,
        )
        return made.with_policies(self.policies)


def _words(given: Any, what: str, where: str) -> str:
    if not isinstance(given, str):
        raise InputError(f"{what} was given as a Python object", where=where, fix="run it again from Python")
    return given
