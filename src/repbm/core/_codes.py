"""Codes of errors: what a program can tell apart, whatever the sentence says."""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "command",
    "engine",
    "experiment",
    "file",
    "fit",
    "input",
    "log",
    "not-installed",
    "policy",
    "question",
    "result",
    "target",
    "world",
]

CODES: dict[Code, str] = {
    "file": "a file or folder that is to be read is not there, or cannot be read",
    "target": "what is to be written has no place: the folder is missing, not empty, or cannot be written",
    "not-installed": "a package is missing that this needs; the message says which extra holds it",
    "log": "the log, or a column, row or episode of it",
    "policy": "a policy, or what it answers",
    "question": "what is asked: options that do not go together, names of estimators, a study",
    "fit": "a model, critic or estimate is not defined on this log",
    "result": "a stored result, or a page made of one",
    "world": "a simulator, or a policy in it",
    "experiment": "an experiment, its spec or its stored runs",
    "engine": "where the work is done: processes, Ray",
    "command": "the command line",
    "input": "anything else that was handed in",
}
"""Every code, and what is wrong. None is ever renamed."""

_ROOMS: dict[str, Code] = {
    "cli": "command",
    "critics": "fit",
    "data": "log",
    "doctor": "log",
    "domains": "world",
    "engines": "engine",
    "estimators": "fit",
    "evaluation": "question",
    "experiments": "experiment",
    "inference": "fit",
    "logs": "log",
    "models": "fit",
    "policies": "policy",
    "report": "result",
    "web": "command",
}


_MODULES: dict[str, Code] = {
    "cli._target": "target",
    "core._extras": "not-installed",
    "core._files": "target",
    "evaluation._folder": "target",
    "evaluation._result": "result",
    "evaluation._store": "result",
}
"""Modules that are about something else than their room."""


def code_of_module(module: str) -> Code:
    """The code of an error that this module raises without one of its own: what it, or its room, is about."""
    package, _, rest = module.partition(".")
    if package != "repbm":
        return "input"
    return _MODULES.get(rest) or _ROOMS.get(rest.partition(".")[0], "input")
