"""What every command that reads a log and asks policies about it takes, and what becomes of the words."""

from __future__ import annotations

from collections.abc import Mapping
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
    typer.Option(
        help="How episodes end if the log has no such column: terminated or truncated (all), reward (terminated if the "
        "last reward is not 0), horizon (truncated if it is the longest), or COLUMN=VALUE, as in died=yes."
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        help="Missing observations: impute (the median, and a column that says so) or refuse. Default: impute."
    ),
]
Worth = Annotated[
    list[str] | None,
    typer.Option(help="What a word in the column of rewards is worth, as in survived=1. Repeatable."),
]
Memory = Annotated[
    str,
    typer.Option(help="About how much memory to take: of Parquet files that need more a sample of episodes is read."),
]
OutcomeName = Annotated[str, typer.Option(help="What rewards add up to, in a word or two, as in survival.")]
Unit = Annotated[str, typer.Option(help="The unit of it, as in days; 0/1 outcomes are shown as percentages.")]
Better = Annotated[str | None, typer.Option(help="Which is better, more or less of it. Default: more.")]
Gaps = Annotated[str | None, typer.Option(help="Steps that are skipped: refuse or allow. Default: refuse.")]


def policies_of(given: Mapping[str, str], trust_pickle: bool) -> dict[str, Policy]:
    """Each policy, by its own name."""
    from repbm.policies.adapters import as_policy

    return {name: as_policy(words, trust_pickle=trust_pickle) for name, words in given.items()}


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


def worth_of(given: list[str]) -> dict[str, float]:
    from repbm.core import InputError

    worth: dict[str, float] = {}
    for words in given:
        word, equals, number = words.rpartition("=")
        try:
            worth[word] = float(number)
        except ValueError:
            equals = ""
        if not equals or not word:
            raise InputError(f"--worth {words}", fix="say --worth WORD=NUMBER, as in survived=1")
    return worth


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
