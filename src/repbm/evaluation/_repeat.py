"""An evaluation again, from what it stored about itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repbm.core import InputError, Progress, reason
from repbm.evaluation._evaluate import evaluate
from repbm.evaluation._options import Question
from repbm.evaluation._result import Evaluation
from repbm.evaluation._store import fingerprint, read_run
from repbm.policies.adapters import as_policy


def repeat(folder: str | Path, *, trust_pickle: bool = False, progress: Progress | None = None) -> Evaluation:
    """Evaluate as it was done for the result in `folder`: same log, policies and options, so same numbers."""
    where = str(folder)
    run = read_run(Path(folder))
    arguments, sha = run["arguments"], run["log_sha256"]
    log = _words(arguments.get("log"), "the log", where)
    if Path(log).exists() and fingerprint(Path(log)) != sha:
        raise InputError("the log has changed since", where=log, fix="evaluate it anew")
    try:
        policies = {name: _words(words, f"policy '{name}'", where) for name, words in arguments["policies"].items()}
        individuals, question = arguments["individuals"], Question.of(arguments)
        asked = next(iter(arguments["estimators"].values())) if arguments["estimators_asked"] else None
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, StopIteration) as fault:
        what = f"run.json is damaged ({reason(fault)})"
        raise InputError(what, where=where, fix="evaluate again") from fault
    made = evaluate(
        log,
        {name: as_policy(words, trust_pickle=trust_pickle) for name, words in policies.items()},
        estimators=asked,
        discount=question.discount,
        horizon=question.horizon,
        level=question.level,
        seed=question.seed,
        reading=question.reading,
        fitting=question.fitting,
        thresholds=question.thresholds,
        individuals=None if individuals is None else _words(individuals, "the table of individuals", where),
        threshold=question.threshold,
        details=question.details,
        progress=progress,
    )
    return made.with_policies(policies)


def _words(given: Any, what: str, where: str) -> str:
    if not isinstance(given, str):
        raise InputError(f"{what} was given as a Python object", where=where, fix="run it again from Python")
    return given
