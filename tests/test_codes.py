"""Codes of errors: every error has one of the list, and the list is what documents and schema say."""

from __future__ import annotations

import json
import pickle
import re
import sys
from pathlib import Path
from typing import get_args

import pytest

import repbm
from repbm.cli import main
from repbm.core import CODES, Code, InputError
from repbm.core._codes import _MODULES, _ROOMS, code_of_module
from repbm.policies.adapters import as_policy

ROOT = Path(__file__).parent.parent
SOURCES = Path(repbm.__file__).parent


def test_documents_and_schema_have_the_same_codes() -> None:
    assert set(CODES) == set(get_args(Code))
    page = (ROOT / "docs" / "pipelines.md").read_text("utf-8")
    assert [f"| `{code}` | {what} |" for code, what in CODES.items() if f"| `{code}` | {what} |" not in page] == []
    schema = json.loads((ROOT / "docs" / "schemas" / "error.schema.json").read_text("utf-8"))
    assert set(schema["properties"]["error"]["properties"]["code"]["enum"]) == set(CODES)


def test_every_module_that_refuses_something_is_about_something() -> None:
    """Codes go by module; those of `core` that are about nothing in particular say `input`."""
    names = {".".join(path.relative_to(SOURCES).with_suffix("").parts): path for path in SOURCES.rglob("*.py")}
    assert set(_MODULES) <= set(names)
    assert set(_ROOMS) | {"core"} == {path.name for path in SOURCES.iterdir() if (path / "__init__.py").exists()}
    general = {
        name
        for name, path in names.items()
        if re.search(r"raise InputError", path.read_text("utf-8")) and code_of_module(f"repbm.{name}") == "input"
    }
    assert {name.partition(".")[0] for name in general} <= {"core"}


def test_an_error_knows_the_module_that_raises_it(tmp_path: Path) -> None:
    with pytest.raises(InputError) as missing:
        repbm.read_log(tmp_path / "lost.csv")
    assert missing.value.code == "file"
    (tmp_path / "log.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError) as columns:
        repbm.read_log(tmp_path / "log.csv")
    assert columns.value.code == "log"
    with pytest.raises(InputError) as rules:
        as_policy("no policy")
    assert rules.value.code == "policy"
    assert InputError("one's own").code == "input"


def test_a_code_survives_processes_and_another_place() -> None:
    fault = InputError("it is gone", where="here", fix="look there", code="target")
    again = pickle.loads(pickle.dumps(fault))
    assert (
        again.to_dict()
        == fault.to_dict()
        == {
            "code": "target",
            "what": "it is gone",
            "where": "here",
            "fix": "look there",
        }
    )
    assert str(fault.at("elsewhere")) == "elsewhere: it is gone; look there"
    assert fault.at(None).code == "target"


def test_a_program_reads_the_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["repbm", "doctor", "lost.csv", "--json"])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)["error"] == {
        "code": "file",
        "what": "no such file or folder",
        "where": "lost.csv",
        "fix": "check the path",
    }
    assert printed.err == "repbm: lost.csv: no such file or folder; check the path\n"
