"""An evaluation again, from what it stored about itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repbm._version import __version__
from repbm.core import InputError, Progress
from repbm.evaluation._evaluate import evaluate
from repbm.evaluation._options import Question
from repbm.evaluation._result import Evaluation
from repbm.evaluation._store import fingerprint
from repbm.logs import stands_for_files
from repbm.policies.adapters import as_policy


def repeat(folder: str | Path, *, trust_pickle: bool = False, progress: Progress | None = None) -> Evaluation:
    """Evaluate as it was done for the result in `folder`: same log, policies and options, so same numbers."""
    where = str(folder)
    try:
        run = json.loads((Path(folder) / "run.json").read_text("utf-8"))
        arguments, sha = run["arguments"], run["log_sha256"]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        fix = "give the folder that `repbm evaluate --out` wrote"
        raise InputError("there is no run.json of ours in it", where=where, fix=fix) from fault
    if run.get("version") != __version__:
        raise InputError(f"this result is of version {run.get('version')}, this program is {__version__}", where=where)
    log = _words(arguments["log"], "the log", where)
    if log == "-":
        raise InputError("the log was read from standard input", where=where, fix="evaluate a file")
    if stands_for_files(log) and fingerprint(Path(log)) != sha:
        raise InputError("the log has changed since", where=log, fix="evaluate it anew")
    policies = {name: _words(words, f"policy '{name}'", where) for name, words in arguments["policies"].items()}
    individuals, question = arguments["individuals"], Question.of(arguments)
    asked = next(iter(arguments["estimators"].values())) if arguments["estimators_asked"] else None
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
