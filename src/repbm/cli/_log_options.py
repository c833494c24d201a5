"""What every command that reads a log and asks policies about it takes, and what becomes of the words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from repbm.policies import Policy

Columns = Annotated[
    list[str] | None,
    typer.Option(help="Our column name = theirs, as in reward=outcome or obs=age,sodium. Repeatable."),
]
Ends = Annotated[
    str | None,
    typer.Option(help="How every episode ends if the log has no such column: terminated or truncated."),
]


def policies_of(given: list[str], trust_pickle: bool) -> dict[str, Policy]:
    """Each policy, by its own name."""
    from repbm.policies.adapters import as_policy

    return {name: as_policy(words, trust_pickle=trust_pickle) for name, words in named_policies(given).items()}


def named_policies(given: list[str]) -> dict[str, str]:
    """What users wrote for each, by its own name: what stands before an equals sign, else the whole word."""
    from repbm.core import InputError

    named: dict[str, str] = {}
    for words in given:
        name, equals, rest = words.partition("=")
        if not equals or any(mark in name for mark in ":/\\."):
            name, rest = words, words
        if name in named:
            raise InputError(f"policy '{name}' is given twice", fix="give each a name: --policy NAME=...")
        named[name] = rest
    return named


def columns_of(given: list[str]) -> dict[str, str]:
    from repbm.core import InputError

    renames: dict[str, str] = {}
    for words in given:
        ours, equals, theirs = words.partition("=")
        if not equals:
            raise InputError(f"--column {words}", fix="say --column ours=theirs")
        if ours in renames:
            raise InputError(f"--column {ours} is given twice")
        renames[ours] = theirs
    return renames


def ends_of(given: str | None) -> bool | None:
    from repbm.core import InputError

    if given not in (None, "terminated", "truncated"):
        raise InputError(f"--ends {given}", fix="say terminated or truncated")
    return None if given is None else given == "terminated"
