"""Docstrings are plain text with `code` in backticks, and no reStructuredText."""

from __future__ import annotations

import re
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

_MARKS = re.compile(r"([\\*|<>_`])")


def restructured(lines: list[str]) -> list[str]:
    """The same words for Sphinx: code stays code, indented lines stay as they are."""
    result: list[str] = []
    literal = False
    for line in lines:
        indented = line.startswith(" ")
        introduced = result[-1:] == [""] and result[-2:-1] and result[-2].endswith(":")
        if indented and introduced and not literal:
            result[-2] += ":"
            literal = True
        elif line and not indented:
            literal = False
        result.append(line if literal else _escaped(line))
    return result


def _escaped(line: str) -> str:
    words, code = line.split("`")[::2], line.split("`")[1::2]
    if len(words) == len(code):  # an odd backtick is a backtick
        return _MARKS.sub(r"\\\1", line)
    parts = [_MARKS.sub(r"\\\1", words[0])]
    for inside, after in zip(code, words[1:], strict=True):
        parts += [
            f"``{inside}``" if inside else "",
            "\\ " if after[:1].isalnum() else "",
            _MARKS.sub(r"\\\1", after),
        ]
    return "".join(parts)


def _rewrite(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    lines[:] = restructured(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", _rewrite)
    app.add_lexer("output", TextLexer)  # what a block of Python prints
    return {"parallel_read_safe": True}
