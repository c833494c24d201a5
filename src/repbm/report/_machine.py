"""An evaluation for programs: the answers, the verdicts and all estimates as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from repbm.evaluation import Effect
from repbm.report._tables import answers_of

if TYPE_CHECKING:
    from repbm.evaluation import Evaluation

_OF_POLICY = ("policy", "verdict", "supported")


def plain_answers(evaluation: Evaluation) -> dict[str, Any]:
    """What `repbm evaluate --json` prints; docs/schemas/evaluate.schema.json says what is in it."""
    doctor = evaluation.examination.to_dict()
    verdicts = doctor.pop("verdicts")
    findings, sound = doctor.pop("findings"), doctor.pop("sound")
    return {
        "version": evaluation.run["version"],
        "sound": sound,
        "log": {**doctor, "sha256": evaluation.run["log_sha256"], "notes": list(evaluation.run["notes"])},
        "outcome": {**asdict(evaluation.question.outcome), **evaluation.scale.to_dict()},
        "findings": findings,
        "policies": [
            {
                "policy": row["policy"],
                "supported": row["supported"],
                "verdict": verdicts[row["policy"]],
                "answer": _estimate(row),
                "effect": _effect(row) if evaluation.scale.binary else None,
                "estimates": [
                    _estimate(each)
                    for each in evaluation.estimates.filter(pl.col("policy") == row["policy"]).iter_rows(named=True)
                ],
            }
            for row in answers_of(evaluation.estimates)
        ],
        "ranking": evaluation.ranking.to_dicts(),
    }


def _effect(row: dict[str, Any]) -> dict[str, Any] | None:
    found = Effect.of(row)
    return None if found is None else asdict(found)


def _estimate(row: dict[str, Any]) -> dict[str, Any]:
    names = row["disagreeing"].split(", ") if row["disagreeing"] else []
    return {**{key: value for key, value in row.items() if key not in _OF_POLICY}, "disagreeing": names}
