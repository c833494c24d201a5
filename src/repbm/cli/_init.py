"""repbm init: a study of a log, written after looking at it, for a person to edit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repbm.cli._log_options import Columns, Ends, Gaps, Missing, Worth, columns_of, named_policies, worth_of

if TYPE_CHECKING:
    from repbm.logs import Proposal


def init(
    log: Annotated[str, typer.Argument(help="As for evaluate: a CSV, Parquet or Excel file, or a folder of them.")],
    out: Annotated[Path, typer.Option(help="The study that is written.")] = Path("repbm.toml"),
    policy: Annotated[list[str] | None, typer.Option(help="As for evaluate. Repeatable.")] = None,
    column: Columns = None,
    ends: Ends = None,
    missing: Missing = None,
    gaps: Gaps = None,
    worth: Worth = None,
    ask: Annotated[
        bool | None, typer.Option("--ask/--no-ask", help="Ask about what is guessed. Default: on a terminal.")
    ] = None,
) -> None:
    """Look at a log, guess what its columns mean, say why, and write a study that all commands take."""
    import sys

    from repbm.cli._questions import corrected
    from repbm.cli._study_file import Answers, study_text
    from repbm.cli._target import target
    from repbm.core import InputError
    from repbm.evaluation import STUDY
    from repbm.logs import bytes_of, draw_log, files_of, propose

    if log == "-":
        raise InputError("standard input cannot be read again", fix="give a file")
    if not log.startswith("minari:"):
        files_of(Path(log))  # a log that is not there is the first thing to say
    named = named_policies(policy or [])
    for given in named.values():
        path = Path(given.partition(":")[0])
        # What is no file, such as column:NAME, has no ending.
        if path.suffix and not path.exists():
            raise InputError("no such file", where=given, fix="check the path", code="file")
    if out.exists():
        raise InputError(
            "there is such a file", where=str(out), fix="edit it, or name another one with --out", code="target"
        )
    with target(out, (STUDY,), "study") as write:
        proposal = propose(log, columns_of(column or []), ends)
        answers = Answers.of(proposal, worth_of(worth or []), named, missing, gaps)
        _show(proposal)
        if sys.stdin.isatty() and sys.stdout.isatty() if ask is None else ask:
            answers = corrected(answers, proposal)
        reading = {
            "columns": answers.reading_columns,
            "ends": answers.ends,
            "worth": answers.worth,
            "missing": answers.missing,
            "gaps": answers.gaps,
        }
        data = draw_log(log, bytes_of("2GB"), **reading).data
        place = out.absolute().parent
        beside = {name: _beside(words, place) for name, words in answers.policies.items()}
        text = study_text(_beside(log, place), out.name, answers, beside)
        write(lambda path: path.write_text(text, "utf-8"))
    for note in data.encoding.notes if data.encoding else ():
        if "taken by their names" not in note:
            typer.echo(f"note: {note}")
    typer.echo(
        f"{len(data)} episodes, {len(data.rewards)} steps; {int(data.terminated.sum())} ended by themselves, "
        f"{int(data.truncated.sum())} were cut off"
    )
    typer.echo(f"written to {out}: look it through, then say")
    given = "" if answers.policies else " --policy YOURS"
    typer.echo(f"    repbm evaluate {out}{given} --out result")


def _show(proposal: Proposal) -> None:
    """What each column is taken for, and why."""
    told = [guess for guess in (*proposal.columns.values(), proposal.ends) if guess.theirs or not guess.sure]
    width = max(len(guess.ours) for guess in told)
    for guess in told:
        doubt = "" if guess.sure else "  <- please check"
        typer.echo(f"{guess.ours:<{width}}  {guess.theirs or '-'}  ({guess.why}){doubt}")
    why = "named so" if proposal.named_so else "what is left"
    typer.echo(f"{'obs':<{width}}  {', '.join(proposal.observations) or '-'}  ({why})")
    if proposal.left_out:
        typer.echo(f"{'':<{width}}  not {', '.join(proposal.left_out)}: not known before decisions")
    for word, number in proposal.worth.items():
        typer.echo(f"{'worth':<{width}}  {word} = {number:g}  <- please check")


def _beside(words: str, place: Path) -> str:
    """A file as it is seen from the study; other words as they are."""
    file, colon, rest = words.rpartition(":") if not Path(words).exists() else (words, "", "")
    if file and Path(file).exists() and not Path(file).is_absolute():
        return f"{os.path.relpath(Path(file).absolute(), place)}{colon}{rest}"
    return words
