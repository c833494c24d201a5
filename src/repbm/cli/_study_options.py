"""What a command asks of a log: what a study says, and what options say beyond it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from repbm.cli._log_options import columns_of, named_policies, worth_of

if TYPE_CHECKING:
    from repbm.evaluation import Study


def asked_of(
    log: str,
    policy: list[str] | None,
    column: list[str] | None,
    ends: str | None,
    missing: str | None,
    gaps: str | None,
    worth: list[str] | None,
    discount: float | None = None,
    horizon: int | None = None,
) -> Study:
    """The study that a command is about: `log` names one, or a log itself. Options come before what the study says."""
    from repbm.evaluation import STUDY, Study

    study = Study.load(log) if log.endswith(STUDY) else Study(log)
    read = study.reading
    read = replace(
        read,
        columns=_columns(dict(read.columns), columns_of(column or [])),
        ends=ends or read.ends,
        missing=missing or read.missing,
        gaps=gaps or read.gaps,
        worth={**read.worth, **worth_of(worth or [])},
    )
    return replace(
        study,
        reading=read,
        discount=study.discount if discount is None else discount,
        horizon=study.horizon if horizon is None else horizon,
        policies=_policies(study, policy or []),
    )


def _columns(known: dict[str, str], said: dict[str, str]) -> dict[str, str]:
    """Observations that are named now are all that are wanted."""
    if any(ours.partition("_")[0] == "obs" for ours in said):
        known = {ours: theirs for ours, theirs in known.items() if ours.partition("_")[0] != "obs"}
    return known | said


def _policies(study: Study, given: list[str]) -> dict[str, str]:
    """Those that are given, some of them by their names in the study; else all of the study."""
    if not given:
        return dict(study.policies)
    return {name: study.policies.get(words, words) for name, words in named_policies(given).items()}
