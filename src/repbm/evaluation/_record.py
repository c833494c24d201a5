"""How an evaluation was made, and whom it is about: what is stored beside its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from repbm._version import __version__
from repbm.core import say
from repbm.data import Encoding, Trajectories
from repbm.engines import Engine
from repbm.estimators import Case, EstimatorSpec
from repbm.evaluation._fingerprint import Fingerprint, fingerprint
from repbm.evaluation._options import Question
from repbm.logs import Individuals, Source, less_is_better
from repbm.policies import LearnedBehavior, Policy


def episodes_table(case: Case) -> pl.DataFrame:
    """Every logged episode: what it earned, and the state it began in."""
    data = case.data
    states = {
        name if name not in ("episode", "logged_return") else f"{name} (at first)": data.initial_observations[:, k]
        for k, name in enumerate(data.names)
    }
    labels = [str(label) for label in data.labels_of().tolist()]
    return pl.DataFrame(
        {"episode": labels, "logged_return": case.returns} | states, schema_overrides={"episode": pl.String}
    )


def numbered(labels: pl.Series) -> pl.Series:
    """Labels that are whole numbers as such; others stay text."""
    whole = labels.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == labels.null_count() else labels


def described(learned: LearnedBehavior) -> dict[str, Any]:
    shown = learned.reliability
    return {
        "kind": learned.kind,
        "likelihood": learned.likelihood,
        "likelihoods": dict(learned.likelihoods),
        "parts": [
            {
                "kind": part.kind,
                "count": part.count,
                "temperature": part.calibration.temperature,
                "mixed": part.calibration.mixed,
            }
            for part in learned.parts
        ],
        "relative_error": shown.relative_error,
        "predicted": shown.predicted.tolist(),
        "observed": shown.observed.tolist(),
        "count": shown.count.tolist(),
    }


def record(
    log: Source | Trajectories,
    given: Any,
    policies: Mapping[str, Policy],
    chosen: Mapping[str, Sequence[EstimatorSpec]],
    by_default: bool,
    individuals: Source | None,
    data: Trajectories,
    question: Question,
    engine: Engine,
    begun: Fingerprint | None,
    new: Individuals | None = None,
    said: Sequence[str] = (),
) -> dict[str, Any]:
    """How the result was made: enough to make it again where everything was given as words.

    `policies` are those that the log was asked about, `begun` is the fingerprint of the log, where it is files, and
    `said` what is to be known of how all this was read.
    """
    words = given if isinstance(given, Mapping) else {next(iter(policies)): given}
    return {
        "version": __version__,
        "log_sha256": fingerprint(data) if begun is None else begun.sha256,
        "reading": (data.encoding or Encoding.of_names(data.names)).to_dict(),
        "notes": [*_notes(policies, data, new), *filter(None, [*said, _direction(data, question)])],
        "numbered_episodes": data.labels_of().dtype.kind in "iu",
        "rules": {name: one.text for name, one in policies.items()},
        "arguments": {
            "log": _words(log),
            "policies": {str(name): _words(one) for name, one in words.items()},
            "individuals": None if individuals is None else _words(individuals),
            "estimators": {name: [spec.name for spec in each] for name, each in chosen.items()},
            "estimators_asked": not by_default,
            **question.to_dict(),
            "engine": engine.name,
            "workers": engine.workers,
        },
    }


def _notes(policies: Mapping[str, Policy], data: Trajectories, new: Individuals | None) -> list[str]:
    """What was taken for what without being told: by us, and by policies, as they are bound to the log."""
    notes = [] if data.encoding is None else list(data.encoding.notes)
    ordered = [name for name, one in policies.items() if one.by_order]
    if ordered and data.observation_names:
        notes.append(say("notes", "in_order", policies=", ".join(ordered), names=", ".join(data.observation_names)))
    given = {name: one.by_column for name, one in policies.items() if one.by_column is not None}
    for column in dict.fromkeys(given.values()):
        named = ", ".join(name for name, own in given.items() if own == column)
        notes.append(say("notes", "by_column", policies=named, column=column))
    return [*notes, *(() if new is None else new.notes)]


def _direction(data: Trajectories, question: Question) -> str:
    """That more counts as better, where it sounds as if less were: a policy that kills is no gain."""
    told = (question.outcome.name, question.reading.columns.get("reward"))
    burden = next((name for name in told if name and less_is_better(name)), None)
    if burden is None or question.outcome.sign < 0 or not len(data.rewards) or data.rewards.min() < 0:
        return ""
    return say("notes", "less_better", name=burden)


def _words(given: Any) -> Any:
    """What the user wrote; an object is only described."""
    return str(given) if isinstance(given, str | Path) else {"own": type(given).__name__}
