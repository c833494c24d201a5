"""The page of commands, made from the program itself whenever the site is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from sphinx.application import Sphinx

from repbm.cli._main import app as program

MARK = "<!-- the commands stand here -->"
KINDS = {"path": "PATH", "int": "NUMBER", "float": "NUMBER"}


def commands() -> Iterator[str]:
    """Every command in Markdown: what it does, how it is called, what it takes."""
    root: Any = typer.main.get_command(program)
    for name, command in root.commands.items():
        context = command.make_context(f"repbm {name}", [], resilient_parsing=True)
        arguments = [
            each for each in command.params if each.param_type_name == "argument"
        ]
        options = [each for each in command.params if each.param_type_name == "option"]
        usage = " ".join(
            ["repbm", name, *(each.name.upper() for each in arguments), "[OPTIONS]"]
        )
        yield from (f"## repbm {name}", "", command.help or "", "")
        yield from ("```text", usage, "```", "")
        yield from ("| | what it is | default |", "|---|---|---|")
        for each in (*arguments, *options):
            shown = each.name.upper() if each in arguments else _option(each, context)
            said = _cell(each.help or "")
            yield f"| `{shown}` | {said} | {_default(each, context)} |"
        yield ""


def _option(each: Any, context: Any) -> str:
    """With what it takes in one word: the framework shows Python types there."""
    name, _, kind = each.get_help_record(context)[0].partition(" ")
    if not kind:
        return name
    words = (word for part, word in KINDS.items() if part in kind.lower())
    return f"{name} {next(words, 'TEXT')}"


def _default(each: Any, context: Any) -> str:
    if each.required:
        return "must be given"
    value = each.get_default(context)
    return "" if value is None or value is False or value == [] else f"`{value}`"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("*", "\\*")


def _fill(app: Sphinx, page: str, content: list[str]) -> None:
    if MARK in content[0]:
        content[0] = content[0].replace(MARK, "\n".join(commands()))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}
