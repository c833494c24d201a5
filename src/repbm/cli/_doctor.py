"""repbm doctor: what is wrong with a log, or looks like it."""

from __future__ import annotations

from typing import Annotated

import typer

from repbm.cli._log_options import Columns, Ends, Gaps, Memory, Missing, Worth, policies_of
from repbm.cli._rules import Rules, thresholds_of
from repbm.cli._strict import Accept, Strict, check_accepted, end_strictly
from repbm.cli._study_options import asked_of


def doctor(
    log: Annotated[
        str, typer.Argument(help="As for evaluate: a CSV or Parquet file, a folder of them, a dataset, or a study.")
    ],
    policy: Annotated[
        list[str] | None, typer.Option(help="As for evaluate: what does the log support? Repeatable.")
    ] = None,
    column: Columns = None,
    ends: Ends = None,
    missing: Missing = None,
    gaps: Gaps = None,
    worth: Worth = None,
    memory: Memory = "2GB",
    rule: Rules = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load policies from pickles, which can run any code.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    strict: Strict = False,
    accept: Accept = None,
) -> None:
    """What is wrong with this log, or looks like it? And what does it support?"""
    from functools import reduce
    from operator import add

    from repbm.core import as_json
    from repbm.doctor import LogCounts, examine
    from repbm.logs import bytes_of, draw_log
    from repbm.report import examination_lines

    check_accepted(accept or (), strict)
    asked = asked_of(log, policy, column, ends, missing, gaps, worth)
    policies, reading = policies_of(asked.policies, trust_pickle), asked.reading
    keep = list(dict.fromkeys(column for one in policies.values() for column in one.needs_columns))
    rules = thresholds_of(rule or [])
    drawn = draw_log(
        asked.log,
        bytes_of(memory),
        sizes=rules.memory,
        columns=reading.columns,
        keep=keep,
        ends=reading.ends,
        missing=reading.missing,
        gaps=reading.gaps,
        worth=reading.worth,
        rules=rules.encoding,
    )
    data = drawn.data
    for note in data.encoding.notes if data.encoding else ():
        typer.echo(f"note: {note}", err=True)
    counts = None if drawn.scan is None else reduce(add, map(LogCounts.of, drawn.parts()))
    found = examine(data, policies, thresholds=rules, counts=counts)
    if json:
        typer.echo(as_json(found.to_dict()))
    else:
        for line in examination_lines(found):
            typer.echo(line)
    if strict:
        end_strictly(found, accept or ())
