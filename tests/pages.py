"""Pages of the documentation as what they are: files, Python and commands, in order, in one folder.

- A block of `python` runs; a block of `output` after it is what it printed.
- A block with a `:caption:` is a file of that name.
- In a block of `console`, what follows `$` is run, and the lines below it are what it says on a terminal. It must
  succeed, unless `$ echo $?` comes next and shows another exit code.
- A page that "goes on with the files of [another](page.md)" finds those in its folder that the other has or makes in
  Python before it calls our program.
- A block of `text` is only shown. Any other block is an error.

In what is shown, `...` stands for any number of lines, and numbers may differ a little between machines.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from repbm.cli import main

WIDTH = "88"
SHOWN = ("text", "{toctree}", "{eval-rst}", "{note}", "{warning}", "{tip}")
"""Blocks that nobody runs."""
SHELL = ("cat", "head", "ls")
"""Programs besides our own that a page may call."""

_FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", flags=re.DOTALL | re.MULTILINE)
_CAPTION = re.compile(r":caption: (\S+)\n")
_GOES_ON = re.compile(r"goes\s+on\s+with\s+the\s+files\s+of\s+\[[^\]]*\]\(([\w-]+\.md)\)")
_COLORS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LINES = re.compile(r"[\u2500-\u257f\s]+")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Block:
    """A fenced part of a page: its tag, its name if it is a file, what is in it."""

    tag: str
    name: str | None
    body: str
    where: str


def blocks(path: Path) -> Iterator[Block]:
    text = path.read_text("utf-8")
    for found in _FENCE.finditer(text):
        where = f"{path.name}:{text[: found.start()].count(chr(10)) + 1}"
        tag, body = found[2].strip(), found[3]
        caption = _CAPTION.match(body) if tag.startswith("{code-block}") else None
        if caption:
            yield Block("file", caption[1], body[caption.end() :].lstrip("\n"), where)
        else:
            yield Block(tag.split()[0] if tag else "", None, body, where)


@dataclass
class Reader:
    """Does what a page says, in the current folder."""

    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str = ""
    code: int = 0

    def read(self, page: Path, *, commands: bool = True) -> None:
        goes_on = _GOES_ON.search(page.read_text("utf-8"))
        if goes_on:
            Reader().read(page.parent / goes_on[1], commands=False)
        python = True
        for block in blocks(page):
            if block.tag == "file":
                Path(block.name or "").write_text(block.body, "utf-8")
            elif block.tag == "python":
                if python:
                    self._python(block)
            elif block.tag == "output":
                if python:
                    check(block.body.splitlines(), self.printed, block.where)
            elif block.tag == "console":
                if commands:
                    self._console(block)
                else:
                    # What comes later may look at what it wrote.
                    python &= "$ repbm" not in block.body
            else:
                assert block.tag in SHOWN, f"{block.where}: a block of '{block.tag}' is neither run nor listed"

    def _python(self, block: Block) -> None:
        screen = io.StringIO()
        with contextlib.redirect_stdout(screen):
            exec(compile(block.body, block.where, "exec"), self.names)
        self.printed = screen.getvalue()

    def _console(self, block: Block) -> None:
        for command, shown in _commands(block):
            if command == "echo $?":
                assert shown == [str(self.code)], f"{block.where}: exit code {self.code}"
                self.code = 0
                continue
            assert self.code == 0, f"{block.where}: exit code {self.code} before '{command}': {self.printed}"
            self.code, self.printed = run(shlex.split(command))
            if shown:
                check(shown, self.printed, f"{block.where}, {command}")
        if "echo $?" not in block.body:
            assert self.code == 0, f"{block.where}: exit code {self.code}: {self.printed}"


def _commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Every command, with the lines below it."""
    text = block.body.replace("\\\n", "")
    assert text.startswith("$ "), f"{block.where}: a command begins with $"
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield command.strip(), shown


class _Screen(io.TextIOWrapper):
    """A terminal, as far as programs ask."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8", newline="\n", write_through=True)

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        return _COLORS.sub("", self.bytes.getvalue().decode())


class _Errors(io.StringIO):
    """Standard error beside a screen: shown on it, but no terminal, so that no bar moves there."""

    def __init__(self, screen: _Screen) -> None:
        super().__init__()
        self.screen = screen

    def write(self, words: str) -> int:
        return self.screen.write(words)


def run(words: list[str]) -> tuple[int, str]:
    """The exit code of a command, and what it shows."""
    if words[0] != "repbm":
        assert words[0] in SHELL, f"'{words[0]}' is no program of the pages"
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    screen, code = _Screen(), 0
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.dict("os.environ", {"COLUMNS": WIDTH}),
        contextlib.redirect_stdout(screen),
        contextlib.redirect_stderr(_Errors(screen)),
    ):
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    return code, screen.shown


def check(shown: list[str], said: str, where: str) -> None:
    """Whether a page shows what was said."""
    lines = [line for line in said.splitlines() if _plain(line)]
    place, anywhere = 0, False
    for line in (line for line in shown if _plain(line)):
        if line.strip() == "...":
            anywhere = True
            continue
        while anywhere and place < len(lines) and not alike(line, lines[place]):
            place += 1
        same = place < len(lines) and alike(line, lines[place])
        assert same, f"{where}: shows\n{line}\nbut it says\n{said}"
        place, anywhere = place + 1, False
    assert anywhere or place == len(lines), f"{where}: it says more than is shown\n{said}"


def alike(one: str, other: str) -> bool:
    """Whether two lines have the same words, and nearly the same numbers."""
    one, other = _plain(one), _plain(other)
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= 0.02 + 0.02 * abs(float(b)) for a, b in pairs)


def _plain(line: str) -> str:
    """Without the lines of tables, which are as wide as what stands in them."""
    return _LINES.sub(" ", line).strip()
