"""What `--strict` asks of a log and of its policies, and what somebody has looked at and accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from repbm.doctor import Examination

Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit code 3 if the log has a problem or a warning, or a policy is not supported; see --accept.",
    ),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        help="A warning that --strict is to pass: 'leaking column:NAME' of one column, 'leaking column' of any. "
        "Repeatable."
    ),
]

_OF = ":"
"""Between the name of a finding and the column that it is about; names have none."""


def check_accepted(accepted: Sequence[str], strict: bool) -> None:
    """Every name is one of a finding, for any column or for one; an error before anything is read."""
    from repbm.core import InputError, nearest
    from repbm.doctor import FINDINGS

    for given in accepted:
        name = given.partition(_OF)[0]
        if name not in FINDINGS:
            guess = nearest(name, FINDINGS)
            fix = f"did you mean '{guess}'?" if guess else f"use one of {', '.join(FINDINGS)}"
            raise InputError(f"--accept {given}: there is no such finding", fix=fix)
    if accepted and not strict:
        raise InputError("--accept without --strict", fix="say --strict, too")


def end_strictly(found: Examination, accepted: Sequence[str]) -> None:
    """Say on standard error what is in the way, and end with exit code 3; nothing where all is well."""
    findings = [one for one in found.weighty if one.severity == "problem" or not {one.check, one.about} & {*accepted}]
    names = list(dict.fromkeys(f"{one.severity} '{one.about}'" for one in findings))
    names += [f"{name} is not supported" for name, verdict in found.verdicts.items() if not verdict.supported]
    if not names:
        return
    warned = any(one.severity == "warning" for one in findings)
    fix = "; --accept the warnings that are as they should be" if warned else ""
    typer.echo(f"strict: {', '.join(names)}{fix}", err=True)
    raise typer.Exit(3)
