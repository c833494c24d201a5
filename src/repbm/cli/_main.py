"""The program `repbm`."""

from __future__ import annotations

import gc
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from repbm._version import __version__
from repbm.cli._collect import collect
from repbm.cli._compilations import keep_compilations
from repbm.cli._demo import demo
from repbm.cli._doctor import doctor
from repbm.cli._evaluate import evaluate
from repbm.cli._init import init
from repbm.cli._machine import end_output, machine_fault
from repbm.cli._report import report
from repbm.cli._reproduce import reproduce
from repbm.cli._reproduction import reproduction
from repbm.cli._rerun import rerun
from repbm.cli._serve import serve
from repbm.cli._train_policy import train_policy
from repbm.cli._value import value

_OBJECTS = 50_000
"""So many new objects are waited for before garbage is looked for."""


class _Program(TyperGroup):
    """All commands: Ctrl-C stops each of them."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print("repbm: stopped; nothing is half-written", file=sys.stderr)
            raise typer.Exit(130) from None


app = typer.Typer(
    name="repbm",
    cls=_Program,
    help="What would happen if we followed this policy instead? Answered from logged episodes alone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(init)
app.command()(doctor)
app.command()(evaluate)
app.command()(serve)
app.command()(value)
app.command()(report)
app.command()(rerun)
app.command()(demo)
app.command()(collect)
app.command()(reproduce)
app.command()(reproduction)
app.command()(train_policy)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"repbm {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _check_words(words: list[str]) -> None:
    """Refuse words that are no text, as names of files in other encodings are."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            from repbm.core import InputError

            raise InputError(f"'{word}' is no UTF-8 text", fix="rename the file") from None


def _input_fault(fault: BaseException) -> tuple[str, int] | None:
    """The line and the exit code; for programs that asked for JSON it is printed as such."""
    # Looked up late: the rooms that raise InputError are only loaded by then.
    from repbm.core import InputError, as_json

    if not isinstance(fault, InputError):
        return None
    if "--json" in sys.argv:
        print(as_json({"version": __version__, "error": fault.to_dict()}))
    return str(fault), 2


def main() -> None:
    """Run. What is wrong with the input ends in one line on standard error and exit code 2; so does a full disk, and,
    with exit code 1, want of memory."""
    keep_compilations()
    # A command makes hundreds of thousands of objects that stay: looking through them all again and again for some that
    # may go takes a twentieth of its time.
    gc.set_threshold(_OBJECTS)
    try:
        _check_words(sys.argv)
        try:
            app()
        finally:
            sys.stdout.flush()
    except (SystemExit, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as fault:  # panics of polars are no Exception
        line, code = machine_fault(fault) or _input_fault(fault) or ("", 0)
        if not line:
            raise
        print(f"repbm: {line}", file=sys.stderr)
        if isinstance(fault, OSError):
            end_output()
        sys.exit(code)
